/* Steps along alignments: logarithms of sums of exponentials. build.py compiles this once for each instruction set. */
#include "alignments.h"
#include "functions.h"

/* The largest term counts as 1, so that what the others add is not lost where it is small; of infinities there is nothing to subtract. */
INLINE double log_sum_of(double a, double b, double c)
{
    const double high = maximum_f64(a, b), low = minimum_f64(a, b), most = maximum_f64(high, c), middle = minimum_f64(high, c);
    const double base = fabs(most) < INFINITY ? most : 0;
    return most + log1p_f64(exp_f64(low - base) + exp_f64(middle - base));
}

static void arrive(double *restrict next, const double *scores, const int64_t *skip, const double *emitted, int64_t states)
{
    for (int64_t s = 0; s < states; s++) {
        const double skipped = scores[s - 2];
        next[s] = log_sum_of(scores[s], scores[s - 1], skip[s] ? skipped : -INFINITY) + emitted[s];
    }
}

static void depart(double *restrict before, const double *scores, const int64_t *skip, int64_t states)
{
    for (int64_t s = 0; s < states; s++) {
        const double skipped = scores[s + 2];
        before[s] = log_sum_of(scores[s], scores[s + 1], skip[s + 2] ? skipped : -INFINITY);
    }
}

static void share(double *restrict shares, const double *scores, const double *after, double loss, int64_t states)
{
    for (int64_t s = 0; s < states; s++) {
        shares[s] = exp_f64(scores[s] + after[s] + loss);
    }
}

static void slope(double *restrict numbers, const double *shares, double grad, int64_t count)
{
    for (int64_t n = 0; n < count; n++) {
        numbers[n] = (exp_f64(numbers[n]) - shares[n]) * grad;
    }
}

static double log_sum(double first, double second)
{
    return log_sum_of(first, second, -INFINITY);
}

const alignment_steps ALIGNMENTS = {arrive, depart, share, slope, log_sum};
