/* Steps along alignments: logarithms of sums of exponentials, on vectors. build.py compiles this once for each instruction set. */
#include "alignments.h"
#include "engine_types.h"

/* The largest term counts as 1, so that what the others add is not lost where it is small; of infinities there is nothing to subtract. */
static inline double_vector log_sum_of(double_vector a, double_vector b, double_vector c)
{
    const double_vector high = maximum_double(a, b), low = minimum_double(a, b), most = maximum_double(high, c), middle = minimum_double(high, c);
    const double_vector base = select_double(less_double(absolute_double(most), all_double(INFINITY)), most, all_double(0));
    return most + log1p_of_double(exp_of_double(low - base) + exp_of_double(middle - base));
}

static inline double_vector where_skipped(const int64_t *skip, double_vector scores)
{
    double_vector chosen;
    memcpy(&chosen, skip, sizeof chosen); /* all bits are no number, none are zero */
    return select_double(not_equal_double(chosen, chosen), scores, all_double(-INFINITY));
}

static void arrive(double *next, const double *scores, const int64_t *skip, const double *emitted, int64_t states)
{
    for (int64_t s = 0; s < states; s += DOUBLES) {
        const double_vector skipped = where_skipped(skip + s, read_double(scores + s - 2));
        write_double(next + s, log_sum_of(read_double(scores + s), read_double(scores + s - 1), skipped) + read_double(emitted + s));
    }
}

static void depart(double *before, const double *scores, const int64_t *skip, int64_t states)
{
    for (int64_t s = 0; s < states; s += DOUBLES) {
        const double_vector skipped = where_skipped(skip + s + 2, read_double(scores + s + 2));
        write_double(before + s, log_sum_of(read_double(scores + s), read_double(scores + s + 1), skipped));
    }
}

static void share(double *shares, const double *scores, const double *after, double loss, int64_t states)
{
    for (int64_t s = 0; s < states; s += DOUBLES) {
        write_double(shares + s, exp_of_double(read_double(scores + s) + read_double(after + s) + all_double(loss)));
    }
}

static void slope(double *numbers, const double *shares, double grad, int64_t count)
{
    for (int64_t n = 0; n < count; n += DOUBLES) {
        write_double(numbers + n, (exp_of_double(read_double(numbers + n)) - read_double(shares + n)) * all_double(grad));
    }
}

static double log_sum(double first, double second)
{
    return log_sum_of(all_double(first), all_double(second), all_double(-INFINITY))[0];
}

const alignment_steps ALIGNMENTS = {arrive, depart, share, slope, log_sum};
