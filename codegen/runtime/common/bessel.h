// Bessel functions of order 0 and 1. i0 and i1 are branch-free: loops over them vectorise.

// SYMBOL symc_j0_f64
// NEEDS j0
// J0(x), libm's: near its zeros glibc's has been as accurate as elsewhere since 2.34.
static inline double symc_j0_f64(double x) {
    return j0(x);
}

// SYMBOL symc_j1_f64
// NEEDS j1
// J1(x), libm's.
static inline double symc_j1_f64(double x) {
    return j1(x);
}

// SYMBOL symc_i0_f64
// NEEDS exp fabs sqrt
// I0(x), the modified Bessel function; even, inf from |x| = 713.99 on.
//
// |x| < 12: the power series DLMF 10.25.2, 1 / k!^2, all terms positive. Beyond: sqrt(x) exp(-x)
// I0(x) is smooth in 1 / x; its interpolant at 19 Chebyshev points on [0, 1/12]. exp(x) goes in as
// two factors because it overflows before I0 does.
static inline double symc_i0_f64(double x) {
    double a = fabs(x), z = a < 12.0 ? 0.25 * a * a : 0.0;
    double p = 6.14839762859838e-54;
    p = p * z + 4.156316796932504e-51;
    p = p * z + 2.5976979980828152e-48;
    p = p * z + 1.4962740468957016e-45;
    p = p * z + 7.915289708078262e-43;
    p = p * z + 3.8310002187098785e-40;
    p = p * z + 1.6894710964510564e-37;
    p = p * z + 6.757884385804225e-35;
    p = p * z + 2.4395962632753253e-32;
    p = p * z + 7.904291893012054e-30;
    p = p * z + 2.2843403570804838e-27;
    p = p * z + 5.8479113141260385e-25;
    p = p * z + 1.3157800456783586e-22;
    p = p * z + 2.5789288895295828e-20;
    p = p * z + 4.358389823304995e-18;
    p = p * z + 6.276081345559193e-16;
    p = p * z + 7.594058428126623e-14;
    p = p * z + 7.594058428126624e-12;
    p = p * z + 6.151187326782565e-10;
    p = p * z + 3.936759889140842e-08;
    p = p * z + 1.9290123456790124e-06;
    p = p * z + 6.944444444444444e-05;
    p = p * z + 0.001736111111111111;
    p = p * z + 0.027777777777777776;
    p = p * z + 0.25;
    p = p * z + 1.0;
    p = p * z + 1.0;
    double t = a < 12.0 ? 1.0 : 24.0 / a - 1.0;
    double q = 7.781813701957895e-14;
    q = q * t + 5.141634682609955e-13;
    q = q * t + 2.9244363727941333e-13;
    q = q * t - 2.4264173381335874e-12;
    q = q * t - 4.0843496759638406e-12;
    q = q * t + 7.795407615795011e-13;
    q = q * t + 8.00950436085003e-12;
    q = q * t + 1.192205684602059e-11;
    q = q * t + 1.9119673209503433e-11;
    q = q * t + 4.774608164296453e-11;
    q = q * t + 1.5609100930124313e-10;
    q = q * t + 6.481161201646666e-10;
    q = q * t + 3.4434613603410047e-09;
    q = q * t + 2.3688428086420635e-08;
    q = q * t + 2.1716049995603082e-07;
    q = q * t + 2.7977070193727124e-06;
    q = q * t + 5.598482533378034e-05;
    q = q * t + 0.002182168172116929;
    q = q * t + 0.4010710650668474;
    double half = exp(0.5 * a);
    return a < 12.0 ? p : a < 720.0 ? half * (half * (q / sqrt(a))) : a + INFINITY;
}

// SYMBOL symc_i1_f64
// NEEDS exp fabs sqrt
// I1(x); odd. As symc_i0_f64, with x/2 / (k! (k + 1)!).
static inline double symc_i1_f64(double x) {
    double a = fabs(x), z = a < 12.0 ? 0.25 * a * a : 0.0;
    double p = 2.2771843068882885e-55;
    p = p * z + 1.5985833834355786e-52;
    p = p * z + 1.0390791992331261e-49;
    p = p * z + 6.234475195398757e-47;
    p = p * z + 3.4414303078601135e-44;
    p = p * z + 1.7413637357772174e-41;
    p = p * z + 8.045100459290744e-39;
    p = p * z + 3.3789421929021126e-36;
    p = p * z + 1.2839980333028028e-33;
    p = p * z + 4.391273273895586e-31;
    p = p * z + 1.3437296218120491e-28;
    p = p * z + 3.654944571328774e-26;
    p = p * z + 8.771866971189057e-24;
    p = p * z + 1.842092063949702e-21;
    p = p * z + 3.352607556388458e-19;
    p = p * z + 5.230067787965994e-17;
    p = p * z + 6.903689480115112e-15;
    p = p * z + 7.594058428126623e-13;
    p = p * z + 6.834652585313961e-11;
    p = p * z + 4.920949861426052e-09;
    p = p * z + 2.755731922398589e-07;
    p = p * z + 1.1574074074074073e-05;
    p = p * z + 0.00034722222222222224;
    p = p * z + 0.006944444444444444;
    p = p * z + 0.08333333333333333;
    p = p * z + 0.5;
    p = p * z + 1.0;
    double t = a < 12.0 ? 1.0 : 24.0 / a - 1.0;
    double q = -8.979746185563769e-14;
    q = q * t - 5.382769736311917e-13;
    q = q * t - 2.4981842916687204e-13;
    q = q * t + 2.574176502777145e-12;
    q = q * t + 4.154255136591194e-12;
    q = q * t - 9.725564417468879e-13;
    q = q * t - 8.414878010595835e-12;
    q = q * t - 1.2540061638175926e-11;
    q = q * t - 2.046268951651653e-11;
    q = q * t - 5.181617810430159e-11;
    q = q * t - 1.720015221928054e-10;
    q = q * t - 7.28232163985399e-10;
    q = q * t - 3.967583294642738e-09;
    q = q * t - 2.8253696498045836e-08;
    q = q * t - 2.7268454458098413e-07;
    q = q * t - 3.8279513554254895e-06;
    q = q * t - 9.124755355089437e-05;
    q = q * t - 0.006405453603482359;
    q = q * t + 0.39262449420411655;
    double half = exp(0.5 * a);
    double far = a < 720.0 ? half * (half * (q / sqrt(a))) : a + INFINITY;
    return a < 12.0 ? 0.5 * x * p : x < 0.0 ? -far : far;
}
