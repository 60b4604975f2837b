// Device memory: a range of addresses that the host may only touch inside of calls. (Closing and
// opening takes time for each page: large allocations have a range of their own that stays open.)
//
// Allocations lie on pages of their own, in new places as long as there are any, so that the page
// that follows one is nobody's, and freed memory stays so for long. Fresh memory is full of NaNs.
#include <stdlib.h>
#include <sys/mman.h>

#include "driver.h"

#ifndef SYMC_SIM_CAPACITY
#define SYMC_SIM_CAPACITY (4ull << 30)
#endif
#ifndef SYMC_SIM_PAGE
#ifdef __x86_64__
#define SYMC_SIM_PAGE 4096
#else
#define SYMC_SIM_PAGE 65536  // the largest that Linux has elsewhere; any multiple is as good
#endif
#endif
enum { PAGE = SYMC_SIM_PAGE, REMEMBERED = 64, LARGE = 1 << 20 };
static const uint64_t CAPACITY = SYMC_SIM_CAPACITY;  // of all memory allocated at a time

struct region device_memory = {.name = "device memory"};
static struct range {
    uint64_t start, end, next;  // next: where the next allocation goes, if there is room
} closed, open;
static uint64_t highest;  // the end of all ever allocated in the closed range

static struct allocation *live;  // by address
static size_t live_count, live_room;
static struct allocation freed[REMEMBERED];
static unsigned freed_count;

void *reserve_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void divide_addresses(void) {
    uint64_t start = (uint64_t)device_memory.start, middle = start + device_memory.bytes / 4;
    closed = (struct range){start, middle, start + PAGE};
    open = (struct range){middle, start + device_memory.bytes, middle + PAGE};
    mprotect((void *)open.start, open.end - open.start, PROT_READ | PROT_WRITE);
}

bool map_device_memory(void) {
    for (size_t bytes = 16 * CAPACITY; bytes >= CAPACITY; bytes /= 2) {
        void *start = mmap((void *)0x500000000000, bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start == MAP_FAILED) continue;
        device_memory.start = start;
        device_memory.bytes = bytes;
        device_memory.states = reserve_memory(bytes);
        device_memory.cells = reserve_memory(bytes / WORD * sizeof(struct cell));
        if (device_memory.states && device_memory.cells) {
            divide_addresses();
            return true;
        }
        munmap(start, bytes);
        if (device_memory.states) munmap(device_memory.states, bytes);
    }
    return false;
}

static void protect(int rights) {
    if (highest > closed.start) mprotect((void *)closed.start, highest - closed.start, rights);
}

void open_device_memory(void) { protect(PROT_READ | PROT_WRITE); }

void close_device_memory(void) { protect(PROT_NONE); }

// --- finding -------------------------------------------------------------------------------------

// How many live allocations start at or before an address.
static size_t rank(uint64_t address) {
    size_t low = 0, high = live_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (live[middle].start <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

const struct allocation *find_allocation(CUdeviceptr address) {
    size_t before = rank(address);
    if (!before || address >= live[before - 1].start + live[before - 1].bytes) return NULL;
    return &live[before - 1];
}

const struct allocation *allocation_before(CUdeviceptr address) {
    size_t before = rank(address);
    return before ? &live[before - 1] : NULL;
}

const struct allocation *freed_allocation(CUdeviceptr address) {
    unsigned kept = freed_count < REMEMBERED ? freed_count : REMEMBERED;
    for (unsigned i = 0; i < kept; i++) {
        const struct allocation *one = &freed[(freed_count - 1 - i) % REMEMBERED];
        if (address >= one->start && address < one->start + one->bytes) return one;
    }
    return NULL;
}

CUresult in_one_allocation(CUdeviceptr address, size_t bytes, const char *what) {
    const struct allocation *found = find_allocation(address);
    if (!found && freed_allocation(address)) {
        return complain(CUDA_ERROR_INVALID_VALUE, "%s: 0x%llx was freed", what,
                        (unsigned long long)address);
    }
    if (!found) {
        return complain(CUDA_ERROR_INVALID_VALUE,
                        "%s: 0x%llx is not device memory (a pointer of the host?)", what,
                        (unsigned long long)address);
    }
    if (bytes > found->start + found->bytes - address) {
        return complain(CUDA_ERROR_INVALID_VALUE,
                        "%s: %zu bytes from byte %llu of an allocation of %llu bytes", what, bytes,
                        (unsigned long long)(address - found->start),
                        (unsigned long long)found->bytes);
    }
    return CUDA_SUCCESS;
}

// --- allocating ----------------------------------------------------------------------------------

// The first free place in a range for some pages and an empty one after them.
static bool find_place(struct range *range, uint64_t bytes, uint64_t *place) {
    uint64_t needed = (bytes + PAGE - 1) / PAGE * PAGE + PAGE;
    for (int round = 0; round < 2; round++) {
        uint64_t at = range->next;
        size_t i = rank(at);
        if (i && live[i - 1].start + live[i - 1].bytes + PAGE > at) i--;
        for (; i < live_count && live[i].start < at + needed; i++) {
            at = (live[i].start + live[i].bytes + PAGE - 1) / PAGE * PAGE + PAGE;
        }
        if (at + needed <= range->end) {
            range->next = at + needed;
            *place = at;
            return true;
        }
        range->next = range->start + PAGE;
    }
    return false;
}

static void insert(struct allocation made) {
    if (live_count == live_room) {
        live_room = live_room ? 2 * live_room : 64;
        live = realloc(live, live_room * sizeof *live);
    }
    size_t at = rank(made.start);
    memmove(&live[at + 1], &live[at], (live_count - at) * sizeof *live);
    live[at] = made;
    live_count++;
    counters.allocations++;
    counters.bytes += (int64_t)made.bytes;
}

static CUresult allocate(CUdeviceptr *address, size_t bytes) {
    struct range *range = bytes < LARGE ? &closed : &open;
    uint64_t start;
    if (!address || !bytes) {
        return complain(CUDA_ERROR_INVALID_VALUE, "an allocation of %zu bytes", bytes);
    }
    if (bytes > CAPACITY - (uint64_t)counters.bytes || !find_place(range, bytes, &start)) {
        return complain(CUDA_ERROR_OUT_OF_MEMORY,
                        "an allocation of %zu bytes, with %lld of %llu in use", bytes,
                        (long long)counters.bytes, (unsigned long long)CAPACITY);
    }
    size_t offset = (size_t)(start - (uint64_t)device_memory.start);
    if (range == &closed && start + bytes > highest) {
        highest = (start + bytes + PAGE - 1) / PAGE * PAGE;
    }
    open_device_memory();
    memset(device_memory.start + offset, 0xff, bytes);
    close_device_memory();
    memset(device_memory.states + offset, UNWRITTEN, bytes);
    memset(device_memory.states + offset + bytes, NOWHERE, PAGE - bytes % PAGE);
    insert((struct allocation){start, bytes});
    *address = start;
    return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr address) {
    const struct allocation *found = find_allocation(address);
    if (!found || found->start != address) {
        return complain(CUDA_ERROR_INVALID_VALUE, "freeing 0x%llx, which %s",
                        (unsigned long long)address,
                        found                       ? "is not the start of its allocation"
                        : freed_allocation(address) ? "was freed before"
                                                    : "is not device memory");
    }
    struct allocation gone = *found;
    size_t at = (size_t)(found - live), offset = gone.start - (uint64_t)device_memory.start;
    memmove(&live[at], &live[at + 1], (live_count - at - 1) * sizeof *live);
    live_count--;
    counters.allocations--;
    counters.bytes -= (int64_t)gone.bytes;
    freed[freed_count++ % REMEMBERED] = gone;
    memset(device_memory.states + offset, FREED, gone.bytes);
    size_t pages = (gone.bytes + PAGE - 1) / PAGE * PAGE;
    madvise(device_memory.start + offset, pages, MADV_DONTNEED);
    madvise(&device_memory.cells[offset / WORD], pages / WORD * sizeof(struct cell),
            MADV_DONTNEED);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    CHECKED(allowed_in_capture("cuMemAlloc"));
    return allocate(address, bytes);
}

CUresult cuMemFree(CUdeviceptr address) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    CHECKED(allowed_in_capture("cuMemFree"));
    CHECKED(finish_everything());
    return address ? release(address) : CUDA_SUCCESS;
}

static CUresult allocate_in_order(CUdeviceptr *address, size_t bytes, CUstream handle) {
    struct stream *stream;
    CHECKED(usable());
    CHECKED(find_stream(handle, &stream));
    if (stream->capture) {
        return complain(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        "allocations during capture are not simulated: allocate before");
    }
    return allocate(address, bytes);
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
    ONE_AT_A_TIME;
    return allocate_in_order(address, bytes, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable());
    CHECKED(find_stream(handle, &stream));
    if (!address) return CUDA_SUCCESS;
    if (stream->capture) {
        return complain(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        "freeing during capture is not simulated");
    }
    CHECKED(in_one_allocation(address, 1, "cuMemFreeAsync"));
    return enqueue((struct operation){FREE, stream, .freed = address});
}

CUresult cuMemGetInfo(size_t *free, size_t *total) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    *free = CAPACITY - (size_t)counters.bytes, *total = CAPACITY;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    ONE_AT_A_TIME;
    if (device) return complain(CUDA_ERROR_INVALID_DEVICE, "there is one device, number 0");
    *bytes = CAPACITY;
    return CUDA_SUCCESS;
}

// --- host memory ---------------------------------------------------------------------------------

static struct {
    uint64_t start;
    size_t bytes;
} pinned[256];

static size_t pinned_at(uint64_t address) {
    size_t number = 0;
    while (number < 256 && address - pinned[number].start >= pinned[number].bytes) number++;
    return number;
}

bool is_pinned(uint64_t address) { return pinned_at(address) < 256; }

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
    ONE_AT_A_TIME;
    (void)flags;
    CHECKED(usable());
    size_t number = 0;
    while (number < 256 && pinned[number].bytes) number++;
    if (number == 256) return complain(CUDA_ERROR_OUT_OF_MEMORY, "256 blocks of host memory");
    *address = bytes ? aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE) : NULL;
    if (!*address) return complain(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes of host memory", bytes);
    memset(*address, 0xff, bytes);
    pinned[number].start = (uint64_t)*address, pinned[number].bytes = bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *address) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    if (!is_pinned((uint64_t)address)) {
        return complain(CUDA_ERROR_INVALID_VALUE, "no memory of cuMemHostAlloc");
    }
    pinned[pinned_at((uint64_t)address)].bytes = 0;
    free(address);
    return CUDA_SUCCESS;
}

// --- pools ---------------------------------------------------------------------------------------

struct pool {
    bool alive;
    uint64_t attributes[9];
};
static struct pool default_pool = {.alive = true};

static CUresult usable_pool(CUmemoryPool pool) {
    CHECKED(usable());
    if (pool && pool->alive) return CUDA_SUCCESS;
    return complain(CUDA_ERROR_INVALID_VALUE, "a memory pool that is not there");
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
    ONE_AT_A_TIME;
    CHECKED(usable_pool(pool));
    return allocate_in_order(address, bytes, stream);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    ONE_AT_A_TIME;
    if (device) return complain(CUDA_ERROR_INVALID_DEVICE, "there is one device, number 0");
    *pool = &default_pool;
    return CUDA_SUCCESS;
}

// CUmemPoolProps.
struct properties {
    int allocation, handles, location, device;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
};
enum { PINNED = 1, ON_A_DEVICE = 1 };

static bool are_for_the_device(const struct properties *properties) {
    static const struct properties wanted = {.allocation = PINNED, .location = ON_A_DEVICE};
    struct properties compared = *properties;
    compared.most = 0;
    return memcmp(&compared, &wanted, sizeof wanted) == 0;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const struct properties *properties) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    if (!properties || !are_for_the_device(properties)) {
        return complain(CUDA_ERROR_INVALID_VALUE, "cuMemPoolCreate: properties");
    }
    *pool = calloc(1, sizeof **pool);
    (*pool)->alive = true;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    ONE_AT_A_TIME;
    CHECKED(usable_pool(pool));
    pool->alive = false;  // its memory stays: blocks allocated from it must be freed still
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
    ONE_AT_A_TIME;
    CHECKED(usable_pool(pool));
    if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
        return complain(CUDA_ERROR_INVALID_VALUE, "memory pool attribute %d", attribute);
    }
    memcpy(&pool->attributes[attribute], value, sizeof(uint64_t));
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
    ONE_AT_A_TIME;
    CHECKED(usable_pool(pool));
    if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD &&
        attribute != CU_MEMPOOL_ATTR_USED_MEM_CURRENT) {
        return complain(CUDA_ERROR_INVALID_VALUE, "memory pool attribute %d", attribute);
    }
    uint64_t used = (uint64_t)counters.bytes;
    bool asks_for_use = attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    memcpy(value, asks_for_use ? &used : &pool->attributes[attribute], sizeof used);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
    ONE_AT_A_TIME;
    (void)bytes;
    return usable_pool(pool);
}

// --- pointers ------------------------------------------------------------------------------------

static CUresult pointer_attribute(void *value, int attribute, const struct allocation *in,
                                  CUdeviceptr address) {
    uint64_t word = 0;
    size_t bytes = sizeof word;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: word = in ? (uint64_t)primary_context() : 0; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        word = in ? CU_MEMORYTYPE_DEVICE : 0, bytes = sizeof(int);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: word = in ? address : 0; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: word = in ? 0 : -2ull, bytes = sizeof(int); break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: word = in ? in->start : 0; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: word = in ? in->bytes : 0; break;
    default:
        return complain(CUDA_ERROR_INVALID_VALUE, "the simulator has no pointer attribute %d",
                        attribute);
    }
    memcpy(value, &word, bytes);
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    if (is_pinned(address) && attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) {
        *(unsigned *)value = 1;  // host memory
        return CUDA_SUCCESS;
    }
    CHECKED(in_one_allocation(address, 1, "cuPointerGetAttribute"));
    return pointer_attribute(value, attribute, find_allocation(address), address);
}

CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **values,
                                CUdeviceptr address) {
    ONE_AT_A_TIME;
    CHECKED(usable());
    for (unsigned i = 0; i < count; i++) {
        CHECKED(pointer_attribute(values[i], attributes[i], find_allocation(address), address));
    }
    return CUDA_SUCCESS;
}
