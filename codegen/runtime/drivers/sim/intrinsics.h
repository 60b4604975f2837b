// Device functions that are a few instructions: bits of floats, integers, cached loads.

template <class To, class From>
static inline To symc_sim_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

static inline float __int_as_float(int x) { return symc_sim_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return symc_sim_bits<float>(x); }
static inline int __float_as_int(float x) { return symc_sim_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return symc_sim_bits<unsigned>(x); }
static inline double __longlong_as_double(long long x) { return symc_sim_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return symc_sim_bits<long long>(x); }
static inline int __double2hiint(double x) { return (int)(symc_sim_bits<long long>(x) >> 32); }
static inline int __double2loint(double x) { return (int)symc_sim_bits<long long>(x); }
static inline double __hiloint2double(int high, int low) {
    return symc_sim_bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) {
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
static inline long long __mul64hi(long long a, long long b) {
    return (long long)((__int128)a * b >> 64);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; bit++) reversed |= (x >> bit & 1) << (31 - bit);
    return reversed;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int place = 0; place < 4; place++) {
        result |= (unsigned)(bytes >> (selector >> 4 * place & 7) * 8 & 0xff) << 8 * place;
    }
    return result;
}

// Hints about caches have no meaning here. The type of a value follows from that of its address.
template <class T> struct symc_sim_same {
    typedef T type;
};
template <class T> static inline T __ldg(const T *address) { return *address; }
template <class T> static inline T __ldca(const T *address) { return *address; }
template <class T> static inline T __ldcg(const T *address) { return *address; }
template <class T> static inline T __ldcs(const T *address) { return *address; }
template <class T> static inline T __ldcv(const T *address) { return *address; }
template <class T> static inline T __ldlu(const T *address) { return *address; }
template <class T>
static inline void __stcg(T *address, typename symc_sim_same<T>::type value) {
    *address = value;
}
template <class T>
static inline void __stcs(T *address, typename symc_sim_same<T>::type value) {
    *address = value;
}
template <class T>
static inline void __stwb(T *address, typename symc_sim_same<T>::type value) {
    *address = value;
}
template <class T>
static inline void __stwt(T *address, typename symc_sim_same<T>::type value) {
    *address = value;
}
