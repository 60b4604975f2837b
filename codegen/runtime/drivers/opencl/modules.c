// Programs and kernels. OpenCL is told each argument of a kernel by itself, with its size, and CUDA's
// launches know no sizes: a module's image says them.
//
// An image is text, then source, then the device's own code, which the device's compiler made of it:
//
//     symc opencl KERNELS LENGTH-OF-OPTIONS LENGTH-OF-SOURCE LENGTH-OF-CODE\n
//     NAME ARGUMENTS\n       for each kernel
//     options, source, code
//
// Arguments that begin with * are the fields of a record, of 8 bytes each, which is what the launch
// gives; a field of 4 bytes is a float, whose record has a double.
//
// An argument is p for a pointer, a digit for a value of so many bytes, and s or S for memory that
// the threads of a work-group share: local memory, or for S, where a launch gives an address, global
// memory, for which there is another kernel, NAME_in_global.
#include "driver.h"

typedef struct function {
    struct function *next;
    device *device;
    cl kernel, in_global;
    char *name, *arguments;
    pthread_mutex_t lock;  // of the kernels' arguments
} function;

typedef struct module {
    device *device;
    cl program;
    function *functions;
} module;

// --- programs ---------------------------------------------------------------------------------------

static int build(device *device, cl program, const char *options) {
    return device->cl.clBuildProgram(program, 1, &device->id, options, 0, 0);
}

// A program of the device's compiler, or 0; `log` gets what it said.
static cl from_source(device *device, const char *source, size_t length, const char *options,
                      char **log, int *status) {
    cl program = device->cl.clCreateProgramWithSource(device->context, 1, &source, &length, status);
    if (*status) return 0;
    *status = build(device, program, options);
    if (log) {
        size_t size = 0;
        const unsigned what = CL_PROGRAM_BUILD_LOG;
        device->cl.clGetProgramBuildInfo(program, device->id, what, 0, 0, &size);
        *log = calloc(1, size + 1);
        if (*log) device->cl.clGetProgramBuildInfo(program, device->id, what, size, *log, 0);
    }
    if (!*status) return program;
    device->cl.clReleaseProgram(program);
    return 0;
}

// Compiles a text for a device. The code is in `code`, of `length` bytes, if it is wanted, and the
// compiler's messages are in `log`; both are freed by `symc_opencl_free`.
EXPORTED int symc_opencl_compile(int ordinal, const char *source, const char *options, int wanted,
                                 void **code, size_t *length, char **log) {
    device *device = device_of(ordinal);
    void *context;
    int status = cuDevicePrimaryCtxRetain(&context, ordinal);
    *code = *log = 0;
    *length = 0;
    if (status) return status;
    cl program = from_source(device, source, strlen(source), options, log, &status);
    if (!program) return status_of(status);
    if (wanted)
        status = device->cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *length, length,
                                             0);
    if (!status && *length) *code = malloc(*length);
    if (*code)
        status = device->cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof *code, code, 0);
    device->cl.clReleaseProgram(program);
    return status_of(status);
}

EXPORTED void symc_opencl_free(void *memory) { free(memory); }

// From code of this device and driver, else from source.
static cl program_of(device *device, const char *source, size_t length, const char *options,
                     const unsigned char *code, size_t bytes, int *status) {
    if (bytes) {
        cl made = device->cl.clCreateProgramWithBinary(device->context, 1, &device->id, &bytes, &code,
                                                       0, status);
        if (!*status) {
            if (!build(device, made, "")) return made;
            device->cl.clReleaseProgram(made);
        }
    }
    return from_source(device, source, length, options, 0, status);
}

// The kernels that the lines after the first of an image name; `at` is moved behind them.
static function *read_functions(device *device, const char **at, unsigned long count) {
    function *first = 0;
    for (unsigned long n = 0; n < count; n++) {
        function *made = calloc(1, sizeof *made);
        const int name = (int)strcspn(*at, " "), all = (int)strcspn(*at, "\n");
        made->device = device;
        made->name = strndup(*at, (size_t)name);
        made->arguments = strndup(*at + name + 1, (size_t)(all - name - 1));
        made->next = first;
        pthread_mutex_init(&made->lock, 0);
        first = made;
        *at += all + 1;
    }
    return first;
}

int cuModuleLoadData(module **to, const void *image) {
    device *device = current();
    unsigned long kernels, options, source, code;
    const char *at = image;
    int status = 0;
    if (!device || sscanf(at, "symc opencl %lu %lu %lu %lu", &kernels, &options, &source, &code) != 4)
        return INVALID;
    at += strcspn(at, "\n") + 1;
    module *made = calloc(1, sizeof *made);
    made->device = device;
    made->functions = read_functions(device, &at, kernels);
    char *told = strndup(at, options);
    const char *text = at + options;
    made->program = program_of(device, text, source, told,
                               (const unsigned char *)text + source, code, &status);
    free(told);
    *to = made;
    return status_of(status);
}

int cuModuleUnload(module *module) {
    const device *device = module->device;
    for (function *each = module->functions, *next; each; each = next) {
        next = each->next;
        if (each->kernel) device->cl.clReleaseKernel(each->kernel);
        if (each->in_global) device->cl.clReleaseKernel(each->in_global);
        pthread_mutex_destroy(&each->lock);
        free(each->name);
        free(each->arguments);
        free(each);
    }
    const int status = device->cl.clReleaseProgram(module->program);
    free(module);
    return status_of(status);
}

// --- kernels ----------------------------------------------------------------------------------------

int cuModuleGetFunction(function **to, module *module, const char *name) {
    const device *device = module->device;
    int status = 0;
    char other[1024];
    function *found = module->functions;
    while (found && strcmp(found->name, name)) found = found->next;
    if (!found) return INVALID;
    if (!found->kernel) found->kernel = device->cl.clCreateKernel(module->program, name, &status);
    if (!status && found->arguments[0] == 'S' && !found->in_global) {
        snprintf(other, sizeof other, "%s_in_global", name);
        found->in_global = device->cl.clCreateKernel(module->program, other, &status);
    }
    *to = found;
    return status_of(status);
}

int cuFuncGetAttribute(int *value, int attribute, const function *function) {
    (void)attribute, (void)function;
    *value = 0;
    return DONE;
}

int cuFuncSetAttribute(const function *function, int attribute, int value) {
    (void)function, (void)attribute, (void)value;
    return DONE;
}

static int set_fields(const device *device, cl kernel, const char *arguments, char *record) {
    const functions *cl_ = &device->cl;
    int status = 0;
    for (unsigned n = 0; arguments[n] && !status; n++, record += 8) {
        const float rounded = arguments[n] == '4' ? (float)*(double *)record : 0.0f;
        if (arguments[n] == 'p')
            status = set_pointer(device, kernel, n, *(uint64_t *)record);
        else if (arguments[n] == '4')
            status = cl_->clSetKernelArg(kernel, n, 4, &rounded);
        else
            status = cl_->clSetKernelArg(kernel, n, 8, record);
    }
    return status;
}

static int set_arguments(const device *device, cl kernel, const char *arguments, bool in_global,
                         unsigned shared, void **values) {
    const functions *cl_ = &device->cl;
    int status = 0;
    if (arguments[0] == '*') return set_fields(device, kernel, arguments + 1, values[0]);
    for (unsigned n = 0; arguments[n] && !status; n++) {
        const char kind = arguments[n];
        const bool memory = kind == 's' || kind == 'S';
        if (memory && !in_global)
            status = cl_->clSetKernelArg(kernel, n, shared ? shared : 1, 0);
        else if (memory || kind == 'p')
            status = set_pointer(device, kernel, n, *(uint64_t *)values[n]);
        else
            status = cl_->clSetKernelArg(kernel, n, (size_t)(kind - '0'), values[n]);
    }
    return status;
}

int cuLaunchKernel(function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   const stream *stream, void **values, void **extra) {
    (void)extra;
    const size_t block[3] = {block_x, block_y, block_z};
    const size_t threads[3] = {(size_t)grid_x * block_x, (size_t)grid_y * block_y,
                               (size_t)grid_z * block_z};
    const device *device = function->device;
    const bool in_global = function->arguments[0] == 'S' && *(void **)values[0];
    cl kernel = in_global ? function->in_global : function->kernel;
    pthread_mutex_lock(&function->lock);
    int status = set_arguments(device, kernel, function->arguments, in_global, shared, values);
    if (!status)
        status = device->cl.clEnqueueNDRangeKernel(queue_of(stream), kernel, 3, 0, threads, block, 0,
                                                   0, 0);
    if (!status) status = device->cl.clFlush(queue_of(stream));  // the work begins
    pthread_mutex_unlock(&function->lock);
    return status_of(status);
}
