// Connectionist temporal classification (Graves et al., 2006): the loss of class log-probabilities
// p[steps, batch, classes] for targets[batch, longest], and how probable each class is at each step
// if the target comes out. Places count blank, first label, blank, second label ... blank.

// SYMBOL symc_log_sum_fNN
// NEEDS symc_power_fNN symc_logarithm_fNN
// log(exp(a) + exp(b))
static inline real symc_log_sum_fNN(real a, real b) {
    const real more = a > b ? a : b, less = a > b ? b : a;
    return less == -INFINITY ? more : more + symc_logarithm_fNN(1 + symc_power_fNN(less - more));
}

// SYMBOL symc_ctc_one_fNN
// NEEDS symc_log_sum_fNN
// One example. `forward`: for each step and place, the log-probability of all ways that lead there;
// after it are two rows for those that lead on from a place.
static void symc_ctc_one_fNN(int64_t steps, int64_t stride, int64_t places, int64_t width,
                             int64_t blank, const real *p, const int64_t *labels, real *loss,
                             real *posterior, real *forward, real *backward) {
    real total = steps == 0 && places == 1 ? 0 : -INFINITY;
    for (int64_t t = 0; t < steps; t++) {
        const real *row = p + t * stride, *before = forward + (t - 1) * width;
        for (int64_t s = 0; s < places; s++) {
            const int64_t label = s % 2 ? labels[s / 2] : blank;
            real sum = t == 0 ? s < 2 ? 0 : -INFINITY : before[s];
            if (t > 0 && s > 0) sum = symc_log_sum_fNN(sum, before[s - 1]);
            if (t > 0 && s > 2 && s % 2 && label != labels[s / 2 - 1])
                sum = symc_log_sum_fNN(sum, before[s - 2]);
            forward[t * width + s] = sum + row[label];
        }
    }
    for (int64_t s = places > 1 ? places - 2 : 0; steps > 0 && s < places; s++)
        total = symc_log_sum_fNN(total, forward[(steps - 1) * width + s]);
    *loss = -total;
    for (int64_t t = steps - 1; total > -INFINITY && t >= 0; t--) {
        const real *next = p + (t + 1) * stride, *last = backward + (t + 1) % 2 * width;
        real *row = backward + t % 2 * width;
        for (int64_t s = 0; s < places; s++) {
            const int64_t label = s % 2 ? labels[s / 2] : blank;
            real sum = s >= places - 2 ? 0 : -INFINITY;
            if (t + 1 < steps) {
                sum = last[s] + next[label];
                if (s + 1 < places)
                    sum = symc_log_sum_fNN(sum,
                                           last[s + 1] + next[s % 2 ? blank : labels[s / 2]]);
                if (s % 2 && s + 2 < places && label != labels[s / 2 + 1])
                    sum = symc_log_sum_fNN(sum, last[s + 2] + next[labels[s / 2 + 1]]);
            }
            row[s] = sum;
            if (forward[t * width + s] > -INFINITY && sum > -INFINITY)
                posterior[t * stride + label] +=
                    symc_power_fNN(forward[t * width + s] + sum - total);
        }
    }
}

// SYMBOL symc_ctc_fNN
// NEEDS symc_ctc_one_fNN
// `work` has steps + 2 rows of 2 * longest + 1 places for each example.
static void symc_ctc_fNN(int64_t steps, int64_t batch, int64_t classes, int64_t longest,
                         int64_t blank, const real *p, const int64_t *targets,
                         const int64_t *spans, const int64_t *counts, real *loss, real *posterior,
                         real *work, int64_t threads) {
    const int64_t width = 2 * longest + 1, stride = batch * classes;
    for (int64_t k = 0; k < steps * stride; k++) posterior[k] = 0;
    const int many = threads > 1 && (double)batch * steps * width > 1e3;
    _Pragma("omp parallel for schedule(dynamic) num_threads(threads) if(many)")
    for (int64_t b = 0; b < batch; b++) {
        real *forward = work + b * (steps + 2) * width;
        symc_ctc_one_fNN(spans[b], stride, 2 * counts[b] + 1, width, blank, p + b * classes,
                         targets + b * longest, loss + b, posterior + b * classes, forward,
                         forward + steps * width);
    }
}
