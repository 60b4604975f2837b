// The part of OpenCL that the driver uses, declared by hand: there are no headers to install. A
// handle (platform, device, context, queue, program, kernel, event) is a pointer.
#ifndef SYMC_CL_H
#define SYMC_CL_H

#include <stdint.h>
#include <stddef.h>

typedef void *cl;

// Each function with its place in the table of `cl_khr_icd`, to which the first word of a platform
// points: libraries of vendors export no others but through that table.
#define CL_FUNCTIONS(F)                                                                           \
    F(1, clGetPlatformInfo, (cl platform, unsigned what, size_t room, void *to, size_t *size))    \
    F(2, clGetDeviceIDs, (cl platform, uint64_t kind, unsigned room, cl *to, unsigned *count))    \
    F(3, clGetDeviceInfo, (cl device, unsigned what, size_t room, void *to, size_t *size))        \
    F(11, clReleaseCommandQueue, (cl queue))                                                      \
    F(18, clReleaseMemObject, (cl buffer))                                                        \
    F(20, clGetMemObjectInfo, (cl buffer, unsigned what, size_t room, void *to, size_t *size))    \
    F(29, clReleaseProgram, (cl program))                                                         \
    F(30, clBuildProgram, (cl program, unsigned count, const cl *devices, const char *options,    \
                           void *notify, void *data))                                             \
    F(32, clGetProgramInfo, (cl program, unsigned what, size_t room, void *to, size_t *size))     \
    F(33, clGetProgramBuildInfo, (cl program, cl device, unsigned what, size_t room, void *to,    \
                                  size_t *size))                                                  \
    F(37, clReleaseKernel, (cl kernel))                                                           \
    F(38, clSetKernelArg, (cl kernel, unsigned number, size_t size, const void *value))           \
    F(41, clWaitForEvents, (unsigned count, const cl *events))                                    \
    F(42, clGetEventInfo, (cl event, unsigned what, size_t room, void *to, size_t *size))         \
    F(44, clReleaseEvent, (cl event))                                                             \
    F(45, clGetEventProfilingInfo, (cl event, unsigned what, size_t room, void *to,               \
                                    size_t *size))                                                \
    F(46, clFlush, (cl queue))                                                                    \
    F(47, clFinish, (cl queue))                                                                   \
    F(48, clEnqueueReadBuffer, (cl queue, cl from, unsigned waits, size_t offset, size_t bytes,   \
                                void *to, unsigned count, const cl *after, cl *event))            \
    F(49, clEnqueueWriteBuffer, (cl queue, cl to, unsigned waits, size_t offset, size_t bytes,    \
                                 const void *from, unsigned count, const cl *after, cl *event))   \
    F(50, clEnqueueCopyBuffer, (cl queue, cl from, cl to, size_t from_offset, size_t to_offset,   \
                                size_t bytes, unsigned count, const cl *after, cl *event))        \
    F(59, clEnqueueNDRangeKernel, (cl queue, cl kernel, unsigned axes, const size_t *first,       \
                                   const size_t *threads, const size_t *block, unsigned count,    \
                                   const cl *after, cl *event))                                   \
    F(102, clEnqueueFillBuffer, (cl queue, cl to, const void *pattern, size_t size,               \
                                 size_t offset, size_t bytes, unsigned count, const cl *after,    \
                                 cl *event))                                                      \
    F(105, clEnqueueMarkerWithWaitList, (cl queue, unsigned count, const cl *after, cl *event))   \
    F(106, clEnqueueBarrierWithWaitList, (cl queue, unsigned count, const cl *after, cl *event))  \
    F(129, clEnqueueSVMMemcpy, (cl queue, unsigned waits, void *to, const void *from,             \
                                size_t bytes, unsigned count, const cl *after, cl *event))        \
    F(130, clEnqueueSVMMemFill, (cl queue, void *to, const void *pattern, size_t size,            \
                                 size_t bytes, unsigned count, const cl *after, cl *event))       \
    F(134, clSetKernelArgSVMPointer, (cl kernel, unsigned number, const void *value))

// Those that return something else than a status.
#define CL_MAKERS(F)                                                                              \
    F(4, cl, clCreateContext, (const intptr_t *properties, unsigned count, const cl *devices,     \
                               void *notify, void *data, int *status))                            \
    F(9, cl, clCreateCommandQueue, (cl context, cl device, uint64_t properties, int *status))     \
    F(26, cl, clCreateProgramWithSource, (cl context, unsigned count, const char **texts,         \
                                          const size_t *lengths, int *status))                    \
    F(27, cl, clCreateProgramWithBinary, (cl context, unsigned count, const cl *devices,          \
                                          const size_t *lengths, const unsigned char **binaries,  \
                                          int *each, int *status))                                \
    F(34, cl, clCreateKernel, (cl program, const char *name, int *status))                        \
    F(107, void *, clGetExtensionFunctionAddressForPlatform, (cl platform, const char *name))     \
    F(126, void *, clSVMAlloc, (cl context, uint64_t flags, size_t bytes, unsigned alignment))    \
    F(127, void, clSVMFree, (cl context, void *address))                                          \
    F(146, cl, clCreateBufferWithProperties, (cl context, const uint64_t *properties,             \
                                              uint64_t flags, size_t bytes, void *memory,         \
                                              int *status))

#define CL_FIELD(place, name, parameters) int (*name) parameters;
#define CL_MAKER_FIELD(place, type, name, parameters) type (*name) parameters;
typedef struct functions {
    CL_FUNCTIONS(CL_FIELD)
    CL_MAKERS(CL_MAKER_FIELD)
} functions;

// Statuses.
enum {
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_INVALID_VALUE = -30,
};

// What is asked for.
enum {
    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_SINGLE_FP_CONFIG = 0x101b,
    CL_DEVICE_NAME = 0x102b,
    CL_DRIVER_VERSION = 0x102d,
    CL_DEVICE_VERSION = 0x102f,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_DEVICE_SVM_CAPABILITIES = 0x1053,
    CL_DEVICE_EXTENSIONS_WITH_VERSION = 0x1060,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11d3,
    CL_PROFILING_COMMAND_END = 0x1283,
    CL_CONTEXT_PLATFORM = 0x1084,
    CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT = 0x5000,
    CL_MEM_DEVICE_ADDRESS_EXT = 0x5001,
};

#define CL_DEVICE_TYPE_ALL 0xffffffffu
#define CL_QUEUE_PROFILING_ENABLE 2
#define CL_MEM_READ_WRITE 1
#define CL_DEVICE_SVM_COARSE_GRAIN_BUFFER 1

// An extension of a device, as CL_DEVICE_EXTENSIONS_WITH_VERSION lists them: 10 bits of the version
// are its first number, 10 the second, 12 the third.
typedef struct extension {
    uint32_t version;
    char name[64];
} extension;
#define CL_MAKE_VERSION(first, second, third) ((first) << 22 | (second) << 12 | (third))

#endif
