// The CUDA driver's functions over OpenCL: those that symc's host programs and `targets/cuda/driver.py`
// call, with their names and types, so that everything above them is the same for every device.
//
//     devices.c  libraries, platforms, devices and their contexts; names of errors
//     modules.c  programs: from source, or as the device's own code; kernels and launches
//     memory.c   shared virtual memory, copies
//     streams.c  in-order queues and events
//
// Memory is coarse-grained shared virtual memory: an address is a number, to which offsets can be
// added. A status is 0, CUDA's number for the few that symc acts on, or 100 + e for the error -e of
// OpenCL.
#ifndef SYMC_OPENCL_DRIVER_H
#define SYMC_OPENCL_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl.h"

enum { DONE = 0, INVALID = 1, OUT_OF_MEMORY = 2, NOT_READY = 600, NOT_SUPPORTED = 801, FAILED = 100 };

typedef struct device {
    functions cl;
    cl platform, id, context, queue;  // context and queue are 0 until the device is used
    int platform_number, number;
    pthread_mutex_t lock;
} device;

// A queue beside the device's first one, which is stream 0.
typedef struct stream {
    device *device;
    cl queue;
} stream;

// What Python calls; the driver's functions are found through `symc_opencl_entry`.
#define EXPORTED __attribute__((visibility("default")))

int status_of(int status);
device *device_of(int ordinal);
device *current(void);
cl queue_of(const stream *stream);
device *owner_of(const stream *stream);
int device_number(const device *device, unsigned what, uint64_t *value);

#endif
