/* mc-strassen - the product of two square matrices by Strassen's decomposition (1969), 7 products of halves in place of
 * 8, `depth` times over. First phase: a stripe is one of the 7^depth products; its operands are sums of up to 2^depth
 * blocks. Second phase: a stripe is some rows of a block of the result, a sum of products.
 *
 * Products that the outer threads cannot share evenly are cut into parts by rows, one for each of them.
 *
 * The entries are small whole numbers, so every order of the additions gives the same bits, and so do plain loops. */
#include "mc.h"
#include "move.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 2, MOST_TERMS = 4, MOST_PRODUCTS = 49, MOST_BLOCKS = 16, MOST_PARTS = 16 };

static unsigned size = 64, depth = 2;
static float *left, *right, *products, *result;

/* A sum of blocks or products: the number, and whether it is subtracted. */
struct terms {
    uint8_t num, which[MOST_PARTS], minus[MOST_PARTS];
};
struct operands {
    uint8_t num, which[MOST_TERMS], minus[MOST_TERMS];
};

struct near {
    const float *left, *right;
    float *products, *result;
    unsigned size, side, leaf, rows; /* of a matrix; blocks in a row of it; entries in a row of a block; rows of a
                                        stripe of the second phase */
    unsigned whole, parts;           /* products that are a stripe each; stripes of each of the others */
    struct operands a[MOST_PRODUCTS], b[MOST_PRODUCTS];
    struct terms c[MOST_BLOCKS];
};
static struct near block;

/* Of one level; blocks 11, 12, 21, 22 are 0 .. 3. */
static const signed char of_left[7][4] = {{1, 0, 0, 1}, {0, 0, 1, 1},  {1, 0, 0, 0}, {0, 0, 0, 1},
                                          {1, 1, 0, 0}, {-1, 0, 1, 0}, {0, 1, 0, -1}};
static const signed char of_right[7][4] = {{1, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, -1}, {-1, 0, 1, 0},
                                           {0, 0, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 1}};
static const signed char of_result[4][7] = {
    {1, 0, 0, 1, -1, 0, 1}, {0, 0, 1, 0, 1, 0, 0}, {0, 1, 0, 1, 0, 0, 0}, {1, -1, 1, 0, 0, 1, 0}};

/* The number of a block, row by row of blocks, from its place on each level. */
static unsigned block_number(unsigned path)
{
    unsigned row = 0, column = 0, side = 1u << depth;

    for (unsigned level = 0, shift = 2 * (depth - 1); level < depth; level++, shift -= 2) {
        row = 2 * row + (path >> shift >> 1 & 1);
        column = 2 * column + (path >> shift & 1);
    }
    return row * side + column;
}

/* The sign that a table of one level gives over all levels: -1, 0, 1. from, to: digits of base 4 or 7. */
static int sign_of(const signed char *table, unsigned columns, unsigned row_base, unsigned row, unsigned column)
{
    int sign = 1;

    for (unsigned level = 0; level < depth; level++, row /= row_base, column /= columns)
        sign *= table[(row % row_base) * columns + column % columns];
    return sign;
}

static void fill_operands(struct operands *o, const signed char *table, unsigned product)
{
    for (unsigned path = 0; path < 1u << 2 * depth; path++) {
        int sign = sign_of(table, 4, 7, product, path);
        if (sign) {
            o->which[o->num] = (uint8_t)block_number(path);
            o->minus[o->num++] = sign < 0;
        }
    }
}

static void fill_tables(unsigned num_products)
{
    for (unsigned m = 0; m < num_products; m++) {
        fill_operands(&block.a[m], of_left[0], m);
        fill_operands(&block.b[m], of_right[0], m);
    }
    for (unsigned path = 0; path < 1u << 2 * depth; path++) {
        struct terms *c = &block.c[block_number(path)];
        for (unsigned m = 0; m < num_products; m++) {
            int sign = sign_of(of_result[0], 7, 4, path, m);
            if (sign) {
                c->which[c->num] = (uint8_t)m;
                c->minus[c->num++] = sign < 0;
            }
        }
    }
}

/* Of a stripe of the first phase: its product, and its rows of that. */
static unsigned product_of(const struct near *n, unsigned s, unsigned *first, unsigned *rows)
{
    *first = 0;
    *rows = n->leaf;
    if (s < n->whole)
        return s;
    *rows = n->leaf / n->parts;
    *first = (s - n->whole) % n->parts * *rows;
    return n->whole + (s - n->whole) / n->parts;
}

/* Entries begin .. end of the sum of the terms, which stand one behind the other; the first one becomes the sum. */
static void add_terms(float *terms, unsigned count, const uint8_t *minus, unsigned entries, unsigned begin,
                      unsigned end)
{
    for (unsigned i = begin; i < end; i++) {
        float sum = minus[0] ? -terms[i] : terms[i];
        for (unsigned k = 1; k < count; k++)
            sum += minus[k] ? -terms[k * entries + i] : terms[k * entries + i];
        terms[i] = sum;
    }
}

/* --- products. A buffer: the terms of the left operand (the stripe's rows), of the right one, the product. */
static void bring_terms(const struct near *n, const struct operands *o, const float *matrix, unsigned first,
                        unsigned rows, float *to)
{
    for (unsigned k = 0; k < o->num; k++) {
        unsigned row = o->which[k] / n->side * n->leaf + first, column = o->which[k] % n->side * n->leaf;
        move_in(to + (size_t)k * rows * n->leaf, matrix + (size_t)row * n->size + column, n->leaf * 4, rows,
                n->leaf * 4, n->size * 4);
    }
}

static void multiply_in(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;
    float *terms = (float *)(void *)buffer;
    unsigned first, rows, product = product_of(n, s, &first, &rows);

    bring_terms(n, &n->a[product], n->left, first, rows, terms);
    bring_terms(n, &n->b[product], n->right, 0, n->leaf, terms + (size_t)n->side * n->leaf * n->leaf);
}

static void multiply_out(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;
    unsigned entries = n->leaf * n->leaf, first, rows, product = product_of(n, s, &first, &rows);

    move_out(n->products + (size_t)product * entries + (size_t)first * n->leaf,
             buffer + 2 * (size_t)n->side * entries * 4, rows * n->leaf * 4, 1, 0, 0);
}

/* Step 0: the sums, left then right; step 1: the product. */
static unsigned multiply_units(const void *common, unsigned s, unsigned step)
{
    const struct near *n = common;
    unsigned first, rows;

    product_of(n, s, &first, &rows);
    return n->leaf * (step == 0 ? rows + n->leaf : rows);
}

static void multiply(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near *n = common;
    unsigned leaf = n->leaf, entries = leaf * leaf, first, rows, product = product_of(n, s, &first, &rows);
    float *a = (float *)(void *)buffer, *b = a + (size_t)n->side * entries, *to = b + (size_t)n->side * entries;
    const struct operands *left_terms = &n->a[product], *right_terms = &n->b[product];

    if (step == 0) {
        unsigned left_entries = rows * leaf;
        if (begin < left_entries)
            add_terms(a, left_terms->num, left_terms->minus, left_entries, begin, mc_least(end, left_entries));
        if (end > left_entries)
            add_terms(b, right_terms->num, right_terms->minus, entries, begin > left_entries ? begin - left_entries : 0,
                      end - left_entries);
        return;
    }
    unsigned row = begin / leaf, column = begin - row * leaf;
    for (unsigned i = begin; i < end; i++) {
        const float *x = a + (size_t)row * leaf, *y = b + column;
        float sum = 0;
        for (unsigned k = 0; k < leaf; k++)
            sum += x[k] * y[(size_t)k * leaf];
        to[i] = sum;
        if (++column == leaf) {
            column = 0;
            row++;
        }
    }
}

/* --- sums. A buffer: the terms' rows. */
static unsigned parts(const struct near *n) { return n->leaf / n->rows; }

static void combine_in(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;
    const struct terms *c = &n->c[s / parts(n)];
    unsigned part = s % parts(n), entries = n->rows * n->leaf;

    for (unsigned k = 0; k < c->num; k++)
        move_in((float *)(void *)buffer + (size_t)k * entries,
                n->products + (size_t)c->which[k] * n->leaf * n->leaf + (size_t)part * entries, entries * 4, 1, 0, 0);
}

static void combine_out(const void *common, unsigned s, char *buffer)
{
    const struct near *n = common;
    unsigned number = s / parts(n), part = s % parts(n);
    unsigned row = number / n->side * n->leaf + part * n->rows, column = number % n->side * n->leaf;

    move_out(n->result + (size_t)row * n->size + column, buffer, n->leaf * 4, n->rows, n->size * 4, n->leaf * 4);
}

static unsigned combine_units(const void *common, unsigned s, unsigned step)
{
    const struct near *n = common;

    (void)s, (void)step;
    return n->rows * n->leaf;
}

static void combine(const void *common, char *buffer, unsigned s, unsigned step, unsigned begin, unsigned end)
{
    const struct near *n = common;
    const struct terms *c = &n->c[s / parts(n)];

    (void)step;
    add_terms((float *)(void *)buffer, c->num, c->minus, n->rows * n->leaf, begin, end);
}

static struct mc_array sources[] = {
    {.name = "left", .type = "<f4", .axes = 2}, {.name = "right", .type = "<f4", .axes = 2}, {.name = NULL}};
static struct mc_array results[] = {{.name = "result", .type = "<f4", .axes = 2}, {.name = NULL}};

static bool inputs(void)
{
    uint32_t state = 1969;
    size_t entries = (size_t)size * size;
    unsigned num_products = depth == 1 ? 7 : 49;

    if (size % (4u << depth))
        return mc_wrong("--size %u: expected a multiple of %u", size, 4u << depth);
    left = mc_zeros(entries * 4);
    right = mc_zeros(entries * 4);
    result = mc_zeros(entries * 4);
    products = mc_zeros(num_products * (entries >> 2 * depth) * 4);
    if (!left || !right || !result || !products)
        return false;
    for (size_t i = 0; i < entries; i++) {
        left[i] = (float)(int)(mc_random(&state) >> 8 & 7) - 3;
        right[i] = (float)(int)(mc_random(&state) >> 8 & 7) - 4;
    }
    sources[0].data = left;
    sources[1].data = right;
    results[0].data = result;
    for (unsigned i = 0; i < 2; i++)
        sources[0].shape[i] = sources[1].shape[i] = results[0].shape[i] = size;
    return true;
}

static bool phases(const struct mc_shape *shape, struct mc_phase **made, unsigned *num)
{
    static struct mc_phase list[2];
    unsigned num_products = depth == 1 ? 7 : 49, leaf = size >> depth, blocks = 1u << 2 * depth;
    unsigned most_terms = depth == 1 ? 4 : MOST_PARTS;

    block = (struct near){.left = left,
                          .right = right,
                          .products = products,
                          .result = result,
                          .size = size,
                          .side = 1u << depth,
                          .leaf = leaf,
                          .rows = leaf};
    while (block.rows % 2 == 0 && (2 * most_terms * block.rows * leaf * 4 + sizeof block > shape->room ||
                                   blocks * leaf / block.rows < 2 * shape->outers))
        block.rows /= 2;
    fill_tables(num_products);
    block.whole = num_products - num_products % shape->outers;
    block.parts = 1;
    while (block.parts < shape->outers && leaf % (2 * block.parts) == 0)
        block.parts *= 2;
    list[0] = (struct mc_phase){.stripes = block.whole + (num_products - block.whole) * block.parts,
                                .steps = 2,
                                .bytes = (2 * block.side + 1) * leaf * leaf * 4,
                                .common = &block,
                                .common_bytes = (sizeof block + 3) & ~3u,
                                .in = multiply_in,
                                .units = multiply_units,
                                .work = multiply,
                                .out = multiply_out};
    list[1] = (struct mc_phase){.stripes = blocks * leaf / block.rows,
                                .steps = 1,
                                .bytes = most_terms * block.rows * leaf * 4,
                                .common = &block,
                                .common_bytes = (sizeof block + 3) & ~3u,
                                .in = combine_in,
                                .units = combine_units,
                                .work = combine,
                                .out = combine_out};
    *made = list;
    *num = 2;
    return true;
}

static void reset(void)
{
    mc_clear(result, (size_t)size * size * 4);
    mc_clear(products, (size_t)(depth == 1 ? 7 : 49) * ((size_t)size * size >> 2 * depth) * 4);
}

static void plain(void)
{
    for (unsigned i = 0; i < size; i++)
        for (unsigned j = 0; j < size; j++) {
            float sum = 0;
            for (unsigned k = 0; k < size; k++)
                sum += left[(size_t)i * size + k] * right[(size_t)k * size + j];
            result[(size_t)i * size + j] = sum;
        }
}

/* Entries above 0. */
static unsigned count(void)
{
    unsigned positive = 0;

    for (size_t i = 0; i < (size_t)size * size; i++)
        positive += result[i] > 0;
    return positive;
}

static const struct mc_option options[] = {
    {"size", &size, 8, 1024, NULL, "rows of a matrix, a multiple of 8 or 16 by the depth (64)"},
    {"depth", &depth, 1, MOST_DEPTH, NULL, "how often the matrices are halved (2)"},
    {NULL, NULL, 0, 0, NULL, NULL},
};

MC_MAIN("mc-strassen", "Matrix product by Strassen's decomposition.", "positive")
