// A stand-in for cuBLAS: the functions of it that symc calls. As strict about arguments as NVIDIA's
// reference, and beyond that about memory: a product reads what was written, and writes within one
// allocation. Its results have the rounding of one product and sum in double for each element;
// with TF32 the factors lose the last 13 bits first, so that tests see where it was not asked for.
#include <stdlib.h>

#include "driver.h"

struct cublasContext {
    struct cublasContext *next;
    bool alive;
    CUstream stream;
};

enum {
    CUBLAS_SUCCESS = 0,
    CUBLAS_NOT_INITIALIZED = 1,
    CUBLAS_INVALID_VALUE = 7,
    CUBLAS_EXECUTION_FAILED = 13,
    CUBLAS_NOT_SUPPORTED = 15,
};
enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum { CUDA_R_32F = 0, CUDA_R_64F = 1 };
enum { COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32F_FAST_TF32 = 77 };
enum { CUBLAS_GEMM_DEFAULT = -1 };

static struct cublasContext *handles;

int cublasCreate_v2(cublasHandle_t *handle) {
    ONE_AT_A_TIME;
    if (!handle) return complain(CUBLAS_INVALID_VALUE, "cublasCreate: no place for the handle");
    // It allocates memory, which a capture does not allow.
    if (usable() || allowed_in_capture("cublasCreate")) return CUBLAS_NOT_INITIALIZED;
    struct cublasContext *made = calloc(1, sizeof *made);
    *made = (struct cublasContext){handles, true, NULL};
    *handle = handles = made;
    return CUBLAS_SUCCESS;
}

static int usable_handle(cublasHandle_t handle) {
    for (struct cublasContext *one = handles; one; one = one->next) {
        if (one == handle && one->alive) return CUBLAS_SUCCESS;
    }
    return complain(CUBLAS_NOT_INITIALIZED, "not a handle of cuBLAS: %p", (void *)handle);
}

int cublasDestroy_v2(cublasHandle_t handle) {
    ONE_AT_A_TIME;
    CHECKED(usable_handle(handle));
    handle->alive = false;
    return CUBLAS_SUCCESS;
}

int cublasSetStream_v2(cublasHandle_t handle, CUstream stream) {
    ONE_AT_A_TIME;
    struct stream *found;
    CHECKED(usable_handle(handle));
    if (find_stream(stream, &found)) return CUBLAS_INVALID_VALUE;
    handle->stream = stream;
    return CUBLAS_SUCCESS;
}

// --- the checks of a product ---------------------------------------------------------------------
// -------------------------------------------------------------------

// Whether a matrix of so many rows may lie so.
static int check_matrix(const char *name, const struct matrix *matrix, int rows) {
    if (matrix->leading < rows || matrix->leading < 1) {
        return complain(CUBLAS_INVALID_VALUE, "cuBLAS: ld%s is %d, and %s has %d rows", name,
                        matrix->leading, name, rows);
    }
    return CUBLAS_SUCCESS;
}

static int check_types(int type_a, int type_b, int type_c, int compute, int algorithm) {
    bool single = compute == COMPUTE_32F || compute == COMPUTE_32F_FAST_TF32;
    int wanted = single ? CUDA_R_32F : compute == COMPUTE_64F ? CUDA_R_64F : -1;
    if (wanted < 0 || type_a != wanted || type_b != wanted || type_c != wanted ||
        algorithm != CUBLAS_GEMM_DEFAULT) {
        return complain(CUBLAS_NOT_SUPPORTED,
                        "cuBLAS: types %d, %d and %d, compute type %d, algorithm %d", type_a,
                        type_b, type_c, compute, algorithm);
    }
    return CUBLAS_SUCCESS;
}

static int check_product(const struct product *task) {
    if (task->m < 0 || task->n < 0 || task->k < 0 || task->batch < 0) {
        return complain(CUBLAS_INVALID_VALUE, "cuBLAS: m %d, n %d, k %d, %d products", task->m,
                        task->n, task->k, task->batch);
    }
    CHECKED(check_matrix("a", &task->a, task->trans_a ? task->k : task->m));
    CHECKED(check_matrix("b", &task->b, task->trans_b ? task->n : task->k));
    CHECKED(check_matrix("c", &task->c, task->m));
    long long size = (long long)task->c.leading * (task->n - 1) + task->m;
    if (task->batch > 1 && task->n > 0 && llabs(task->c.stride) < size) {
        return complain(CUBLAS_INVALID_VALUE, "cuBLAS: results %lld elements apart, of %lld each",
                        task->c.stride, size);
    }
    return CUBLAS_SUCCESS;
}

static double scalar(const void *place, bool is_double) {
    return is_double ? *(const double *)place : *(const float *)place;
}

int cublasGemmStridedBatchedEx(cublasHandle_t handle, int trans_a, int trans_b, int m,
                                      int n, int k, const void *alpha, const void *a, int type_a,
                                      int lda, long long stride_a, const void *b, int type_b,
                                      int ldb, long long stride_b, const void *beta, void *c,
                                      int type_c, int ldc, long long stride_c, int batch,
                                      int compute, int algorithm) {
    ONE_AT_A_TIME;
    struct stream *stream;
    CHECKED(usable_handle(handle));
    if (usable()) return CUBLAS_EXECUTION_FAILED;
    if (trans_a < CUBLAS_OP_N || trans_a > CUBLAS_OP_C || trans_b < CUBLAS_OP_N ||
        trans_b > CUBLAS_OP_C) {
        return complain(CUBLAS_INVALID_VALUE, "cuBLAS: operations %d and %d", trans_a, trans_b);
    }
    CHECKED(check_types(type_a, type_b, type_c, compute, algorithm));
    if (!alpha || !beta || find_allocation((uint64_t)alpha) || find_allocation((uint64_t)beta)) {
        return complain(CUBLAS_INVALID_VALUE, "cuBLAS: alpha and beta are in the host's memory");
    }
    bool is_double = type_c == CUDA_R_64F;
    struct product task = {
        .a = {(uint64_t)a, lda, stride_a}, .b = {(uint64_t)b, ldb, stride_b},
        .c = {(uint64_t)c, ldc, stride_c}, .m = m, .n = n, .k = k, .batch = batch,
        .trans_a = trans_a != CUBLAS_OP_N, .trans_b = trans_b != CUBLAS_OP_N,
        .alpha = scalar(alpha, is_double), .beta = scalar(beta, is_double),
        .is_double = is_double,
        .tf32 = compute == COMPUTE_32F_FAST_TF32,
    };
    CHECKED(check_product(&task));
    if (find_stream(handle->stream, &stream)) return CUBLAS_EXECUTION_FAILED;
    if (!m || !n || !batch) return CUBLAS_SUCCESS;
    counters.products++;
    bool failed = enqueue((struct operation){PRODUCT, stream, .product = task});
    return failed ? CUBLAS_EXECUTION_FAILED : CUBLAS_SUCCESS;
}

// --- running one ---------------------------------------------------------------------------------

static unsigned char *states_of(uint64_t address) {
    return device_memory.states + ((char *)address - device_memory.start);
}

// Whether a column of one of the matrices may be read (`written`: it must have been), or written.
static CUresult check_column(uint64_t start, size_t bytes, size_t item, bool written,
                             const char *name) {
    const struct allocation *found = find_allocation(start);
    if (!found || bytes > found->start + found->bytes - start) {
        return complain(CUDA_ERROR_ILLEGAL_ADDRESS,
                        "cuBLAS: %zu bytes of %s at 0x%llx are not in one allocation", bytes, name,
                        (unsigned long long)start);
    }
    if (start % item) {
        return complain(CUDA_ERROR_MISALIGNED_ADDRESS, "cuBLAS: %s at 0x%llx", name,
                        (unsigned long long)start);
    }
    for (size_t i = 0; written && i < bytes; i++) {
        if (states_of(start)[i] != WRITTEN) {
            return complain(CUDA_ERROR_ILLEGAL_ADDRESS,
                            "cuBLAS reads byte %zu of a column of %s that nothing wrote", i, name);
        }
    }
    return CUDA_SUCCESS;
}

static CUresult check_columns(const struct product *task, const struct matrix *matrix, int number,
                              int rows, int columns, bool written, const char *name) {
    size_t item = task->is_double ? 8 : 4;
    uint64_t start = matrix->start + (uint64_t)(number * matrix->stride) * item;
    for (int column = 0; column < columns; column++) {
        CHECKED(check_column(start + (uint64_t)column * (uint64_t)matrix->leading * item,
                             (size_t)rows * item, item, written, name));
    }
    return CUDA_SUCCESS;
}

// The address of an element.
static uint64_t element(const struct product *task, const struct matrix *matrix, int number,
                        int row, int column) {
    long long place = number * matrix->stride + (long long)column * matrix->leading + row;
    return matrix->start + (uint64_t)place * (task->is_double ? 8 : 4);
}

static double factor(const struct product *task, const struct matrix *matrix, int number, int row,
                     int column) {
    uint64_t address = element(task, matrix, number, row, column);
    if (task->is_double) return *(const double *)address;
    uint32_t bits = *(const uint32_t *)address;
    if (task->tf32) bits &= 0xffffe000u;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void compute_element(const struct product *task, int number, int row, int column) {
    double sum = 0;
    for (int i = 0; i < task->k; i++) {
        double a = task->trans_a ? factor(task, &task->a, number, i, row)
                                 : factor(task, &task->a, number, row, i);
        double b = task->trans_b ? factor(task, &task->b, number, column, i)
                                 : factor(task, &task->b, number, i, column);
        sum += a * b;
    }
    uint64_t address = element(task, &task->c, number, row, column);
    sum *= task->alpha;
    if (task->is_double) {
        double *c = (double *)address;
        *c = task->beta ? sum + task->beta * *c : sum;
    } else {
        float *c = (float *)address;
        *c = (float)(task->beta ? sum + task->beta * *c : sum);
    }
}

CUresult run_product(const struct product *task) {
    size_t item = task->is_double ? 8 : 4;
    for (int number = 0; number < task->batch; number++) {
        if (task->alpha && task->k) {
            CHECKED(check_columns(task, &task->a, number, task->trans_a ? task->k : task->m,
                                  task->trans_a ? task->m : task->k, true, "a"));
            CHECKED(check_columns(task, &task->b, number, task->trans_b ? task->n : task->k,
                                  task->trans_b ? task->k : task->n, true, "b"));
        }
        CHECKED(check_columns(task, &task->c, number, task->m, task->n, task->beta != 0, "c"));
        for (int column = 0; column < task->n; column++) {
            for (int row = 0; row < task->m; row++) compute_element(task, number, row, column);
            uint64_t start = element(task, &task->c, number, 0, column);
            memset(states_of(start), WRITTEN, (size_t)task->m * item);
        }
    }
    return CUDA_SUCCESS;
}
