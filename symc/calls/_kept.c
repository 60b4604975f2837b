/* Memory of results. The kernel hands out pages one by one when they are first written, which takes
 * as long as a simple loop over them; so the memory of dead results is kept for later ones.
 *
 * Arrays remember who has to free their memory: NumPy calls `give_back` for those that `take` has
 * served, whatever is allocated otherwise at that time. Before its memory each block has a header.
 * Free blocks are in a list, the one freed last at its head, and leave it at the tail. All is done
 * with a mutex, for arrays may die on threads without Python's lock, in Pythons that have none.
 */
#include "_kept.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL symc_numpy
#define NO_IMPORT_ARRAY
#include <numpy/arrayobject.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HEADER 64           /* bytes: what follows it is on a cache line */
#define HUGE_FROM (4 << 20) /* bytes from which huge pages are asked for, as NumPy does */
#define LEAST 16384         /* bytes of a block that is kept */
#define MOST_BLOCKS 64      /* which a search looks through */

typedef struct Block {
    struct Block *newer, *older;
    size_t bytes; /* without the header */
} Block;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Block *newest, *oldest;
static size_t kept, limit;
static int count;

static void
unlink_block(Block *block)
{
    *(block->newer != NULL ? &block->newer->older : &newest) = block->older;
    *(block->older != NULL ? &block->older->newer : &oldest) = block->newer;
    kept -= block->bytes;
    count--;
}

/* Free the oldest blocks until no more than so many bytes are kept. */
static void
shrink(size_t most, int most_blocks)
{
    while (oldest != NULL && (kept > most || count > most_blocks)) {
        Block *block = oldest;
        unlink_block(block);
        free(block);
    }
}

/* ---- memory that the machine lacks ---- */

/* Whether less than a sixteenth of the machine's memory is left; looked up once a second. */
static int
memory_is_short(void)
{
    static time_t next;
    static int is_short;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec < next) return is_short;
    next = now.tv_sec + 1;
    is_short = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL) return 0;
    unsigned long long total = 0, available = 0;
    char line[128];
    while (fgets(line, sizeof(line), file) != NULL && !(total > 0 && available > 0))
        if (sscanf(line, "MemTotal: %llu", &total) != 1)
            (void)sscanf(line, "MemAvailable: %llu", &available);
    fclose(file);
    is_short = available > 0 && available < total / 16;
    return is_short;
}

/* ---- what NumPy calls ---- */

/* The smallest free block that is large enough, and at most an eighth too large. */
static Block *
find(size_t bytes)
{
    Block *best = NULL;
    for (Block *block = newest; block != NULL; block = block->older)
        if (block->bytes >= bytes && block->bytes - bytes <= block->bytes / 8 &&
            (best == NULL || block->bytes < best->bytes))
            best = block;
    return best;
}

static Block *
fresh(size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, HEADER, bytes + HEADER) != 0) return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_FROM) {
        uintptr_t page = 4096, start = ((uintptr_t)memory + page - 1) / page * page;
        uintptr_t end = ((uintptr_t)memory + bytes + HEADER) / page * page;
        (void)madvise((void *)start, end - start, MADV_HUGEPAGE); /* a wish */
    }
#endif
    return memory;
}

static void *
take(void *context, size_t bytes)
{
    (void)context;
    if (bytes > PY_SSIZE_T_MAX - HEADER) return NULL;
    pthread_mutex_lock(&mutex);
    Block *block = find(bytes);
    if (block != NULL) unlink_block(block);
    pthread_mutex_unlock(&mutex);
    if (block == NULL) {
        block = fresh(bytes);
        if (block == NULL) {
            pthread_mutex_lock(&mutex);
            shrink(0, 0);
            pthread_mutex_unlock(&mutex);
            block = fresh(bytes);
        }
        if (block == NULL) return NULL;
        block->bytes = bytes;
    }
    return (char *)block + HEADER;
}

static void
give_back(void *context, void *data, size_t bytes)
{
    (void)context;
    (void)bytes; /* what NumPy believes: the block knows it */
    if (data == NULL) return;
    Block *block = (Block *)((char *)data - HEADER);
    pthread_mutex_lock(&mutex);
    if (block->bytes < LEAST || block->bytes > limit) {
        free(block);
    } else if (memory_is_short()) {
        shrink(0, 0);
        free(block);
    } else {
        block->newer = NULL;
        block->older = newest;
        *(newest != NULL ? &newest->newer : &oldest) = block;
        newest = block;
        kept += block->bytes;
        count++;
        shrink(limit, MOST_BLOCKS);
    }
    pthread_mutex_unlock(&mutex);
}

static void *
take_zeros(void *context, size_t number, size_t size)
{
    if (size > 0 && number > PY_SSIZE_T_MAX / size) return NULL;
    void *data = take(context, number * size);
    return data == NULL ? NULL : memset(data, 0, number * size);
}

static void *
change_size(void *context, void *data, size_t bytes)
{
    if (data == NULL) return take(context, bytes);
    const Block *block = (const Block *)((char *)data - HEADER);
    if (bytes <= block->bytes && bytes >= block->bytes / 2) return data;
    void *other = take(context, bytes);
    if (other == NULL) return NULL;
    memcpy(other, data, bytes < block->bytes ? bytes : block->bytes);
    give_back(context, data, 0);
    return other;
}

static PyDataMem_Handler handler = {
    "symc_kept", 1, {NULL, take, take_zeros, change_size, give_back},
};

/* A child of fork has the blocks of its parent, as a copy; no other thread is at work on them. */
static void
lock_all(void)
{
    pthread_mutex_lock(&mutex);
}

static void
unlock_all(void)
{
    pthread_mutex_unlock(&mutex);
}

PyObject *
symc_kept_handler(void)
{
    static PyObject *capsule;
    if (capsule == NULL) {
        if (pthread_atfork(lock_all, unlock_all, unlock_all) != 0) return PyErr_NoMemory();
        capsule = PyCapsule_New(&handler, "mem_handler", NULL);
    }
    return capsule;
}

/* ---- for Python ---- */

PyObject *
symc_keep_at_most(PyObject *module, PyObject *bytes)
{
    (void)module;
    Py_ssize_t most = PyLong_AsSsize_t(bytes);
    if (most == -1 && PyErr_Occurred()) return NULL;
    pthread_mutex_lock(&mutex);
    limit = most > 0 ? (size_t)most : 0;
    shrink(limit, MOST_BLOCKS);
    pthread_mutex_unlock(&mutex);
    return symc_none();
}

PyObject *
symc_kept_bytes(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromSize_t(kept);
}

PyObject *
symc_free_kept(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    pthread_mutex_lock(&mutex);
    size_t before = kept;
    shrink(0, 0);
    pthread_mutex_unlock(&mutex);
    return PyLong_FromSize_t(before);
}
