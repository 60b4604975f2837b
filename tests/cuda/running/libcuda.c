// A libcuda.so.1 that has functions of all names but the one in the variable WITHOUT, which do
// nothing: to test how functions are found.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int nothing(void) {
    return 0;
}

int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags,
                        int *status) {
    const char *without = getenv("WITHOUT");
    int found = version >= 12000 && (!without || strcmp(name, without));
    (void)flags;
    *address = !found ? 0
             : strcmp(name, "cuGetProcAddress") ? (void *)nothing : (void *)cuGetProcAddress_v2;
    if (status) *status = found ? 0 : 1;
    return found ? 0 : 500;
}
