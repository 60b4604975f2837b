// The tasks that the host functions of deviceblas.h give the kernels of gemm.cuh: one text for both
// sides. Addresses are the device's. Nothing reads c or y where beta is 0.

// SYMBOL symc_product
// c[m, n] = alpha a[m, k] b[k, n] + beta c for `batch` matrices, `step` elements apart. Element
// (i, j) is `row` i + `column` j elements after the first; c's `column` is 1. All have the length
// k, but together no more than k_end: so the parts of one long product are a batch.
typedef struct symc_product {
    int64_t batch, m, n, k, k_end;
    const void *a;
    int64_t row_a, column_a, step_a;
    const void *b;
    int64_t row_b, column_b, step_b;
    void *c;
    int64_t row_c, step_c;
    double alpha, beta;
} symc_product;

// SYMBOL symc_vector_product
// y = alpha a x + beta y for a matrix of rows that are `row` elements apart; or with its transpose,
// in pieces of `piece` rows that give an y each, one after the other.
typedef struct symc_vector_product {
    int64_t rows, columns, row, piece;
    const void *a;
    const void *x;  // 0: ones
    void *y;
    double alpha, beta;
} symc_vector_product;
