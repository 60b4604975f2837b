// One call of a compiled function, as Python describes it. The callers in C include this file, and
// `targets/abi.py` declares it to cffi.

// SYMBOL symc_call
typedef struct symc_call {
    void **data;                // one pointer for each input, shared, constant and output buffer
    const int64_t *lengths;     // every axis of inputs and shared buffers
    int64_t *shapes;            // every axis of outputs; -1 until measured
    int64_t *sizes;             // from prepare to run: the program's sizes, then the memory plan
    char *workspace;            // given between prepare and run, aligned to 64 bytes
    int64_t workspace_bytes;    // written by prepare
    int64_t threads;            // how many threads run may use
    void *(*allocate)(void *context, int64_t output);  // for an output that run measured
    void *context;
    int64_t (*host)(void *context, int64_t number, const void *const *arrays,
                    const int64_t *lengths);  // a function in Python: not 0 if it raises
    int64_t (*ask)(void *context);  // whether to stop, as a signal has come; 0: nobody asks
    int64_t stopped;            // whether that was answered with yes
} symc_call;
