// Calls a program that symc generated, without Python. Included by the file that describes the
// program's arrays: see there for ARRAYS, INPUTS and so on.
//
// A state holds the shared variables and constants. A call is what symc_call in the program says:
// prepare computes lengths, memory is allocated, run computes, and new values of shared variables
// that were not written in place take the place of the old ones.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct array {
    const char *file;  // with the first value, for shared variables and constants
    int rank;
    int64_t item;  // bytes of an element
} array;

// The facts on the program's arrays before a call: those that a state holds, with the lengths
// of all of their axes, the outputs, and whose new values the outputs after the results are.
typedef struct tables {
    const array *held, *outputs;
    const int64_t *lengths;
    const int *updates;
} tables;

struct state {
    void *values[SHARED + CONSTANTS + 1];
    int64_t lengths[SHARED_LENGTHS + 1];
    int64_t threads;
};

// --- reading values ------------------------------------------------------------------------------

static void *read_file(const char *folder, const char *name, int64_t bytes) {
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) return NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *values = malloc((size_t)bytes + 64);
    const int whole = values && fread(values, 1, (size_t)bytes, file) == (size_t)bytes;
    fclose(file);
    if (!whole) {
        free(values);
        return NULL;
    }
    return values;
}

static void delete_state(struct state *made) {
    for (int i = 0; made && i < SHARED + CONSTANTS; i++) free(made->values[i]);
    free(made);
}

// The state with its first values; NULL if memory is short or a file is not as it was written.
static struct state *new_state(const char *folder, const tables *known) {
    struct state *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->threads = 1;
    const int64_t *axis = known->lengths;
    for (int i = 0; i < SHARED + CONSTANTS; i++) {
        int64_t bytes = known->held[i].item;
        for (int k = 0; k < known->held[i].rank; k++) bytes *= *axis++;
        made->values[i] = read_file(folder, known->held[i].file, bytes);
        if (!made->values[i]) {
            delete_state(made);
            return NULL;
        }
    }
    memcpy(made->lengths, known->lengths, sizeof(int64_t) * SHARED_LENGTHS);
    return made;
}

// --- calling -------------------------------------------------------------------------------------

typedef struct call {
    symc_call program;
    const array *outputs;
    void *data[INPUTS + SHARED + CONSTANTS + OUTPUTS + 1];
    int64_t lengths[INPUT_LENGTHS + SHARED_LENGTHS + 1], shapes[SHAPES + 1];
} call;

// Memory for output number `output`, whose lengths are known now.
static void *allocate_output(void *context, int64_t output) {
    call *made = context;
    const int64_t *axis = made->shapes;
    for (int64_t i = 0; i < output; i++) axis += made->outputs[i].rank;
    int64_t bytes = made->outputs[output].item;
    for (int k = 0; k < made->outputs[output].rank; k++) bytes *= axis[k] > 0 ? axis[k] : 0;
    return made->data[INPUTS + SHARED + CONSTANTS + output] = malloc((size_t)bytes + 64);
}

static int is_known(const call *made, int64_t output) {
    const int64_t *axis = made->shapes;
    for (int64_t i = 0; i < output; i++) axis += made->outputs[i].rank;
    for (int k = 0; k < made->outputs[output].rank; k++)
        if (axis[k] < 0) return 0;
    return 1;
}

static int64_t run_program(call *made) {
    FIND_LIBRARIES();
    int64_t status = symc_prepare(&made->program);
    if (status) return status;
    for (int64_t i = 0; i < OUTPUTS; i++)
        if (is_known(made, i) && !allocate_output(made, i)) return -1;
    char *memory = malloc((size_t)made->program.workspace_bytes + 128);
    if (!memory) return -1;
    made->program.workspace = (char *)(((uintptr_t)memory + 63) / 64 * 64);
    status = symc_run(&made->program);
    free(memory);
    return status;
}

// One call. On success the results are the caller's, and the outputs after them are the new values
// of shared variables; otherwise nothing has changed.
static int64_t call_program(struct state *shared, const tables *known, const void *const *inputs,
                            const int64_t *lengths, void **results, int64_t *shapes) {
    call *made = calloc(1, sizeof *made);
    int64_t *sizes = calloc((size_t)symc_counts[3] + 1, sizeof(int64_t));
    if (!made || !sizes) {
        free(made);
        free(sizes);
        return -1;
    }
    void **values = made->data + INPUTS, **news = values + SHARED + CONSTANTS;
    for (int i = 0; i < INPUTS; i++) made->data[i] = (void *)inputs[i];
    memcpy(values, shared->values, sizeof(void *) * (SHARED + CONSTANTS));
    memcpy(made->lengths, lengths, sizeof(int64_t) * INPUT_LENGTHS);
    memcpy(made->lengths + INPUT_LENGTHS, shared->lengths, sizeof(int64_t) * RUN_LENGTHS);
    made->outputs = known->outputs;
    made->program = (symc_call){.data = made->data, .lengths = made->lengths,
                                .shapes = made->shapes, .sizes = sizes,
                                .threads = shared->threads, .allocate = allocate_output,
                                .context = made};
    const int64_t status = run_program(made);
    const int64_t *axis = made->shapes;
    for (int i = 0; i < OUTPUTS; i++) {
        if (status) {
            free(news[i]);
        } else if (i < RESULTS) {
            results[i] = news[i];
            memcpy(shapes, axis, sizeof(int64_t) * (size_t)known->outputs[i].rank);
            shapes += known->outputs[i].rank;
        } else {
            const int target = known->updates[i - RESULTS];
            free(shared->values[target]);
            shared->values[target] = news[i];
            int64_t *own = shared->lengths;
            for (int k = 0; k < target; k++) own += known->held[k].rank;
            memcpy(own, axis, sizeof(int64_t) * (size_t)known->outputs[i].rank);
        }
        axis += known->outputs[i].rank;
    }
    free(sizes);
    free(made);
    return status;
}
