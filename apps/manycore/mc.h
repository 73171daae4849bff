/* What the six applications of manycore-nested-2016 (section 4) share: the command line, the forms of parallelism, the
 * check against a plain sequential reference, and the report.
 *
 * An application is a row of phases. A phase cuts its data in main memory into stripes; the outer threads have them in
 * turn, so that what is busy in one part of the data comes to all of them. A thread's team brings a stripe near
 * (move.h), works on it with all threads, and takes the result back, while the next stripe is under way into the other
 * buffer. forms.c has the pragmas. The forms:
 *
 *   sequential   one thread, no OpenMP
 *   flat         one team of outer x inner threads; its master moves the data (figure 15)
 *   cluster      the same with proc_bind(master): all in the master's cluster, of inner threads
 *   nested       a team of outer threads, each of which opens teams of inner threads (figure 16)
 *   numa         the same with proc_bind(spread) outside and proc_bind(close) inside
 *   dynamic      numa, units of work shared out by schedule(dynamic)
 *   tasks        numa, units of work as tasks
 *
 * Every sum is one of integers, or has an order of its own: all forms, and the platform, give the same bits. */
#ifndef MC_H
#define MC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mc_form { MC_SEQUENTIAL, MC_FLAT, MC_CLUSTER, MC_NESTED, MC_NUMA, MC_DYNAMIC, MC_TASKS, MC_FORMS };

/* How much of everything there is; known before the first phase is made. */
struct mc_shape {
    enum mc_form form;
    unsigned outers, team; /* threads that move data, threads of the team of each */
    uint32_t room;         /* bytes that an outer thread should need near its team, for its two buffers */
};

/* All functions get `common`, the near copy of the phase's block. in, out: called by the team's master, only move_in()
 * and move_out() with the buffer. work: units begin .. end of a step; the team waits between two steps. */
struct mc_phase {
    unsigned stripes, steps;
    unsigned pieces; /* of a thread's share of a step, from all over it; 0: the share is one */
    uint32_t bytes, common_bytes;
    const void *common;
    void (*in)(const void *common, unsigned stripe, char *buffer);
    unsigned (*units)(const void *common, unsigned stripe, unsigned step);
    void (*work)(const void *common, char *buffer, unsigned stripe, unsigned step, unsigned begin, unsigned end);
    void (*out)(const void *common, unsigned stripe, char *buffer);
    void (*after)(void *data); /* by one thread when all stripes are done; or NULL */
    void *data;
};

/* An array: what goes in, or what comes out. type: of NumPy, "|u1", "<i4", "<f4". */
struct mc_array {
    const char *name, *type;
    const void *data;
    unsigned axes, shape[3];
};

struct mc_option {
    const char *name;
    unsigned *value, least, most; /* a number; or */
    const char **text;            /* what stands there */
    const char *what;
};

struct mc_program {
    const char *name, *what;
    const struct mc_option *options; /* name NULL: the last */
    /* Makes the inputs. false: a line has been written. */
    bool (*inputs)(void);
    /* Allocates the results and makes the phases; called once. */
    bool (*phases)(const struct mc_shape *shape, struct mc_phase **phases, unsigned *num);
    /* Sets the results back to what they are before a run. */
    void (*reset)(void);
    /* The same results by plain loops. */
    void (*plain)(void);
    /* The results, and inputs for --save; name NULL: the last. */
    struct mc_array *results, *sources;
    /* A number that says something of the result, and its name. */
    const char *answer;
    unsigned (*count)(void);
};

int mc_main(const struct mc_program *program, int argc, char **argv);

/* The main function of an application whose file has all of the above by these names. */
#define MC_MAIN(NAME, WHAT, ANSWER)                                                               \
    int main(int argc, char **argv)                                                               \
    {                                                                                             \
        static const struct mc_program program = {NAME,  WHAT,    options, inputs, phases, reset, \
                                                  plain, results, sources, ANSWER, count};        \
        return mc_main(&program, argc, argv);                                                     \
    }

/* A line on standard error behind the program's name; false. */
__attribute__((format(printf, 1, 2))) bool mc_wrong(const char *format, ...);
/* Zeros in main memory, or NULL after a line. */
void *mc_zeros(size_t bytes);
/* Zeros into such memory again. */
void mc_clear(void *array, size_t bytes);
/* Rows of a stripe when `rows` rows of `bytes` each, and `fixed` bytes, stand in each of two buffers. Every outer
 * thread gets the same number of stripes, and at least `least` of them. `least` is two, or more where rows differ much
 * in their work. stripe: asked for by the user, or 0. */
unsigned mc_stripe_rows(const struct mc_shape *shape, unsigned rows, uint32_t bytes, uint32_t fixed, unsigned least,
                        unsigned stripe);

static inline unsigned mc_least(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned mc_parts(unsigned whole, unsigned part) { return (whole + part - 1) / part; }

/* xorshift32 (Marsaglia 2003): 32 bits from a state that is not 0. */
static inline uint32_t mc_random(uint32_t *state)
{
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

/* --- forms.c */
struct mc_run {
    const struct mc_phase *phases;
    unsigned num_phases;
    struct mc_shape shape;
    unsigned remote; /* clusters between the threads and their data (table 1) */
    bool empty;      /* regions only */
    /* what came out */
    uint64_t time;
    unsigned threads, buffers, regions;       /* of all teams; of each outer thread; opened */
    uint64_t work_least, work_most, work_sum; /* over the threads: ticks in mc_phase.work */
};

/* false: a line has been written. */
bool mc_forms_run(struct mc_run *run);

#endif
