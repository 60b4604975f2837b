// Error functions: those that libm lacks, and a faster one. Branch-free: loops over them vectorise.

// SYMBOL symc_erfc_f32
// NEEDS fabsf fmaf symc_exp_from_104_f32
// 1 - erf(x), at most 4.0 ulp off (4.4 without fused multiply-add), in less than a quarter of the
// time of libmvec's (1.6 ulp).
//
// For x >= 0, exp(x^2) erfc(x) is t q(t) for t = 1 / (1 + 0.42 x), where q is almost a polynomial
// of degree 9. (Of factors from 0.3 to 2 that were tried 0.42 is the best: error 2^-28.5. The
// coefficients are minimax, their last bits chosen for a small error of this function.) What
// 1 + 0.42 x and t were rounded by changes t q(t) by 1 to 2.7 times as much of it: it is corrected
// by 1.75 times that, as exp is by what rounding x * x lost. Beyond 10.1 the result is 0; and
// erfc(-x) = 2 - erfc(x).
static inline float symc_erfc_f32(float x) {
    float a = fabsf(x);
    a = a > 10.1f ? 10.1f : a;
    float d = 0.42f * a + 1.0f, t = 1.0f / d, s = t - 0.5f;
    float left = fmaf(-t, d, 1.0f) - ((1.0f - d) + 0.42f * a) * t;
    float p = -0.0411320031f;
    p = p * s + 0.0455803275f;
    p = p * s + 0.0659428984f;
    p = p * s - 0.0831056163f;
    p = p * s - 0.149774507f;
    p = p * s + 0.0780176073f;
    p = p * s + 0.462269843f;
    p = p * s + 0.698726654f;
    p = p * s + 0.655950487f;
    p = p * s + 0.44004935f;
    float square = a * a;
    float lost = fmaf(a, a, -square) - 1.75f * left;
    p = symc_exp_from_104_f32(-square) * (t * p);
    p = p - p * lost;
    return x < 0.0f ? 2.0f - p : p;
}

// SYMBOL symc_erfcx_of_size_f64
// exp(x^2) erfc(x) for x >= 0, of which (1 + 2x) erfcx(x) is smooth up to infinity and a polynomial in
// t = (x - k) / (x + k), k = 3.75: Shepherd and Laframboise, Math. Comp. 36 (1981) 249. The
// coefficients are those of its interpolant at 27 Chebyshev points, in 60 digits (error 1e-19).
static inline double symc_erfcx_of_size_f64(double a) {
    double t = 1.0 - 7.5 / (a + 3.75);
    double p = -7.666209795998097e-11;
    p = p * t - 3.7587308035623257e-11;
    p = p * t + 9.234867707529155e-10;
    p = p * t + 5.460657473630792e-10;
    p = p * t - 6.606829477916605e-09;
    p = p * t - 4.390251943140879e-09;
    p = p * t + 4.107398937332565e-08;
    p = p * t + 2.429131177189471e-08;
    p = p * t - 2.6125820988901525e-07;
    p = p * t - 5.826439766695699e-08;
    p = p * t + 1.7535246298697825e-06;
    p = p * t - 9.728484952656482e-07;
    p = p * t - 1.144508983794941e-05;
    p = p * t + 2.2383911531916976e-05;
    p = p * t + 5.1649421745236465e-05;
    p = p * t - 0.0002901539791322486;
    p = p * t + 0.000293713591593492;
    p = p * t + 0.0017556258323895534;
    p = p * t - 0.009746579547145438;
    p = p * t + 0.028362277421519668;
    p = p * t - 0.05869339859058929;
    p = p * t + 0.09230432116019804;
    p = p * t - 0.10880393014170556;
    p = p * t + 0.08227673849015103;
    p = p * t + 0.003585415485463656;
    p = p * t - 0.14024059858554702;
    p = p * t + 1.2375126308378275;
    return 0.5 * p / (0.5 + a);
}

// SYMBOL symc_erfcx_f64
// NEEDS exp fabs fma symc_erfcx_of_size_f64
// exp(x^2) erfc(x). erfcx(-inf) = inf, erfcx(inf) = 0, overflows below -26.6287.
//
// For x < 0, erfcx(x) = 2 exp(x^2) - erfcx(-x); fma recovers the error of rounding x * x, which exp
// would multiply by up to 709.
static inline double symc_erfcx_f64(double x) {
    double a = fabs(x), p = symc_erfcx_of_size_f64(a);
    double square = a * a;
    double lost = fma(a, a, -square);
    double mirrored = 2.0 * exp(square) * (1.0 + lost) - p;
    return x < 0.0 ? (a < 26.7 ? mirrored : INFINITY) : p;
}

// SYMBOL symc_erfinv_f64
// NEEDS fabs log sqrt
// The inverse of erf. erfinv(1) = inf, erfinv(-1) = -inf, NaN outside [-1, 1].
//
// M. B. Giles, "Approximating the erfinv function", GPU Computing Gems 2 (2012): erfinv(x) / x is
// smooth in w = -log(1 - x^2), and for large w in sqrt(w). The pieces w < 6.25, sqrt(w) in
// [2.5, 4] and [4, 6.03] (which holds the last double below 1) are interpolants at 23, 19 and 19
// Chebyshev points of erfinv(x) / x, that found by Halley's method on erfc in 60 digits.
static inline double symc_erfinv_f64(double x) {
    double w = -log((1.0 - x) * (1.0 + x));
    double root = sqrt(w);
    double t = w * 0.32 - 1.0;
    double p = -1.8199034168726056e-11;
    p = p * t - 4.138396507936207e-09;
    p = p * t + 8.699377880241274e-09;
    p = p * t + 2.8085454480599277e-08;
    p = p * t - 1.0426210588989032e-07;
    p = p * t + 5.601549819901144e-09;
    p = p * t + 5.444465821755199e-07;
    p = p * t - 1.0734591410364882e-06;
    p = p * t - 6.866552594632471e-07;
    p = p * t + 7.1383125443102916e-06;
    p = p * t - 1.125619146677325e-05;
    p = p * t - 1.5030870369108395e-05;
    p = p * t + 9.336711350835166e-05;
    p = p * t - 0.0001168880630842072;
    p = p * t - 0.00026439362645934515;
    p = p * t + 0.0012324854519911068;
    p = p * t - 0.001271692271958298;
    p = p * t - 0.00413731436767485;
    p = p * t + 0.017808361818432112;
    p = p * t - 0.022604447453825078;
    p = p * t - 0.058922567103779404;
    p = p * t + 0.7504943200799679;
    p = p * t + 1.6536545626831027;
    double u = (root - 3.25) * (4.0 / 3.0);
    double q = -2.159829264980955e-12;
    q = q * u + 6.819336997989723e-10;
    q = q * u - 2.6921670135260728e-09;
    q = q * u + 2.448720579642754e-10;
    q = q * u + 2.6652555523279727e-08;
    q = q * u - 9.536038433614285e-08;
    q = q * u + 9.272847268010501e-08;
    q = q * u + 5.268978286875368e-07;
    q = q * u - 2.6647290027131336e-06;
    q = q * u + 5.1271458282959595e-06;
    q = q * u + 2.405849826863639e-06;
    q = q * u - 4.739178791780613e-05;
    q = q * u + 0.00016966502384997928;
    q = q * u - 0.0004006357032703787;
    q = q * u + 0.0007883078512000405;
    q = q * u - 0.0015825410891285008;
    q = q * u + 0.0030211394363764865;
    q = q * u + 0.7539442257706194;
    q = q * u + 3.0838856104922208;
    double v = (root - 5.015625) * (64.0 / 65.0);
    double r = -2.461372187712438e-11;
    r = r * v + 4.938317143599374e-11;
    r = r * v + 9.291666105841788e-11;
    r = r * v - 5.324290218628494e-10;
    r = r * v + 1.5275727290015962e-09;
    r = r * v - 3.901774790419104e-09;
    r = r * v + 8.589375277430242e-09;
    r = r * v - 1.6433745954634145e-08;
    r = r * v + 3.0975512083016616e-08;
    r = r * v - 7.268497994940425e-08;
    r = r * v + 2.48892836489292e-07;
    r = r * v - 1.0756019256465377e-06;
    r = r * v + 4.84978868831318e-06;
    r = r * v - 2.0815146628867427e-05;
    r = r * v + 7.923894688283964e-05;
    r = r * v - 0.00022034210491602595;
    r = r * v - 0.0001533710904350916;
    r = r * v + 1.0260818481335074;
    r = r * v + 4.865692311489308;
    double ratio = w < 6.25 ? p : root < 4.0 ? q : r;
    return fabs(x) == 1.0 ? x * INFINITY : x * ratio;
}

// SYMBOL symc_erfinv_f32
// NEEDS fabsf logf sqrtf
// See symc_erfinv_f64: 13 and 10 points, the second piece up to the last float below 1.
static inline float symc_erfinv_f32(float x) {
    float w = -logf((1.0f - x) * (1.0f + x));
    float t = w * 0.32f - 1.0f;
    float p = -1.0903444e-05f;
    p = p * t + 1.5787972e-06f;
    p = p * t + 9.204977e-05f;
    p = p * t - 1.3508115e-04f;
    p = p * t - 2.633802e-04f;
    p = p * t + 1.2426903e-03f;
    p = p * t - 1.2720206e-03f;
    p = p * t - 4.1401805e-03f;
    p = p * t + 1.7808406e-02f;
    p = p * t - 2.2604097e-02f;
    p = p * t - 5.892257e-02f;
    p = p * t + 7.504943e-01f;
    p = p * t + 1.6536546e+00f;
    float u = (sqrtf(w) - 3.3125f) * (16.0f / 13.0f);
    float q = 9.086068e-06f;
    q = q * u - 1.1674357e-06f;
    q = q * u - 8.037396e-05f;
    q = q * u + 2.4062295e-04f;
    q = q * u - 4.8065337e-04f;
    q = q * u + 8.753796e-04f;
    q = q * u - 1.7110396e-03f;
    q = q * u + 3.1177255e-03f;
    q = q * u + 8.172846e-01f;
    q = q * u + 3.1467345e+00f;
    return fabsf(x) == 1.0f ? x * (float)INFINITY : x * (w < 6.25f ? p : q);
}
