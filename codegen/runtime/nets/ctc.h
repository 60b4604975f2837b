// Connectionist temporal classification (Graves et al., 2006): the loss of class log-probabilities
// p[steps, batch, classes] for targets[batch, longest], and how probable each class is at each step
// if the target comes out. Places count blank, first label, blank, second label ... blank. A way
// goes on to the same place, the next one, or over a blank between two labels that are not the
// same; what leads to all places of a step is computed in vectors.

// SYMBOL symc_log_sum_fNN
// NEEDS symc_decay_fNN symc_logarithm_fNN
// log(exp(a) + exp(b) + exp(c))
SYMC_INLINE real symc_log_sum_fNN(real a, real b, real c) {
    real most = a > b ? a : b;
    most = most > c ? most : c;
    const real shift = most == -INFINITY ? 0 : most;
    const real sum = symc_decay_fNN(a - shift) + symc_decay_fNN(b - shift);
    return shift + symc_logarithm_fNN(sum + symc_decay_fNN(c - shift));
}

// SYMBOL symc_ctc_rows_fNN
// The log-probabilities of all places in a step, and for each place 0 where a way may come to it
// over a blank, else -inf.
static void symc_ctc_here_fNN(int64_t places, int64_t blank, const real *p, const int64_t *labels,
                              real *here) {
    for (int64_t k = 0; k < places / 2; k++) here[2 * k] = p[blank], here[2 * k + 1] = p[labels[k]];
    here[places - 1] = p[blank];
}
static void symc_ctc_over_fNN(int64_t places, const int64_t *labels, real *over) {
    for (int64_t s = 0; s < places; s++)
        over[s] = s > 2 && s % 2 && labels[s / 2] != labels[s / 2 - 1] ? 0 : -INFINITY;
}

// SYMBOL symc_ctc_forward_fNN
// NEEDS symc_log_sum_fNN symc_ctc_rows_fNN
// For each step and place, the log-probability of all ways that lead there: rows of `width` numbers
// with two before the first place. Returns that of all ways.
static real symc_ctc_forward_fNN(int64_t steps, int64_t stride, int64_t places, int64_t width,
                                 int64_t blank, const real *p, const int64_t *labels,
                                 const real *over, real *here, real *forward) {
    if (steps == 0) return places == 1 ? 0 : -INFINITY;
    for (int64_t t = 0; t < steps; t++) {
        real *const row = forward + t * width + 2;
        const real *const before = row - width;
        symc_ctc_here_fNN(places, blank, p + t * stride, labels, here);
        row[-1] = row[-2] = -INFINITY;
        if (t == 0)
            for (int64_t s = 0; s < places; s++) row[s] = s < 2 ? here[s] : -INFINITY + here[s];
        else
            _Pragma("omp simd")
            for (int64_t s = 0; s < places; s++)
                row[s] = here[s] +
                         symc_log_sum_fNN(before[s], before[s - 1], before[s - 2] + over[s]);
    }
    const real *const last = forward + (steps - 1) * width + 2 + places;
    return symc_log_sum_fNN(last[-1], last[-2], -INFINITY);
}

// SYMBOL symc_ctc_back_fNN
// NEEDS symc_log_sum_fNN symc_power_fNN symc_ctc_rows_fNN
// Adds to the posterior of each class, from the last step on. `next`: for each place, the
// log-probability of all ways from there on, with its own, and two numbers after the last place.
static void symc_ctc_back_fNN(int64_t steps, int64_t stride, int64_t places, int64_t width,
                              int64_t blank, const real *p, const int64_t *labels,
                              const real *over, const real *forward, real total, real *here,
                              real *next, real *posterior) {
    for (int64_t t = steps - 1; t >= 0; t--) {
        const real *const row = forward + t * width + 2;
        real *const to = posterior + t * stride;
        if (t == steps - 1)
            for (int64_t s = 0; s < places; s++) next[s] = s < places - 2 ? -INFINITY : 0;
        else
            _Pragma("omp simd")  // what is read is at this place or after it
            for (int64_t s = 0; s < places; s++)
                here[s] = symc_log_sum_fNN(next[s], next[s + 1], next[s + 2] + over[s + 2]);
        for (int64_t s = 0; t < steps - 1 && s < places; s++) next[s] = here[s];
        next[places] = next[places + 1] = -INFINITY;
#pragma omp simd
        for (int64_t s = 0; s < places; s++) {
            const real power = symc_power_fNN(row[s] + next[s] - total);
            here[s] = row[s] > -INFINITY && next[s] > -INFINITY ? power : 0;
        }
        real rest = here[places - 1];
        for (int64_t k = 0; k < places / 2; k++) {
            rest += here[2 * k];
            to[labels[k]] += here[2 * k + 1];
        }
        to[blank] += rest;
        symc_ctc_here_fNN(places, blank, p + t * stride, labels, here);
#pragma omp simd
        for (int64_t s = 0; s < places; s++) next[s] += here[s];
    }
}

// SYMBOL symc_ctc_fNN
// NEEDS symc_ctc_forward_fNN symc_ctc_back_fNN
// `work` has steps + 3 rows of 2 * longest + 3 numbers for each example.
static void symc_ctc_fNN(int64_t steps, int64_t batch, int64_t classes, int64_t longest,
                         int64_t blank, const real *p, const int64_t *targets,
                         const int64_t *spans, const int64_t *counts, real *loss, real *posterior,
                         real *work, int64_t threads) {
    const int64_t width = 2 * longest + 3, stride = batch * classes;
    __builtin_memset(posterior, 0, (size_t)(steps * stride) * sizeof(real));
    const int many = threads > 1 && (double)batch * steps * width > 1e3;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t b = 0; b < batch; b++) {
        real *const forward = work + b * (steps + 3) * width, *const over = forward + steps * width;
        real *const here = over + width, *const next = here + width;
        const int64_t places = 2 * counts[b] + 1, *const labels = targets + b * longest;
        symc_ctc_over_fNN(places, labels, over);
        over[places] = over[places + 1] = -INFINITY;
        const real total = symc_ctc_forward_fNN(spans[b], stride, places, width, blank,
                                                p + b * classes, labels, over, here, forward);
        loss[b] = -total;
        if (total > -INFINITY)
            symc_ctc_back_fNN(spans[b], stride, places, width, blank, p + b * classes, labels, over,
                              forward, total, here, next, posterior + b * classes);
    }
}
