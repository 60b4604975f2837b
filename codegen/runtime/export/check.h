// Compares arrays with the expected ones, for the test program.

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *read_values(const char *folder, const char *name, size_t bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    void *values = calloc(1, bytes + 64);
    if (!file || !values || fread(values, 1, bytes, file) != bytes) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    return values;
}

// Whether all lengths are right.
static int same_shape(const char *name, const int64_t *got, const int64_t *wanted, int rank) {
    for (int k = 0; k < rank; k++)
        if (got[k] != wanted[k]) {
            printf("%s: axis %d is %lld, not %lld\n", name, k, (long long)got[k],
                   (long long)wanted[k]);
            return 0;
        }
    return 1;
}

// Floats may differ in the last digits: another compiler orders operations otherwise.
#define SAME_FLOATS(function, type, tolerance)                                              \
    static int function(const char *name, const type *got, const type *wanted, int64_t count) { \
        double largest = 0;                                                                 \
        for (int64_t i = 0; i < count; i++)                                                 \
            if (isfinite(wanted[i]) && fabs(wanted[i]) > largest) largest = fabs(wanted[i]); \
        for (int64_t i = 0; i < count; i++) {                                               \
            const int both_nan = isnan(got[i]) && isnan(wanted[i]);                         \
            if (both_nan || got[i] == wanted[i]) continue;                                  \
            if (fabs((double)got[i] - wanted[i]) <= tolerance * largest) continue;          \
            printf("%s: element %lld is %.17g, not %.17g\n", name, (long long)i,            \
                   (double)got[i], (double)wanted[i]);                                      \
            return 0;                                                                       \
        }                                                                                   \
        printf("%s: as expected\n", name);                                                  \
        return 1;                                                                           \
    }
SAME_FLOATS(same_float64, double, 1e-12)
SAME_FLOATS(same_float32, float, 1e-5)

// Everything else is equal to the last bit.
static int same_bytes(const char *name, const void *got, const void *wanted, int64_t bytes) {
    const unsigned char *left = got, *right = wanted;
    for (int64_t i = 0; i < bytes; i++)
        if (left[i] != right[i]) {
            printf("%s: byte %lld differs\n", name, (long long)i);
            return 0;
        }
    printf("%s: as expected\n", name);
    return 1;
}
