// Gives a program the functions of a BLAS, and of LAPACK, that are linked to it.
//
// With USE_CBLAS, products of matrices are those of a BLAS; without, the program has loops of its
// own. A program that factorises matrices has LAPACK_TABLE(use), which uses each name in order.

#ifdef USE_CBLAS
void cblas_sgemm(void);
void cblas_dgemm(void);
void cblas_ssyrk(void);
void cblas_dsyrk(void);
#endif

#ifdef LAPACK_TABLE
#define DECLARE(name) void name(void);
LAPACK_TABLE(DECLARE)
#undef DECLARE
#endif

static int one_thread(void) {
    return 1;
}
static void set_threads(int count) {
    (void)count;
}

static void find_blas(void) {
    static int64_t guard[3];
    symc_imports.functions[2] = (void *)one_thread;
    symc_imports.functions[3] = (void *)set_threads;
    symc_imports.guard = guard;
#ifdef USE_CBLAS
    symc_imports.functions[0] = (void *)cblas_sgemm;
    symc_imports.functions[1] = (void *)cblas_dgemm;
    symc_imports.functions[4] = (void *)cblas_ssyrk;
    symc_imports.functions[5] = (void *)cblas_dsyrk;
#endif
#ifdef LAPACK_TABLE
    int number = 0;
#define ENTER(name) symc_lapack[number++] = (void *)name;
    LAPACK_TABLE(ENTER)
#undef ENTER
#endif
}
