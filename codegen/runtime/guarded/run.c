// Calls a function that symc compiled in a process of its own, for mode="debug": this program and the
// function are compiled with -fsanitize=address, so that each access beside an array ends the process
// with a report, and so does a crash. `targets/guarded.py` starts it and reads the report.
//
//     run                                      does nothing: whether it can run at all
//     run FUNCTION.so ARRAYS [BLAS WIDE NAME...]
//
// ARRAYS is a file of int64: threads, the number of arrays that are given, of outputs and of lengths;
// the lengths; rank and bytes of an element of each output; the bytes of each given array; then these
// arrays themselves. NAMEs are the functions of the BLAS: six of symc_imports, then those of
// symc_lapack. Each array has memory of its own, of exactly its size.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "call.h"

typedef struct blas {  // symc_imports in blas.h
    void *functions[8];
    int64_t wide;
    int64_t *guard;
} blas;

static struct {
    int64_t threads, given, outputs, lengths;
} counts;
static void **arrays;
static int64_t *shapes, *kinds;  // of each output: its rank and the bytes of an element

// Called before a report, which names addresses: whose they are. (The sanitizer's own functions for
// this must not be called here: they wait for a lock that the report holds.)
void __asan_on_error(void) {
    for (int64_t i = 0; arrays && i < counts.given + counts.outputs; i++)
        fprintf(stderr, "symc array %p\n", arrays[i]);
}

// --- reading -------------------------------------------------------------------------------------

static void fail(const char *what) {
    fprintf(stderr, "symc: %s\n", what);
    exit(2);
}

static void *room(int64_t bytes) {
    void *memory = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (!memory) exit(3);  // the function itself says so, in the process that asked
    return memory;
}

static void read_into(FILE *file, void *memory, int64_t bytes) {
    if (bytes > 0 && fread(memory, 1, (size_t)bytes, file) != (size_t)bytes)
        fail("the file of arrays is too short");
}

static int64_t *read_numbers(FILE *file, int64_t count) {
    int64_t *numbers = room(8 * count);
    read_into(file, numbers, 8 * count);
    return numbers;
}

// --- calling -------------------------------------------------------------------------------------

static void *allocate(void *context, int64_t output) {
    (void)context;
    const int64_t *axis = shapes;
    for (int64_t i = 0; i < output; i++) axis += kinds[2 * i];
    int64_t bytes = kinds[2 * output + 1];
    for (int64_t k = 0; k < kinds[2 * output]; k++) {
        if (axis[k] < 0) return 0;  // measured while it runs
        if (__builtin_mul_overflow(bytes, axis[k], &bytes)) exit(3);
    }
    return arrays[counts.given + output] = room(bytes);
}

static void find_blas(void *function, int count, char **words) {
    blas *imports = dlsym(function, "symc_imports");
    void **lapack = dlsym(function, "symc_lapack");
    static int64_t guard[3];
    void *library = imports && count > 1 ? dlopen(words[0], RTLD_NOW | RTLD_LOCAL) : 0;
    if (!library) return;
    imports->wide = words[1][0] == '1';
    imports->guard = guard;
    for (int i = 2; i < count; i++) {
        void *found = dlsym(library, words[i]);
        if (i < 8) imports->functions[i - 2] = found;
        else if (lapack) lapack[i - 8] = found;
    }
}

int main(int count, char **words) {
    if (count < 3) return 0;
    void *function = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (!function) fail(dlerror());
    int64_t (*prepare)(symc_call *) = (int64_t(*)(symc_call *))dlsym(function, "symc_prepare");
    int64_t (*run)(symc_call *) = (int64_t(*)(symc_call *))dlsym(function, "symc_run");
    const int64_t *wanted = dlsym(function, "symc_counts");
    find_blas(function, count - 3, words + 3);

    FILE *file = fopen(words[2], "rb");
    if (!file) fail("the file of arrays is not there");
    read_into(file, &counts, sizeof counts);
    if (wanted[0] != counts.given + counts.outputs || wanted[1] != counts.lengths)
        fail("the function has other arrays");
    const int64_t *lengths = read_numbers(file, counts.lengths);
    kinds = read_numbers(file, 2 * counts.outputs);
    const int64_t *bytes = read_numbers(file, counts.given);
    arrays = calloc((size_t)wanted[0] + 1, sizeof *arrays);
    shapes = calloc((size_t)wanted[2] + 1, 8);
    for (int64_t i = 0; i < counts.given; i++) {
        arrays[i] = room(bytes[i]);
        read_into(file, arrays[i], bytes[i]);
    }
    fclose(file);

    symc_call made = {.data = arrays, .lengths = lengths, .shapes = shapes, .allocate = allocate,
                 .sizes = calloc((size_t)wanted[3] + 1, 8), .threads = counts.threads};
    if (prepare(&made)) return 0;  // a check failed: the process that asked raises its error
    for (int64_t i = 0; i < counts.outputs; i++) allocate(0, i);
    void *workspace = 0;
    if (posix_memalign(&workspace, 64, (size_t)made.workspace_bytes + 1)) exit(3);
    made.workspace = workspace;
    run(&made);
    return 0;
}
