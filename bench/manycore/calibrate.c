/* The cost model beside another simulator, or hardware: this one file, linked to one ELF file, runs on both.
 *
 * A machine needs:
 * - a cluster of 16 RV32IMC cores, mhartid 0 to 15, that all begin at _start;
 * - a TCDM at 0x10000000 with variables and stacks; its words are test-and-set 0x100000 further;
 * - code and constants at 0x20000000;
 * - the counters cycle and instret; semihosting's SYS_WRITE0 and SYS_EXIT, which may change t0 and t1.
 *
 * Each measured piece runs twice, and the second run counts: the code is in the instruction caches by then.
 *
 * A line "micro NAME CYCLES INSTRUCTIONS" is 32 times a few instructions, on core 0.
 * A line "shared NAME CORES CYCLES" is the same on several cores at once.
 * A line "kernel NAME CORES CYCLES INSTRUCTIONS RESULT FETCHES JUMPS" is a kernel. FETCHES are core 0's cycles without
 * an instruction at hand, JUMPS those that waited for their register. Both are 0 if the core is no CV32E40P. */
#include <stdint.h>

#define CORES 16
#define TEST_AND_SET 0x100000u

__asm__(".section .text.start, \"ax\", @progbits\n"
        ".globl _start\n"
        "_start:\n"
        ".option push\n .option norelax\n la gp, __global_pointer$\n .option pop\n"
        "    csrr a0, mhartid\n"
        "    li t0, 16\n"
        "    bgeu a0, t0, 1f\n"
        "    li sp, 0x10040000\n" /* the end of a TCDM of 256 KB; the cores' stacks begin at different banks */
        "    li t0, 2064\n"
        "    mul t0, t0, a0\n"
        "    sub sp, sp, t0\n"
        "    call core_main\n"
        "1:  wfi\n"
        "    j 1b\n"
        ".text\n");

/* Two counters of CV32E40P cores, which mvendorid tells. */
static int counts_waits(void)
{
    uint32_t vendor;
    __asm__("csrr %0, mvendorid" : "=r"(vendor));
    return vendor == 0x602;
}

static uint32_t fetch_waits(void)
{
    uint32_t n = 0;
    if (counts_waits())
        __asm__ volatile("csrr %0, mhpmcounter4" : "=r"(n)::"memory");
    return n;
}

static uint32_t jump_waits(void)
{
    uint32_t n = 0;
    if (counts_waits())
        __asm__ volatile("csrr %0, mhpmcounter3" : "=r"(n)::"memory");
    return n;
}

/* --- output, by core 0 */
static void semihost(uint32_t operation, uintptr_t parameter)
{
    register uintptr_t a0 __asm__("a0") = operation, a1 __asm__("a1") = parameter;
    __asm__ volatile(".balign 16\n .option push\n .option norvc\n"
                     "slli zero, zero, 0x1f\n ebreak\n srai zero, zero, 7\n .option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "t0", "t1", "memory");
}

static char line[80], *end = line;

static void put_text(const char *text)
{
    while (*text)
        *end++ = *text++;
}

static void put_number(uint32_t n)
{
    char digits[10];
    int k = 0;
    do
        digits[k++] = (char)('0' + n % 10);
    while (n /= 10);
    *end++ = ' ';
    while (k)
        *end++ = digits[--k];
}

static void put_line(void)
{
    *end++ = '\n';
    *end = 0;
    semihost(4, (uintptr_t)line);
    end = line;
}

/* --- waiting for one another: a lock of the test-and-set memory, a counter and a phase. They are in banks 24 to 31 of
 * 32, and what the cores measure together is in other ones. */
struct meeting {
    volatile uint32_t lock, arrived, phase, more; /* more: the lock of the kernel; when to go on, of all */
};
static struct {
    uint32_t unused[24];
    struct meeting all, kernel;
} sync __attribute__((aligned(128)));

static uint32_t csr_cycle(void)
{
    uint32_t n;
    __asm__ volatile("csrr %0, cycle" : "=r"(n)::"memory");
    return n;
}

static uint32_t csr_instret(void)
{
    uint32_t n;
    __asm__ volatile("csrr %0, instret" : "=r"(n)::"memory");
    return n;
}

static void take(volatile uint32_t *word)
{
    while (*(volatile uint32_t *)((uintptr_t)word + TEST_AND_SET)) {
    }
}

static uint32_t arrive(struct meeting *m, uint32_t cores)
{
    take(&m->lock);
    uint32_t n = m->arrived + 1;
    m->arrived = n == cores ? 0 : n;
    m->lock = 0;
    return n;
}

static void barrier(struct meeting *m, uint32_t cores)
{
    uint32_t now = m->phase;
    if (arrive(m, cores) == cores)
        m->phase = now + 1;
    else
        while (m->phase == now) {
        }
}

/* All cores meet, and go on at the same time. A waiting core looks seldom, and so hardly
 * disturbs cores that measure. */
static void meet(void)
{
    struct meeting *m = &sync.all;
    uint32_t now = m->phase;
    if (arrive(m, CORES) == CORES) {
        m->more = csr_cycle() + 2000;
        m->phase = now + 1;
    } else {
        while (m->phase == now)
            for (int i = 0; i < 100; i++)
                __asm__ volatile("");
    }
    uint32_t start = m->more;
    while ((int32_t)(csr_cycle() - start) < 0) {
    }
}

/* --- a few instructions, 32 times. a0: word[0], which holds its own address; a1: the same word as test-and-set;
 * a2: what the piece's numbers are. Gives the cycles in a0, the instructions in a1. */
#define PIECE(name, setup, body)                                                                             \
    __asm__(".text\n .p2align 6\n " #name ":\n .option push\n .option norvc\n"                               \
            "mv t0, a0\n mv t1, a2\n li t2, 1\n .p2align 4\n" setup "\n csrr a4, instret\n csrr a3, cycle\n" \
            ".rept 32\n" body "\n.endr\n"                                                                    \
            "csrr a0, cycle\n csrr a1, instret\n sub a0, a0, a3\n sub a1, a1, a4\n ret\n"                    \
            ".option pop\n");                                                                                \
    uint64_t name(uint32_t *word, uintptr_t set, uint32_t number);

#define RVC ".option rvc\n"
#define RVI ".option norvc\n"
/* name, number, preparation, instructions */
#define PIECES(X)                                                                                             \
    X(nothing, 0, "", "")                                                                                     \
    X(add, 0, "", "add t2, t2, t1")                                                                           \
    X(add_compressed, 0, "", RVC "add t2, t2, t1\n" RVI)                                                      \
    X(add_over_words, 0, "", RVC "add t2, t2, t1\n" RVI "add t2, t2, t1")                                     \
    X(load, 0, "", "lw t2, 0(a0)")                                                                            \
    X(load_and_other, 0, "", "lw t2, 0(a0)\n add t1, t1, t1")                                                 \
    X(load_use, 0, "", "lw t2, 0(a0)\n add t1, t2, t1")                                                       \
    X(load_other_use, 0, "", "lw t2, 0(a0)\n nop\n add t1, t2, t1")                                           \
    X(load_to_address, 0, "", "lw t0, 0(t0)")                                                                 \
    X(load_byte_use, 0, "", "lbu t2, 1(a0)\n add t1, t2, t1")                                                 \
    X(load_to_store, 0, "", "lw t2, 0(a0)\n sw t2, 4(a0)")                                                    \
    X(load_to_branch, 0, "", "lw t2, 0(a0)\n beq t2, zero, .")                                                \
    X(load_to_product, 0, "", "lw t2, 0(a0)\n mul t1, t2, t1")                                                \
    X(store, 0, "", "sw t2, 4(a0)")                                                                           \
    X(store_load, 0, "", "sw t2, 4(a0)\n lw t1, 4(a0)")                                                       \
    X(test_and_set, 0, "", "lw t2, 8(a1)")                                                                    \
    X(test_and_set_other, 0, "", "lw t2, 8(a1)\n nop")                                                        \
    X(mul, 3, "", "mul t2, t1, t1")                                                                           \
    X(mul_chain, 3, "", "mul t1, t1, t1")                                                                     \
    X(mulhu, 3, "", "mulhu t2, t1, t1")                                                                       \
    X(divu_by_0, 0, "", "divu t2, a0, t1")                                                                    \
    X(divu_by_1, 1, "", "divu t2, a0, t1")                                                                    \
    X(divu_by_10, 10, "", "divu t2, a0, t1")                                                                  \
    X(divu_by_65536, 65536, "", "divu t2, a0, t1")                                                            \
    X(divu_by_2_to_31, 0x80000000u, "", "divu t2, a0, t1")                                                    \
    X(div_by_minus_10, -10u, "", "div t2, a0, t1")                                                            \
    X(remu_by_10, 10, "", "remu t2, a0, t1")                                                                  \
    X(branch_not_taken, 0, "", "bne zero, zero, .")                                                           \
    X(branch_taken, 0, "", "beq zero, zero, 1f\n1:")                                                          \
    X(branch_taken_skips, 0, "", "beq zero, zero, 1f\n nop\n nop\n nop\n1:")                                  \
    X(branch_to_half_word, 0, "", "beq zero, zero, 1f\n" RVC "nop\n1:\n nop\n" RVI)                           \
    X(branch_over_words, 0, "", "beq zero, zero, 1f\n" RVC "nop\n" RVI "1: add t2, t2, t1\n" RVC "nop\n" RVI) \
    X(jump, 0, "", "j 1f\n1:")                                                                                \
    X(jump_over_words, 0, "", "j 1f\n" RVC "nop\n" RVI "1: add t2, t2, t1\n" RVC "nop\n" RVI)                 \
    X(jump_register, 0, "la t0, 1f\n", "1: addi t0, t0, 12\n nop\n jr t0")                                    \
    X(jump_register_at_once, 0, "la t0, 1f\n", "1: nop\n addi t0, t0, 12\n jr t0")                            \
    X(csr_mhartid, 0, "", "csrr t2, mhartid")                                                                 \
    X(csr_cycle, 0, "", "csrr t2, cycle")                                                                     \
    X(fence, 0, "", "fence")

#define DEFINE(name, number, setup, body) PIECE(piece_##name, setup, body)
PIECES(DEFINE)

static uint32_t word[CORES * 32] __attribute__((aligned(128))); /* word[32 * i] is in bank 0 */

static void pieces(void)
{
#define RUN(name, number, setup, body) {#name, piece_##name, number},
    static const struct {
        const char *name;
        uint64_t (*run)(uint32_t *word, uintptr_t set, uint32_t number);
        uint32_t number;
    } all[] = {PIECES(RUN)};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        uint64_t both = 0;
        for (int run = 0; run < 2; run++) {
            word[0] = (uintptr_t)word;
            both = all[i].run(word, (uintptr_t)word + TEST_AND_SET, all[i].number);
        }
        put_text("micro ");
        put_text(all[i].name);
        put_number((uint32_t)both);
        put_number((uint32_t)(both >> 32));
        put_line();
    }
}

/* --- from the first core's begin to the last core's end; the instructions of all */
static uint32_t begins[CORES], ends[CORES], instructions[CORES];

static uint32_t span(uint32_t cores)
{
    uint32_t first = begins[0], last = ends[0];
    for (uint32_t i = 1; i < cores; i++) {
        if ((int32_t)(begins[i] - first) < 0)
            first = begins[i];
        if ((int32_t)(ends[i] - last) > 0)
            last = ends[i];
    }
    return last - first;
}

/* --- several cores at once. What a core reads or writes: words of one bank, one word, or a bank of its own. */
static void together(uint32_t me)
{
    static const struct {
        const char *name;
        uint64_t (*run)(uint32_t *word, uintptr_t set, uint32_t number);
        uint32_t stride;
    } all[] = {{"load_own_banks", piece_load, 1},       {"load_one_word", piece_load, 0},
               {"load_one_bank", piece_load, 32},       {"store_own_banks", piece_store, 1},
               {"store_one_word", piece_store, 0},      {"store_one_bank", piece_store, 32},
               {"set_one_word", piece_test_and_set, 0}, {"set_own_banks", piece_test_and_set, 1}};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        for (uint32_t cores = 1; cores <= CORES; cores *= 2) {
            uint32_t *mine = word + me * all[i].stride;
            uint64_t (*piece)(uint32_t *, uintptr_t, uint32_t) = all[i].run;
            __asm__ volatile("" : "+r"(piece)); /* read from L2 here, not between the reads of the counter */
            for (int run = 0; run < 2; run++) {
                meet();
                if (me < cores) {
                    begins[me] = csr_cycle();
                    piece(mine, (uintptr_t)mine + TEST_AND_SET, 0);
                    ends[me] = csr_cycle();
                }
                meet();
            }
            if (me == 0) {
                put_text("shared ");
                put_text(all[i].name);
                put_number(cores);
                put_number(span(cores));
                put_line();
            }
        }
}

/* --- the kernels. A core does every cores-th row, or what is its own. */
#define N 32
static int32_t a[N][N], b[N][N], c[N][N];

static void matmul(uint32_t me, uint32_t cores)
{
    for (uint32_t i = me; i < N; i += cores)
        for (uint32_t j = 0; j < N; j++) {
            int32_t sum = 0;
            for (uint32_t k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

#define SIDE 34
static uint8_t image[SIDE][SIDE], edges[SIDE][SIDE];

static void stencil(uint32_t me, uint32_t cores)
{
    for (uint32_t y = 1 + me; y < SIDE - 1; y += cores)
        for (uint32_t x = 1; x < SIDE - 1; x++) {
            const uint8_t *p = &image[y][x];
            int32_t h = p[1 - SIDE] - p[-1 - SIDE] + 2 * (p[1] - p[-1]) + p[1 + SIDE] - p[-1 + SIDE];
            int32_t v = p[SIDE - 1] - p[-SIDE - 1] + 2 * (p[SIDE] - p[-SIDE]) + p[SIDE + 1] - p[-SIDE + 1];
            int32_t sum = (h < 0 ? -h : h) + (v < 0 ? -v : v);
            edges[y][x] = (uint8_t)(sum > 255 ? 255 : sum);
        }
}

/* A heap sort of the core's own keys: branches that depend on data, loads whose address was just computed. The arrays
 * are 129 words apart, so that they begin in different banks. */
#define KEYS 64
static uint32_t keys[CORES][2 * KEYS + 1];

static void sift(uint32_t *k, uint32_t at, uint32_t n)
{
    uint32_t moved = k[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= n)
            break;
        if (child + 1 < n && k[child + 1] > k[child])
            child++;
        if (k[child] <= moved)
            break;
        k[at] = k[child];
        at = child;
    }
    k[at] = moved;
}

static void sort(uint32_t me, uint32_t cores)
{
    (void)cores;
    uint32_t *k = keys[me];
    for (uint32_t i = KEYS / 2; i-- > 0;)
        sift(k, i, KEYS);
    for (uint32_t n = KEYS; n-- > 1;) {
        uint32_t last = k[n];
        k[n] = k[0];
        k[0] = last;
        sift(k, 0, n);
    }
}

/* Decimal digits: a division and a remainder a digit. The divisor is no constant, else it would be a product. */
static volatile uint32_t ten = 10;

static void digits(uint32_t me, uint32_t cores)
{
    (void)cores;
    uint32_t base = ten, *k = keys[me];
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t sum = 0;
        for (uint32_t n = k[i]; n; n /= base)
            sum += n % base;
        k[KEYS + i] = sum;
    }
}

/* A counter behind a lock, and a barrier after each round. */
#define ROUNDS 16
static uint32_t counter;

static void locks(uint32_t me, uint32_t cores)
{
    (void)me;
    for (int i = 0; i < ROUNDS; i++) {
        take(&sync.kernel.more);
        counter++;
        __asm__ volatile("" ::: "memory");
        sync.kernel.more = 0;
        barrier(&sync.kernel, cores);
    }
}

static uint32_t mix(uint32_t h, uint32_t value) { return (h ^ value) * 16777619u; }

static void fill(uint32_t me)
{
    uint32_t n = 12345 + me;
    for (uint32_t i = 0; i < KEYS; i++) {
        n = n * 1664525u + 1013904223u;
        keys[me][i] = n;
    }
    if (me)
        return;
    counter = 0;
    for (uint32_t i = 0; i < N * N; i++) {
        n = n * 1664525u + 1013904223u;
        ((int32_t *)a)[i] = (int32_t)n >> 20;
        ((int32_t *)b)[i] = (int32_t)(n << 8) >> 20;
    }
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        n = n * 1664525u + 1013904223u;
        ((uint8_t *)image)[i] = (uint8_t)(n >> 24);
    }
}

static uint32_t checksum(void)
{
    uint32_t h = mix(2166136261u, counter);
    for (uint32_t i = 0; i < N * N; i++)
        h = mix(h, (uint32_t)((int32_t *)c)[i]);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        h = mix(h, ((uint8_t *)edges)[i]);
    for (uint32_t i = 0; i < CORES; i++)
        for (uint32_t k = 0; k < 2 * KEYS; k++)
            h = mix(h, keys[i][k]);
    return h;
}

static void kernels(uint32_t me)
{
    static const struct {
        const char *name;
        void (*run)(uint32_t me, uint32_t cores);
    } all[] = {{"matmul", matmul}, {"stencil", stencil}, {"sort", sort}, {"digits", digits}, {"locks", locks}};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        for (uint32_t cores = 1; cores <= CORES; cores *= 16) {
            uint32_t fetches = 0, jumps = 0;
            void (*kernel)(uint32_t, uint32_t) = all[i].run;
            __asm__ volatile("" : "+r"(kernel)); /* as above */
            for (int run = 0; run < 2; run++) {
                fill(me);
                meet();
                if (me < cores) {
                    fetches = fetch_waits();
                    jumps = jump_waits();
                    uint32_t before = csr_instret();
                    begins[me] = csr_cycle();
                    kernel(me, cores);
                    ends[me] = csr_cycle();
                    instructions[me] = csr_instret() - before;
                    fetches = fetch_waits() - fetches;
                    jumps = jump_waits() - jumps;
                }
                meet();
            }
            if (me)
                continue;
            uint32_t sum = 0;
            for (uint32_t k = 0; k < cores; k++)
                sum += instructions[k];
            put_text("kernel ");
            put_text(all[i].name);
            put_number(cores);
            put_number(span(cores));
            put_number(sum);
            put_number(checksum());
            put_number(fetches);
            put_number(jumps);
            put_line();
        }
}

void core_main(uint32_t me)
{
    if (me == 0)
        pieces();
    meet();
    together(me);
    kernels(me);
    meet();
    if (me == 0)
        semihost(0x18, 0x20026);
}
