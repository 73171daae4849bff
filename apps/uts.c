/* Unbalanced tree search: counts the nodes of a tree that nobody knows before it is walked; a task a node.
 * After: Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng, "UTS: an unbalanced tree search benchmark", LCPC 2006.
 *
 * A node is 20 bytes; child i's are SHA-1 (FIPS 180) of the parent's and i. Its last four bytes are its random number.
 * The tree is binomial: the root has SIZE children, any other node 8 with probability 0.124875, else none. Of the
 * paper's tree T3 (SIZE 2000, seed 42) the number of nodes is known: 4112897. */
#include "app.h"

#include <string.h>

enum { SEED = 42, CHILDREN = 8, T3_ROOT = 2000 };
static const double probability = 0.124875;
static const uint64_t t3_nodes = 4112897;

struct node {
    uint8_t state[20];
};

static unsigned root_children;
static uint64_t last_nodes;

static uint32_t rotate(uint32_t x, unsigned n) { return x << n | x >> (32 - n); }

static void put_word(uint8_t *p, uint32_t x)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(x >> (24 - 8 * i));
}

static uint32_t get_word(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* SHA-1 of at most 55 bytes: one block. */
static void sha1_short(const uint8_t *message, size_t bytes, uint8_t digest[20])
{
    uint8_t block[64] = {0};
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, w[80];
    memcpy(block, message, bytes);
    block[bytes] = 0x80;
    put_word(block + 60, (uint32_t)bytes * 8);
    for (unsigned t = 0; t < 80; t++)
        w[t] = t < 16 ? get_word(block + 4 * t) : rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (unsigned t = 0; t < 80; t++) {
        uint32_t f = t < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                     : t < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                     : t < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                              : (b ^ c ^ d) + 0xca62c1d6;
        uint32_t next = rotate(a, 5) + f + e + w[t];
        e = d, d = c, c = rotate(b, 30), b = a, a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
    for (unsigned i = 0; i < 5; i++)
        put_word(digest + 4 * i, h[i]);
}

static struct node child_of(const struct node *n, unsigned i)
{
    uint8_t message[24];
    struct node child;
    memcpy(message, n->state, 20);
    put_word(message + 20, i);
    sha1_short(message, sizeof message, child.state);
    return child;
}

static unsigned num_children(const struct node *n)
{
    double x = (get_word(n->state + 16) & 0x7fffffff) / 2147483648.0;
    return x < probability ? CHILDREN : 0;
}

static struct node make_root(void)
{
    uint8_t seed[20] = {0};
    struct node root;
    put_word(seed + 16, SEED);
    sha1_short(seed, sizeof seed, root.state);
    return root;
}

static uint64_t serial_count(struct node n, unsigned children)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < children; i++) {
        struct node child = child_of(&n, i);
        count += serial_count(child, num_children(&child));
    }
    return count;
}

static void task_count(const struct node *n, unsigned children, uint64_t *total)
{
    uint64_t counts[CHILDREN];
    for (unsigned i = 0; i < children; i++) {
#pragma omp task shared(counts) firstprivate(i)
        {
            struct node child = child_of(n, i);
            task_count(&child, num_children(&child), &counts[i]);
        }
    }
#pragma omp taskwait
    uint64_t count = 1;
    for (unsigned i = 0; i < children; i++)
        count += counts[i];
    *total = count;
}

static void setup(unsigned size) { root_children = size; }
static uint64_t serial(void) { return serial_count(make_root(), root_children); }

static uint64_t parallel(void)
{
    struct node root = make_root();
    uint64_t *counts = app_alloc(root_children * sizeof *counts), sum = 1;
    for (unsigned i = 0; i < root_children; i++) {
#pragma omp task shared(root) firstprivate(i, counts)
        {
            struct node child = child_of(&root, i);
            task_count(&child, num_children(&child), &counts[i]);
        }
    }
#pragma omp taskwait
    for (unsigned i = 0; i < root_children; i++)
        sum += counts[i];
    __builtin_free(counts);
    return last_nodes = sum;
}

static uint64_t known(unsigned size) { return size == T3_ROOT ? t3_nodes : 0; }
static uint64_t tasks(void) { return last_nodes - 1; }

int main(int argc, char **argv)
{
    static const struct app app = {"uts", 120, 1, 100000, setup, false, serial, parallel, NULL, known, tasks, NULL};
    return app_main(&app, argc, argv);
}
