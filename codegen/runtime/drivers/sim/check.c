// Each access of a kernel to memory, before it happens: may the thread touch these bytes, has
// something written the bytes it reads, and does a barrier stand between it and other threads?
#include "driver.h"

static struct module *module;

void start_checking(const struct launch *launch) {
    module = launch->function->module;
    module->dynamic.bytes = launch->dynamic_bytes;
    start_launch_races();
}

// Shared memory starts with NaNs that nothing wrote.
void start_block_checking(void) {
    struct region *shared = &module->shared, *dynamic = &module->dynamic;
    memset(shared->start, 0xff, shared->bytes);
    memcpy(shared->states, module->fresh, shared->bytes);
    memset(dynamic->start, 0xff, dynamic->bytes);
    memset(dynamic->states, UNWRITTEN, dynamic->bytes);
    start_block_races();
}

// --- reports -------------------------------------------------------------------------------------

static const char *const verbs[] = {"reads", "writes", "updates"};
static const symc_sim_place by_address = {NULL, 0};

struct access {
    symc_sim_access kind;
    const void *address;
    unsigned long bytes;
    const void *from;
};

#define END_LAUNCH(result, access, format, ...)                                                 \
    end_launch(result, by_address, (access)->from, "%s %lu bytes at %p: " format,               \
               verbs[(access)->kind], (access)->bytes, (access)->address, __VA_ARGS__)

static _Noreturn void report_outside(const struct access *access) {
    if ((uint64_t)access->address < 4096) {
        END_LAUNCH(CUDA_ERROR_ILLEGAL_ADDRESS, access, "%s", "a null pointer");
    }
    END_LAUNCH(CUDA_ERROR_ILLEGAL_ADDRESS, access, "%s",
               "neither device memory nor shared memory (a pointer of the host, or into another "
               "thread's stack?)");
}

static _Noreturn void report_device_address(const struct access *access) {
    uint64_t address = (uint64_t)access->address;
    const struct allocation *freed = freed_allocation(address);
    if (freed) {
        END_LAUNCH(CUDA_ERROR_ILLEGAL_ADDRESS, access,
                   "in an allocation of %lu bytes that was freed", (unsigned long)freed->bytes);
    }
    const struct allocation *before = allocation_before(address + access->bytes);
    if (!before) END_LAUNCH(CUDA_ERROR_ILLEGAL_ADDRESS, access, "%s", "in no allocation");
    END_LAUNCH(CUDA_ERROR_ILLEGAL_ADDRESS, access,
               "in no allocation, %ld bytes after the start of one of %lu bytes",
               (long)(address - before->start), (unsigned long)before->bytes);
}

static _Noreturn void report_state(const struct region *region, const struct access *access) {
    size_t offset = (size_t)((const char *)access->address - region->start);
    for (size_t i = offset; i < offset + access->bytes; i++) {
        if (i < region->bytes && region->states[i] == UNWRITTEN && access->kind != SYMC_SIM_WRITE) {
            END_LAUNCH(CUDA_ERROR_ILLEGAL_ADDRESS, access, "%s that nothing has written",
                       region->name);
        }
        if (i >= region->bytes || region->states[i] == NOWHERE || region->states[i] == FREED) {
            break;
        }
    }
    if (region == &device_memory) report_device_address(access);
    if (region == &module->dynamic) {
        END_LAUNCH(CUDA_ERROR_ILLEGAL_ADDRESS, access,
                   "%ld bytes after the start of %lu bytes of dynamic shared memory",
                   (long)offset, (unsigned long)region->bytes);
    }
    END_LAUNCH(CUDA_ERROR_ILLEGAL_ADDRESS, access, "%s", "past the end of a shared array");
}

static _Noreturn void report_race(const struct region *region, const struct access *access,
                                  struct race race) {
    static const char *const did[] = {"read", "wrote"};
    const char *how = did[race.other_writes];
    if (race.other_block) {
        END_LAUNCH(CUDA_ERROR_LAUNCH_FAILED, access, "%s that another block %s in this launch",
                   region->name, how);
    }
    if (race.other_thread == NO_THREAD) {
        END_LAUNCH(CUDA_ERROR_LAUNCH_FAILED, access,
                   "%s that several threads %s, with no barrier between", region->name, how);
    }
    END_LAUNCH(CUDA_ERROR_LAUNCH_FAILED, access,
               "%s that thread number %u of the block %s, with no barrier between", region->name,
               race.other_thread, how);
}

// --- the check -----------------------------------------------------------------------------------

static struct region *region_of(const char *address) {
    if ((size_t)(address - device_memory.start) < device_memory.bytes) return &device_memory;
    if ((size_t)(address - module->shared.start) < module->shared.bytes) return &module->shared;
    if ((size_t)(address - module->dynamic.start) < SYMC_SIM_DYNAMIC_BYTES) {
        return &module->dynamic;
    }
    return NULL;
}

// Whether the bytes may be accessed so, and from now on are written if this writes.
static bool states_allow(unsigned char *states, unsigned long bytes, symc_sim_access kind) {
    for (unsigned long i = 0; i < bytes; i++) {
        if (states[i] == WRITTEN) continue;
        if (states[i] != UNWRITTEN || kind != SYMC_SIM_WRITE) return false;
    }
    if (kind == SYMC_SIM_WRITE) memset(states, WRITTEN, bytes);
    return true;
}

void check_access(symc_sim_access kind, const void *address, unsigned long bytes,
                  const void *from) {
    const char *start = address;
    if ((size_t)(start - fiber_stack()) < STACK_BYTES) return;
    struct access access = {kind, address, bytes, from};
    struct region *region = region_of(start);
    if (!region) {
        if (start >= module->record->start && start + bytes <= module->record->end) return;
        report_outside(&access);
    }
    size_t offset = (size_t)(start - region->start);
    if (offset + bytes > region->bytes || !states_allow(region->states + offset, bytes, kind)) {
        report_state(region, &access);
    }
    if (kind == SYMC_SIM_ATOMIC) return;
    struct race race = race_of(region, offset, bytes, kind == SYMC_SIM_WRITE);
    if (race.found) report_race(region, &access, race);
}
