/* What matrix products are made of, compiled once for each instruction set: packed rows and columns, and tiles of the result. */
#ifndef ACL_EMU_GEMM_H
#define ACL_EMU_GEMM_H

#include "engine.h"

/* Terms that are added up one after the other; what they come to is added up then. Known to
 * aclnnop/matmul/fused_linear_cross_entropy_loss_grad.py. */
enum { PIECE = 256 };

/* What is made of factors before they are multiplied. The order is known to acl_emu/engine/matmul.py. */
enum { UNCHANGED, AS_HALF, AS_HF32 };

/* Elements of type F32, F16 or BF16, and bytes between rows and between columns. */
typedef struct {
    char *memory;
    int64_t dtype, down, across;
} matrix;

/* What becomes of the sums of a tile. */
typedef struct {
    matrix partial; /* FLOAT with contiguous rows: where sums are until they are complete, which may be the result itself */
    int64_t continued; /* whether they begin with what is there */
    int64_t complete; /* whether out = alpha × sums + beta × added, or nothing added, follows, from what is in `partial` and the tile */
    matrix out, added; /* no memory: nothing is added */
    float alpha, beta;
} tile_end;

typedef struct {
    int64_t rows, columns; /* of a tile */
    int64_t width; /* numbers that a row of a packed left matrix takes: at least `rows` */
    /* to[d × width + n] = element n at depth d, of `count` and zeros up to whole vectors; strides in bytes. Depths are written in whole
     * vectors, too. */
    void (*pack)(float *to, int64_t width, const char *from, int64_t dtype, int64_t stride, int64_t depth_stride, int64_t count, int64_t depth);
    /* The same numbers as a narrower type holds them; whole vectors. */
    void (*lower)(float *numbers, int64_t count, int64_t how);
    /* The sums of one tile, `columns` of a whole one apart, from packed rows and columns. */
    void (*multiply)(float *sums, const float *a, const float *b, int64_t depth, int64_t rows, int64_t columns);
    /* The same from contiguous rows, `down` numbers apart, as they lie. */
    void (*multiply_rows)(float *sums, const float *a, int64_t down, const float *b, int64_t depth, int64_t rows, int64_t columns);
    /* The sums of few rows for any number of columns, in tiles one behind the other, from packed rows and a right matrix as it lies. A row alone
     * is packed as it is, others in panels of some size. `pieces` holds as many sums. */
    void (*multiply_thin)(float *sums, float *pieces, const float *a, int64_t size, const matrix *b, int64_t lowered, int64_t depth, int64_t rows,
                          int64_t columns);
    /* Of a row and a column the sums of pieces that follow each other, or of a part of one. */
    void (*multiply_pieces)(float *sums, const matrix *a, const matrix *b, int64_t lowered, int64_t count, int64_t depth);
    void (*finish)(const tile_end *end, float *sums, int64_t row, int64_t column, int64_t rows, int64_t columns);
} gemm_code;

extern const gemm_code acl_emu_products_baseline;
extern const gemm_code acl_emu_products_v3;
extern const gemm_code acl_emu_products_v4;

#endif
