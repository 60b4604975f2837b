// How the host functions of a CUDA program launch kernels and read their results. Grids depend on
// the lengths of arrays alone, so that every device gives the same bits.

// SYMBOL SYMC_TOO_LONG
// The status of a program with 32-bit indexes whose arrays need more.
#define SYMC_TOO_LONG (-3)
#define SYMC_LONGEST ((int64_t)1 << 30)

// SYMBOL symc_status
// NEEDS symc_call
// The status for a result of the driver; in synchronous mode it first waits for the launch.
static int64_t symc_status(const symc_call *call, int error) {
    if (!error && call->device->synchronous) error = call->device->cuStreamSynchronize(call->stream);
    return error ? -1000 - (int64_t)error : 0;
}

// SYMBOL symc_launch_threads
// NEEDS symc_status
// A kernel with an iteration for each thread.
static int64_t symc_launch_threads(const symc_call *call, int64_t kernel, int64_t threads,
                                   void **params) {
    int64_t blocks = (threads + 255) / 256;
    if (threads <= 0) return 0;
    if (blocks > 0x7fffffff) blocks = 0x7fffffff;
    return symc_status(call, call->device->cuLaunchKernel(call->functions[kernel], (unsigned)blocks,
                                                          1, 1, 256, 1, 1, 0, call->stream, params,
                                                          0));
}

// SYMBOL symc_teams
// How teams are launched: threads of a team, teams of a block, blocks, and their memory in bytes:
// in shared memory, or in scratch memory for all teams that run at a time.
typedef struct symc_teams {
    int64_t size, together, blocks, shared, scratch;
} symc_teams;

// SYMBOL symc_plan_teams
// NEEDS symc_teams symc_call symc_times
// `length` is how many iterations a team shares out. A thread gets at least eight of them, unless
// there are so few teams that the device would be idle: 65536 threads that ask for four packs at a
// time have 4 MiB on their way, more than any device has. A team of one warp shares its block, unless
// the device knows no barriers of a warp.
static symc_teams symc_plan_teams(const symc_call *call, int64_t teams, int64_t length,
                                  int64_t bytes) {
    symc_teams plan = {32, 1, 0, 0, 0};
    if (bytes < 0) bytes = 0;
    const int64_t room = call->device->shared_bytes < 98304 ? call->device->shared_bytes : 98304;
    const int64_t alone = call->device->alone, largest = alone && alone < 512 ? alone : 512;
    while (plan.size * 2 <= largest && (plan.size * 8 < length ||
                               (plan.size < length && teams * plan.size < 65536)))
        plan.size *= 2;
    if (plan.size == 32 && !alone)
        while (plan.together < 8 && plan.together < teams && bytes * plan.together * 2 <= room / 2)
            plan.together *= 2;
    plan.blocks = (teams + plan.together - 1) / plan.together;
    if (plan.blocks > 0x7fffffff) plan.blocks = 0x7fffffff;
    if (bytes * plan.together <= room) {
        plan.shared = bytes * plan.together;
    } else {
        if (plan.blocks > 256) plan.blocks = 256;
        plan.scratch = symc_times(bytes, plan.blocks * plan.together);
    }
    return plan;
}

// SYMBOL symc_launch_teams
// NEEDS symc_plan_teams symc_status
// A kernel with an iteration for each team. If teams need memory (`bytes` is not negative), the first
// two parameters are where it is, if not in shared memory, and the bytes of each team.
static int64_t symc_launch_teams(const symc_call *call, int64_t kernel, int64_t teams,
                                 int64_t length, int64_t bytes, char *scratch, void **params) {
    const symc_teams plan = symc_plan_teams(call, teams, length, bytes);
    if (teams <= 0) return 0;
    if (plan.shared) scratch = 0;
    if (bytes >= 0) {
        params[0] = &scratch;
        params[1] = &bytes;
    }
    return symc_status(
        call, call->device->cuLaunchKernel(call->functions[kernel], (unsigned)plan.blocks, 1, 1,
                                           (unsigned)plan.size, (unsigned)plan.together, 1,
                                           (unsigned)plan.shared, call->stream, params, 0));
}

// SYMBOL symc_read
// NEEDS symc_call
// Waits for the work queued on the device, then copies from it.
static int64_t symc_read(const symc_call *call, const void *from, void *to, int64_t bytes) {
    int error = call->device->cuMemcpyDtoHAsync(to, (uint64_t)from, (size_t)bytes, call->stream);
    if (!error) error = call->device->cuStreamSynchronize(call->stream);
    return error ? -1000 - (int64_t)error : 0;
}

// SYMBOL symc_allocate
// NEEDS symc_call
static void *symc_allocate(const symc_call *call, int64_t bytes) {
    uint64_t address = 0;
    return call->device->cuMemAllocAsync(&address, (size_t)bytes, call->stream) ? 0
                                                                                : (void *)address;
}

// SYMBOL symc_release
// NEEDS symc_call
static void symc_release(const symc_call *call, void *memory) {
    if (memory) call->device->cuMemFreeAsync((uint64_t)memory, call->stream);
}
