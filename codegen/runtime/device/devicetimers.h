// The timers of symc.profile's programs on a device: events around each step. As timers.h, but that
// a step is over when the device has done its work: the host waits for it.

// SYMBOL symc_timer
typedef struct symc_timer {
    int64_t calls, nanoseconds, bytes;
    void *begun;  // the event before the step that runs now
} symc_timer;

// SYMBOL symc_begin
// NEEDS symc_timer symc_call
static void symc_begin(const symc_call *call, const symc_device *device, symc_timer *timer) {
    if (device->cuEventCreate(&timer->begun, 0)) timer->begun = 0;
    if (timer->begun) device->cuEventRecord(timer->begun, call->stream);
}

// SYMBOL symc_done
// NEEDS symc_timer symc_call
// An event that fails takes no time: the step itself reports the error.
static void symc_done(const symc_call *call, const symc_device *device, symc_timer *timer,
                      int64_t bytes) {
    float milliseconds = 0;
    void *end = 0;
    if (timer->begun && !device->cuEventCreate(&end, 0)) {
        if (device->cuEventRecord(end, call->stream) || device->cuEventSynchronize(end) ||
            device->cuEventElapsedTime(&milliseconds, timer->begun, end))
            milliseconds = 0;
        device->cuEventDestroy(end);
    }
    if (timer->begun) device->cuEventDestroy(timer->begun);
    timer->nanoseconds += (int64_t)(milliseconds * 1e6);
    timer->calls += 1;
    timer->bytes += bytes;
}
