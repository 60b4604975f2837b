// Texts of errors, settings and counters: the functions for codegen/targets/sim.py.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"

struct settings settings;
struct counters counters;
CUresult sticky;
const struct module *reported;

static char report[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int enter_driver(void) {
    pthread_mutex_lock(&lock);
    return 1;
}

void leave_driver(int *entered) {
    if (*entered) pthread_mutex_unlock(&lock);
}

CUresult complain(CUresult result, const char *format, ...) {
    va_list values;
    reported = NULL;
    va_start(values, format);
    vsnprintf(report, sizeof report, format, values);
    va_end(values);
    return result;
}

void add_to_report(const char *format, ...) {
    size_t length = strlen(report);
    va_list values;
    va_start(values, format);
    vsnprintf(report + length, sizeof report - length, format, values);
    va_end(values);
}

uint64_t random_number(void) {
    settings.seed += 0x9e3779b97f4a7c15u;  // splitmix64
    uint64_t bits = settings.seed;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

const char *symc_sim_report(void) { return report; }

const void *symc_sim_image(size_t *bytes) {
    ONE_AT_A_TIME;
    if (!reported || !reported->loaded) return NULL;
    *bytes = reported->image_bytes;
    return reported->image;
}

void symc_sim_set_order(int order, uint64_t seed) {
    ONE_AT_A_TIME;
    settings.order = (enum order)order;
    settings.seed = seed;
}

void symc_sim_set_deferred(int deferred) {
    ONE_AT_A_TIME;
    settings.deferred = deferred;
}

void symc_sim_recover(void) {
    ONE_AT_A_TIME;
    forget_work();
    forget_captures();
    sticky = CUDA_SUCCESS;
    report[0] = '\0';
}

void symc_sim_counters(int64_t *values) {
    ONE_AT_A_TIME;
    memcpy(values, &counters, sizeof counters);
}

#define FUNCTION_ENTRY(name, parameters) {#name, (void *)name},
static const struct named {
    const char *name;
    void *address;
} entries[] = {FUNCTIONS(FUNCTION_ENTRY) CUBLAS_FUNCTIONS(FUNCTION_ENTRY)};

int symc_sim_entry(int number, const char **name, void **address) {
    if (number < 0 || number >= (int)(sizeof entries / sizeof *entries)) return 0;
    *name = entries[number].name, *address = entries[number].address;
    return 1;
}

CUresult cuGetProcAddress(const char *symbol, void **address, int version, uint64_t flags,
                          int *status) {
    ONE_AT_A_TIME;
    (void)version, (void)flags;
    if (!symbol || !address) return complain(CUDA_ERROR_INVALID_VALUE, "cuGetProcAddress: null");
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entries[i].name, symbol) == 0 && strncmp(symbol, "cublas", 6) != 0) {
            *address = entries[i].address;
            if (status) *status = 0;  // CU_GET_PROC_ADDRESS_SUCCESS
            return CUDA_SUCCESS;
        }
    }
    *address = NULL;
    if (status) *status = 1;  // CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
    return complain(CUDA_ERROR_NOT_FOUND, "the simulator has no function %s", symbol);
}
