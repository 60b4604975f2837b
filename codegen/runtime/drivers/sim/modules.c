// Modules, which are shared libraries that codegen/targets/sim.py makes of CUDA source; functions,
// and the limits of launches.
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

enum { DEFAULT_DYNAMIC = 49152 };

// --- images --------------------------------------------------------------------------------------

// How long an image is; 0 if it is none. Section headers stand at the end of ld's output.
static size_t image_size(const void *image) {
    const Elf64_Ehdr *header = image;
    if (!image || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_DYN) return 0;
    return header->e_shoff + (size_t)header->e_shentsize * header->e_shnum;
}

// dlopen knows libraries by path, and a descriptor's number is used again. So each path is written
// in another way, its slashes being the digits of a number: of the module, and of this driver.
static void *open_descriptor(int descriptor) {
    static uint64_t opened;
    uint64_t digits = opened++ << 36 | (uint64_t)&opened >> 12;
    char path[256] = "/proc/self/fd/";
    for (; digits; digits /= 2) strcat(path, digits % 2 ? ".//" : "./");
    sprintf(path + strlen(path), "%d", descriptor);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_image(const void *image, size_t bytes) {
    int descriptor = memfd_create("symc-sim-module", MFD_CLOEXEC);
    if (descriptor < 0) return NULL;
    const char *rest = image;
    while (bytes) {
        ssize_t written = write(descriptor, rest, bytes);
        if (written <= 0) break;
        rest += written, bytes -= (size_t)written;
    }
    void *library = bytes ? NULL : open_descriptor(descriptor);
    close(descriptor);
    return library;
}

static CUresult make_region(struct region *region, char *start, size_t bytes, const char *name) {
    *region = (struct region){start, bytes, NULL, NULL, name};
    region->states = reserve_memory(bytes);
    region->cells = reserve_memory((bytes / WORD + 2) * sizeof(struct cell));
    if (region->states && region->cells) return CUDA_SUCCESS;
    return complain(CUDA_ERROR_OUT_OF_MEMORY, "no memory for what is known of shared memory");
}

// Everything in the section of shared arrays may be used, but for the guards between them.
static unsigned char *fresh_states(const struct region *shared) {
    unsigned char *states = malloc(shared->bytes);
    memset(states, UNWRITTEN, shared->bytes);
    for (size_t i = 0; i + SYMC_SIM_GUARD_BYTES <= shared->bytes; i++) {
        if (memcmp(shared->start + i, SYMC_SIM_GUARD, SYMC_SIM_GUARD_BYTES) == 0) {
            memset(states + i, NOWHERE, SYMC_SIM_GUARD_BYTES);
        }
    }
    return states;
}

static CUresult load(CUmodule *handle, const void *image) {
    CHECKED(usable());
    size_t bytes = image_size(image);
    if (!bytes) {
        return complain(CUDA_ERROR_INVALID_IMAGE, "not an image of the simulator (a cubin?)");
    }
    void *library = open_image(image, bytes);
    if (!library) return complain(CUDA_ERROR_INVALID_IMAGE, "%s", dlerror());
    const symc_sim_module_record *record = dlsym(library, "symc_sim_module");
    if (!record || record->size != sizeof *record) {
        dlclose(library);
        return complain(CUDA_ERROR_INVALID_IMAGE, "an image of another version of the simulator");
    }
    struct module *module = calloc(1, sizeof *module);
    module->library = library, module->record = record;
    CHECKED(make_region(&module->shared, record->shared,
                        (size_t)(record->shared_end - record->shared), "shared memory"));
    CHECKED(make_region(&module->dynamic, record->dynamic, SYMC_SIM_DYNAMIC_BYTES,
                        "dynamic shared memory"));
    module->fresh = fresh_states(&module->shared);
    module->image = memcpy(malloc(bytes), image, bytes), module->image_bytes = bytes;
    module->loaded = true;
    counters.modules++;
    *handle = module;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    ONE_AT_A_TIME;
    return load(module, image);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options,
                            void **values) {
    ONE_AT_A_TIME;
    (void)count, (void)options, (void)values;
    return load(module, image);
}

CUresult cuModuleUnload(CUmodule module) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    if (!module || !module->loaded) {
        return complain(CUDA_ERROR_INVALID_HANDLE, "cuModuleUnload: not a loaded module");
    }
    CHECKED(finish_everything());
    // The module's own record stays: graphs and functions may still point to it.
    module->loaded = false;
    dlclose(module->library);
    munmap(module->shared.states, module->shared.bytes);
    munmap(module->shared.cells, (module->shared.bytes / WORD + 2) * sizeof(struct cell));
    munmap(module->dynamic.states, SYMC_SIM_DYNAMIC_BYTES);
    munmap(module->dynamic.cells, (SYMC_SIM_DYNAMIC_BYTES / WORD + 2) * sizeof(struct cell));
    free(module->fresh);
    free(module->image);
    counters.modules--;
    return CUDA_SUCCESS;
}

// --- functions -----------------------------------------------------------------------------------

CUresult cuModuleGetFunction(CUfunction *handle, CUmodule module, const char *name) {
    ONE_AT_A_TIME;
    char symbol[512];
    CHECKED(usable());
    if (!module || !module->loaded || !name) {
        return complain(CUDA_ERROR_INVALID_HANDLE, "cuModuleGetFunction: not a loaded module");
    }
    for (struct function *one = module->functions; one; one = one->next) {
        if (strcmp(one->kernel->name, name) == 0) {
            *handle = one;
            return CUDA_SUCCESS;
        }
    }
    snprintf(symbol, sizeof symbol, "symc_sim_kernel_%s", name);
    const symc_sim_kernel *kernel = dlsym(module->library, symbol);
    if (!kernel) return complain(CUDA_ERROR_NOT_FOUND, "the module has no kernel %s", name);
    struct function *function = calloc(1, sizeof *function);
    *function = (struct function){module->functions, module, kernel, DEFAULT_DYNAMIC};
    module->functions = function;
    *handle = function;
    return CUDA_SUCCESS;
}

static CUresult usable_function(CUfunction function) {
    CHECKED(usable());
    if (function && function->module->loaded) return CUDA_SUCCESS;
    return complain(CUDA_ERROR_INVALID_HANDLE, "a function that is not there, or whose module "
                                               "was unloaded");
}

static unsigned most_threads(const struct function *function) {
    return function->kernel->bound ? function->kernel->bound : 1024;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    ONE_AT_A_TIME;
    CHECKED(usable_function(function));
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)most_threads(function); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)function->module->shared.bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)function->dynamic_limit;
        break;
    default:
        return complain(CUDA_ERROR_INVALID_VALUE, "the simulator has no function attribute %d",
                        attribute);
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    ONE_AT_A_TIME;
    CHECKED(usable_function(function));
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > SYMC_SIM_DYNAMIC_BYTES) {
        return complain(CUDA_ERROR_INVALID_VALUE, "function attribute %d, value %d", attribute,
                        value);
    }
    function->dynamic_limit = (unsigned)value;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared) {
    ONE_AT_A_TIME;
    CHECKED(usable_function(function));
    if (threads <= 0) return complain(CUDA_ERROR_INVALID_VALUE, "blocks of %d threads", threads);
    size_t by_threads = 2048 / (size_t)threads, by_shared = 233472 / (shared + 1024);
    *blocks = (int)(by_threads < by_shared ? by_threads : by_shared);
    return CUDA_SUCCESS;
}

// --- launches ------------------------------------------------------------------------------------

static CUresult check_launch(const struct launch *launch, void **extra) {
    const char *name = launch->function->kernel->name;
    uint3 blocks = launch->blocks, threads = launch->threads;
    uint64_t thread_count = (uint64_t)threads.x * threads.y * threads.z;
    if (!blocks.x || !blocks.y || !blocks.z || blocks.x > 0x7fffffffu || blocks.y > 65535 ||
        blocks.z > 65535) {
        return complain(CUDA_ERROR_INVALID_VALUE, "kernel %s: a grid of (%u, %u, %u) blocks", name,
                        blocks.x, blocks.y, blocks.z);
    }
    if (!thread_count || threads.x > 1024 || threads.y > 1024 || threads.z > 64 ||
        thread_count > 1024) {
        return complain(CUDA_ERROR_INVALID_VALUE, "kernel %s: blocks of (%u, %u, %u) threads",
                        name, threads.x, threads.y, threads.z);
    }
    if (thread_count > most_threads(launch->function)) {
        return complain(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                        "kernel %s: blocks of %u threads, with __launch_bounds__(%u)", name,
                        (unsigned)thread_count, launch->function->kernel->bound);
    }
    if (launch->dynamic_bytes > launch->function->dynamic_limit) {
        return complain(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s: %u bytes of dynamic shared memory, where %u are allowed", name,
                        launch->dynamic_bytes, launch->function->dynamic_limit);
    }
    if (extra || (launch->function->kernel->count && !launch->arguments)) {
        return complain(CUDA_ERROR_INVALID_VALUE, "kernel %s: %s", name,
                        extra ? "`extra` is not simulated" : "no arguments");
    }
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned blocks_x, unsigned blocks_y,
                        unsigned blocks_z, unsigned threads_x, unsigned threads_y,
                        unsigned threads_z, unsigned shared, CUstream handle, void **parameters,
                        void **extra) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable_function(function));
    CHECKED(find_stream(handle, &stream));
    struct launch launch = {
        .function = function,
        .blocks = {blocks_x, blocks_y, blocks_z},
        .threads = {threads_x, threads_y, threads_z},
        .dynamic_bytes = shared,
        .arguments = parameters,
    };
    CHECKED(check_launch(&launch, extra));
    return enqueue((struct operation){LAUNCH, stream, .launch = launch});
}
