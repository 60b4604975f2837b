static inline double waves_half(double x) { return x / 2; }
