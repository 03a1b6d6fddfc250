/* Steps along alignments (see aclnnop/loss/alignments.py), compiled once for each instruction set. */
#ifndef ACL_EMU_ALIGNMENTS_H
#define ACL_EMU_ALIGNMENTS_H

#include <stdint.h>

enum { STATE_ROOM = 8 }; /* doubles before and behind states that steps may read, and behind those that they may write */

/* Scores are logarithms; skip: of each state all bits, or none, for whether it can follow the one two before it. */
typedef struct {
    /* next = scores of all that come before each state, and of what it emits */
    void (*arrive)(double *next, const double *scores, const int64_t *skip, const double *emitted, int64_t states);
    /* before = scores of all that come after each state */
    void (*depart)(double *before, const double *scores, const int64_t *skip, int64_t states);
    /* shares = exp(scores + after + loss) */
    void (*share)(double *shares, const double *scores, const double *after, double loss, int64_t states);
    /* numbers = (exp(numbers) - shares) * grad */
    void (*slope)(double *numbers, const double *shares, double grad, int64_t count);
    double (*log_sum)(double first, double second);
} alignment_steps;

extern const alignment_steps acl_emu_alignments_baseline;
extern const alignment_steps acl_emu_alignments_v3;
extern const alignment_steps acl_emu_alignments_v4;

#endif
