// The CUDA driver's functions over OpenCL: those that symc's host programs and `targets/cuda/driver.py`
// call, with their names and types, so that everything above them is the same for every device.
//
//     devices.c  libraries, platforms, devices and their contexts; names of errors
//     modules.c  programs: from source, or as the device's own code; kernels and launches
//     memory.c   memory whose addresses are numbers, copies
//     streams.c  in-order queues and events
//
// An address is a number, to which offsets can be added: memory is coarse-grained shared virtual
// memory, or else buffers whose addresses `cl_ext_buffer_device_address` tells.
//
// A status is 0, CUDA's number for the few that symc acts on, or 100 + e for the error -e of OpenCL.
#ifndef SYMC_OPENCL_DRIVER_H
#define SYMC_OPENCL_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl.h"

enum { DONE = 0, INVALID = 1, OUT_OF_MEMORY = 2, NOT_READY = 600, NOT_SUPPORTED = 801, FAILED = 100 };

// A device's memory, and where its functions stand in the tables of vendors.
enum { WITHOUT_ADDRESSES = 0, SHARED = 1, BUFFERS = 2 };
enum { OF_OPENCL_1 = 123, OF_OPENCL_2 = 146, OF_OPENCL_3 = 149 };

typedef struct block block;
typedef struct device {
    functions cl;
    cl platform, id, context, queue;  // context and queue are 0 until the device is used
    int platform_number, number;
    int memory;
    block *blocks;  // BUFFERS: those that there are, and how a kernel is given an address
    int (*set_address)(cl kernel, unsigned number, uint64_t address);
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
void choose_memory(device *device);
int set_pointer(const device *device, cl kernel, unsigned number, uint64_t address);

#endif
