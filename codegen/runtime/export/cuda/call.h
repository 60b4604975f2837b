// Calls a program that symc generated for a graphics card, without Python. Included by the file that
// describes the program's arrays: see there for SHARED, INPUTS and so on.
//
// A state holds the card, the kernels, and the shared variables and constants in its memory. A call
// is what symc_call in the program says: prepare computes lengths, memory is allocated, run queues
// the kernels on a stream, and new values of shared variables that were not written in place take
// the place of the old ones.

#include "card.h"

typedef struct array {
    const char *file;  // with the first value, for shared variables and constants
    int rank;
    int64_t item;  // bytes of an element
} array;

// The facts on the program's arrays before a call: those that a state holds, with the lengths
// of all of their axes, the inputs and outputs, whose new values the outputs after the results are,
// and which inputs are numbers that stay in the host's memory.
typedef struct tables {
    const array *held, *inputs, *outputs;
    const int64_t *lengths;
    const int *updates, *numbers;
    const image *images;
    const char *const *kernels;
} tables;

struct state {
    card card;
    void *values[SHARED + CONSTANTS + 1];
    int64_t lengths[SHARED_LENGTHS + 1];
};

// --- states --------------------------------------------------------------------------------------

// A whole file: `bytes` long, or of any length if that is -1.
static int64_t read_file(const char *folder, const char *name, int64_t bytes, void **values) {
    char path[4096];
    *values = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) return NO_FILE;
    FILE *file = fopen(path, "rb");
    if (!file) return NO_FILE;
    if (bytes < 0 && !fseek(file, 0, SEEK_END)) {
        bytes = ftell(file);
        rewind(file);
    }
    *values = bytes < 0 ? NULL : malloc((size_t)bytes + 64);
    const int whole = *values && fread(*values, 1, (size_t)bytes, file) == (size_t)bytes;
    fclose(file);
    return whole ? 0 : *values ? NO_FILE : NO_MEMORY;
}

// The bytes of an array of these lengths. `axis` is moved on to those of the next array.
static int64_t bytes_of(const array *known, const int64_t **axis) {
    int64_t bytes = known->item;
    for (int k = 0; k < known->rank; k++, ++*axis) bytes *= **axis > 0 ? **axis : 0;
    return bytes;
}

static int64_t load_images(struct state *made, const char *folder, const tables *known) {
    void *images[IMAGES + 1] = {NULL};
    int64_t status = 0;
    for (int i = 0; i < IMAGES && !status; i++)
        status = read_file(folder, known->images[i].file, -1, &images[i]);
    if (!status)
        status = load_kernels(&made->card, (const void *const *)images, known->images,
                              known->kernels);
    for (int i = 0; i < IMAGES; i++) free(images[i]);
    return status;
}

static int64_t load_values(struct state *made, const char *folder, const tables *known) {
    const int64_t *axis = known->lengths;
    int64_t status = 0;
    for (int i = 0; i < SHARED + CONSTANTS && !status; i++) {
        const int64_t bytes = bytes_of(&known->held[i], &axis);
        void *values;
        status = read_file(folder, known->held[i].file, bytes, &values);
        if (!status) status = allocate(&made->card, &made->values[i], bytes, NULL);
        if (!status) status = upload(&made->card, made->values[i], values, bytes, NULL);
        if (!status) status = wait_for(&made->card, NULL);
        free(values);
    }
    memcpy(made->lengths, known->lengths, sizeof(int64_t) * SHARED_LENGTHS);
    return status;
}

static void delete_state(struct state *made) {
    if (!made) return;
    if (made->card.driver.functions.context && !enter(&made->card)) {
        for (int i = 0; i < SHARED + CONSTANTS; i++) release(&made->card, made->values[i], NULL);
        leave(&made->card);
    }
    close_card(&made->card);
    free(made);
}

// The state with its first values on a card, or NULL and why not.
static struct state *new_state(const char *folder, int number, const tables *known,
                               int64_t *status) {
    struct state *made = calloc(1, sizeof *made);
    *status = made ? open_card(&made->card, number) : NO_MEMORY;
    if (!*status && !(*status = enter(&made->card))) {
        *status = keep_memory(&made->card);
        if (!*status) *status = open_blas(&made->card);
        if (!*status) *status = load_images(made, folder, known);
        if (!*status) *status = load_values(made, folder, known);
        leave(&made->card);
    }
    if (!*status) return made;
    delete_state(made);
    return NULL;
}

// --- calling -------------------------------------------------------------------------------------

typedef struct call {
    symc_call program;
    struct state *state;
    const array *outputs;
    void *data[INPUTS + SHARED + CONSTANTS + OUTPUTS + 1];
    int64_t lengths[INPUT_LENGTHS + SHARED_LENGTHS + 1], shapes[SHAPES + 1];
    int64_t status;  // of memory that could not be had
} call;

// Memory for output number `output`, whose lengths are known now.
static void *allocate_output(void *context, int64_t output) {
    call *made = context;
    const int64_t *axis = made->shapes;
    for (int64_t i = 0; i < output; i++) axis += made->outputs[i].rank;
    void **place = &made->data[INPUTS + SHARED + CONSTANTS + output];
    const int64_t bytes = bytes_of(&made->outputs[output], &axis);
    made->status = allocate(&made->state->card, place, bytes, made->program.stream);
    return *place;
}

static int is_known(const call *made, int64_t output) {
    const int64_t *axis = made->shapes;
    for (int64_t i = 0; i < output; i++) axis += made->outputs[i].rank;
    for (int k = 0; k < made->outputs[output].rank; k++)
        if (axis[k] < 0) return 0;
    return 1;
}

static int64_t run_program(call *made) {
    card *const own = &made->state->card;
    void *memory;
    int64_t status = symc_prepare(&made->program);
    if (status) return status;
    for (int64_t i = 0; i < OUTPUTS; i++)
        if (is_known(made, i) && !allocate_output(made, i)) return made->status;
    status = allocate(own, &memory, made->program.workspace_bytes + 256, made->program.stream);
    if (status) return status;
    made->program.workspace = (char *)(((uintptr_t)memory + 255) / 256 * 256);
    status = symc_run(&made->program);
    release(own, memory, made->program.stream);
    return made->status ? made->status : status;
}

// One call with arrays on the card, whose context is current. On success the results are the
// caller's, and the outputs after them are the new values of shared variables.
static int64_t call_on_card(struct state *shared, const tables *known, void *stream,
                            const void *const *inputs, const int64_t *lengths, void **results,
                            int64_t *shapes) {
    call *made = calloc(1, sizeof *made);
    int64_t *sizes = calloc((size_t)symc_counts[3] + 1, sizeof(int64_t));
    if (!made || !sizes) {
        free(made);
        free(sizes);
        return NO_MEMORY;
    }
    void **values = made->data + INPUTS, **news = values + SHARED + CONSTANTS;
    for (int i = 0; i < INPUTS; i++) made->data[i] = (void *)inputs[i];
    memcpy(values, shared->values, sizeof(void *) * (SHARED + CONSTANTS));
    memcpy(made->lengths, lengths, sizeof(int64_t) * INPUT_LENGTHS);
    memcpy(made->lengths + INPUT_LENGTHS, shared->lengths, sizeof(int64_t) * RUN_LENGTHS);
    made->outputs = known->outputs;
    made->state = shared;
    made->program = (symc_call){.data = made->data, .lengths = made->lengths,
                                .shapes = made->shapes, .sizes = sizes, .threads = 1,
                                .allocate = allocate_output, .context = made,
                                .device = &shared->card.driver.functions,
                                .functions = shared->card.kernels, .stream = stream};
    const int64_t status = run_program(made);
    const int64_t *axis = made->shapes;
    for (int i = 0; i < OUTPUTS; i++) {
        if (status) {
            release(&shared->card, news[i], stream);
        } else if (i < RESULTS) {
            results[i] = news[i];
            memcpy(shapes, axis, sizeof(int64_t) * (size_t)known->outputs[i].rank);
            shapes += known->outputs[i].rank;
        } else {
            const int target = known->updates[i - RESULTS];
            release(&shared->card, shared->values[target], stream);
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

// One call with arrays on the card, on any stream.
static int64_t call_program(struct state *shared, const tables *known, void *stream,
                            const void *const *inputs, const int64_t *lengths, void **results,
                            int64_t *shapes) {
    int64_t status = enter(&shared->card);
    if (status) return status;
    status = call_on_card(shared, known, stream, inputs, lengths, results, shapes);
    leave(&shared->card);
    return status;
}

// --- arrays of the host --------------------------------------------------------------------------

// Copies inputs to the card, but for numbers.
static int64_t upload_inputs(card *own, const tables *known, const void *const *inputs,
                             const int64_t *lengths, const void **placed, void **copies) {
    int64_t status = 0;
    for (int i = 0; i < INPUTS && !status; i++) {
        const int64_t bytes = bytes_of(&known->inputs[i], &lengths);
        placed[i] = inputs[i];
        if (known->numbers[i]) continue;
        status = allocate(own, &copies[i], bytes, NULL);
        if (!status) status = upload(own, copies[i], inputs[i], bytes, NULL);
        placed[i] = copies[i];
    }
    return status;
}

// Copies results to memory of the host, and gives that of the card back.
static int64_t download_results(card *own, const tables *known, void **results,
                                const int64_t *shapes) {
    void *there[RESULTS + 1];
    int64_t status = 0;
    for (int i = 0; i < RESULTS; i++) {
        const int64_t bytes = bytes_of(&known->outputs[i], &shapes);
        there[i] = results[i];
        results[i] = malloc((size_t)bytes + 64);
        if (!results[i]) status = NO_MEMORY;
        if (!status) status = download(own, results[i], there[i], bytes, NULL);
    }
    const int64_t waited = wait_for(own, NULL);
    if (!status) status = waited;
    for (int i = 0; i < RESULTS; i++) {
        release(own, there[i], NULL);
        if (status) free(results[i]);
    }
    return status;
}

static int64_t call_from_host(struct state *shared, const tables *known,
                              const void *const *inputs, const int64_t *lengths, void **results,
                              int64_t *shapes) {
    card *const own = &shared->card;
    const void *placed[INPUTS + 1];
    void *copies[INPUTS + 1] = {NULL};
    int64_t status = enter(own);
    if (status) return status;
    status = upload_inputs(own, known, inputs, lengths, placed, copies);
    if (!status)
        status = call_on_card(shared, known, NULL, placed, lengths, results, shapes);
    for (int i = 0; i < INPUTS; i++) release(own, copies[i], NULL);
    if (!status) status = download_results(own, known, results, shapes);
    leave(own);
    return status;
}

// Copies between the card and the host, after all that is queued on the default stream.
static int64_t copy_values(struct state *shared, void *to, const void *from, int64_t bytes,
                           int to_card) {
    card *const own = &shared->card;
    int64_t status = enter(own);
    if (status) return status;
    status = to_card ? upload(own, to, from, bytes, NULL) : download(own, to, from, bytes, NULL);
    if (!status) status = wait_for(own, NULL);
    leave(own);
    return status;
}

static void free_array(struct state *shared, void *values, void *stream) {
    if (enter(&shared->card)) return;
    release(&shared->card, values, stream);
    leave(&shared->card);
}

static const char *status_words(int64_t status, const char *const *words, int64_t count) {
    switch (status) {
    case NO_MEMORY: return "there is not enough memory";
    case NO_FILE: return "a file of the folder is missing, or has another length";
    case TOO_LONG: return "an array has more than 2^30 elements";
    case TOO_LARGE: return "a length does not fit into 64 bits";
#ifdef SYMC_OPENCL
    case NO_DRIVER: return "there is no device of OpenCL (libOpenCL.so.1, or what SYMC_OPENCL names)";
#else
    case NO_DRIVER: return "there is no CUDA driver (libcuda.so.1) of version 12 or later";
#endif
    case NO_BLAS: return "there is no cuBLAS (libcublas.so.12 or 13)";
    }
    if (status <= BLAS_ERROR) return "cuBLAS reports an error: its status is -2000 minus this one";
    if (status <= DRIVER_ERROR) return driver_words(status);
    return status >= 0 && status < count ? words[status] : "no such error";
}
