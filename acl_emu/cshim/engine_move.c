/* Between operands as they lie in memory, strided or turned, and rows in which their elements follow each other. */
#include "engine_program.h"

#include <stdlib.h>
#include <string.h>

#define COPY_STRIDED(type)                                                                         \
    for (size_t i = 0; i < n; i++) {                                                               \
        memcpy(to + (int64_t)i * to_stride, from + (int64_t)i * from_stride, sizeof(type));         \
    }

static void copy_strided(char *to, int64_t to_stride, const char *from, int64_t from_stride, size_t n, int64_t item)
{
    if (to_stride == item && from_stride == item) {
        const size_t size = n * (size_t)item;
        if (size == 128) { /* lines of blocks: no call */
            memcpy(to, from, 128);
        } else if (size == 64) {
            memcpy(to, from, 64);
        } else {
            memcpy(to, from, size);
        }
        return;
    }
    if (to_stride == item && from_stride == 2 * item && (item == 2 || item == 4)) {
        acl_emu_engine_tiles->every_second[item == 4](to, from, n);
        return;
    }
    switch (item) {
    case 1: COPY_STRIDED(uint8_t) break;
    case 2: COPY_STRIDED(uint16_t) break;
    case 4: COPY_STRIDED(uint32_t) break;
    default: COPY_STRIDED(uint64_t) break;
    }
}

void acl_emu_move_range(const operand_view *operand, char *base, int64_t first, size_t n, char *row, int out)
{
    const range_view *inner = &operand->inner;
    const int64_t item = operand->item, last = inner->count - 1;
    while (n) {
        const int64_t at = first % inner->length[last];
        size_t run = (size_t)(inner->length[last] - at);
        run = run < n ? run : n;
        char *there = base + offset_of(inner, first);
        if (out) {
            copy_strided(there, inner->stride[last], row, item, run, item);
        } else {
            copy_strided(row, item, there, inner->stride[last], run, item);
        }
        row += run * (size_t)item;
        first += (int64_t)run;
        n -= run;
    }
}

/* `count` lines of `length` elements, `stride` apart, become columns of rows that are `row_stride` apart, eight by eight. The lines that come
 * next are asked for meanwhile. */
static void turn_block(const char *lines, int64_t stride, int64_t count, int64_t length, int64_t item, char *row, int64_t row_stride)
{
    for (int64_t k = 0; k < count; k++) {
        for (int64_t byte = 0; byte < length * item; byte += 64) {
            __builtin_prefetch(lines + (count + k) * stride + byte);
        }
    }
    for (int64_t k = 0; k + 8 <= count; k += 8) {
        for (int64_t i = 0; i + 8 <= length; i += 8) {
            acl_emu_engine_tiles->turn[item == 4](row + k * item + i * row_stride, row_stride, lines + k * stride + i * item, stride);
        }
    }
    for (int64_t k = 0; k < count; k++) { /* what eight by eight leave over */
        const int64_t first = k < count / 8 * 8 ? length / 8 * 8 : 0;
        copy_strided(row + k * item + first * row_stride, row_stride, lines + k * stride + first * item, item, (size_t)(length - first), item);
    }
}

static int can_turn(int64_t item)
{
    return item == 2 || item == 4;
}

void acl_emu_move_block(const operand_view *operand, char *base, const place *at, char *row, int out, int streamed)
{
    const int64_t item = operand->item, down = operand->inner.stride[0], across = operand->inner.stride[1];
    char *corner = base + at->i * down + at->j * across;
    const int upright = llabs(down) < llabs(across); /* walk along the shorter way through memory */
    const int64_t lines = upright ? at->columns : at->rows, length = upright ? at->rows : at->columns;
    const int64_t line_stride = upright ? across : down, stride = upright ? down : across;
    const int64_t row_line = upright ? item : at->columns * item, row_stride = upright ? at->columns * item : item;
    if (upright && !out && stride == item && can_turn(item)) {
        turn_block(corner, line_stride, lines, length, item, row, row_stride);
        return;
    }
    char turned[BLOCK_RUN * BLOCK_LINES * sizeof(uint32_t)];
    const char *from = row;
    int64_t from_line = row_line, from_stride = row_stride;
    if (upright && out && stride == item && can_turn(item)) {
        turn_block(row, row_stride, length, lines, item, turned, length * item);
        from = turned;
        from_line = length * item;
        from_stride = item;
    }
    for (int64_t k = 0; k < lines; k++) {
        if (out && streamed && stride == item && from_stride == item) {
            acl_emu_engine_tiles->stream(corner + k * line_stride, from + k * from_line, (size_t)(length * item));
        } else if (out) {
            copy_strided(corner + k * line_stride, stride, from + k * from_line, from_stride, (size_t)length, item);
        } else {
            copy_strided(row + k * row_line, row_stride, corner + k * line_stride, stride, (size_t)length, item);
        }
    }
}

void acl_emu_move_turned(const operand_view *operand, char *memory, int64_t first, int64_t count, size_t n, char *rows, int64_t pitch, int out)
{
    const int64_t item = operand->item, stride = operand->inner.stride[0];
    const int64_t across = operand->outer.length[operand->outer.count - 1];
    while (count) {
        int64_t run = across - first % across;
        run = run < count ? run : count;
        char *corner = memory + offset_of(&operand->outer, first);
        for (int64_t k = 0; k < (int64_t)n; k += BLOCK_LINES) {
            const int64_t lines = (int64_t)n - k < BLOCK_LINES ? (int64_t)n - k : BLOCK_LINES;
            char *line = corner + k * stride, *there = rows + k * item;
            if (!out && can_turn(item)) {
                turn_block(line, stride, lines, run, item, there, pitch);
                continue;
            }
            for (int64_t j = 0; j < lines; j++) {
                if (out) {
                    copy_strided(line + j * stride, item, there + j * item, pitch, (size_t)run, item);
                } else {
                    copy_strided(there + j * item, pitch, line + j * stride, item, (size_t)run, item);
                }
            }
        }
        rows += run * pitch;
        first += run;
        count -= run;
    }
}
