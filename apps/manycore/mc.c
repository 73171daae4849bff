/* The command line, the check and the report (mc.h). */
#include "mc.h"

#include "files.h"
#include "move.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const forms[MC_FORMS] = {"sequential", "flat", "cluster", "nested", "numa", "dynamic", "tasks"};
static const char *name = "mc";

static unsigned outer, inner, repeat = 1, warm, remote, check = 1, empty;
static const char *form_name, *save;
static const struct mc_option common_options[] = {
    {"form", NULL, 0, 0, &form_name, "sequential, flat, cluster, nested, numa, dynamic or tasks (numa)"},
    {"outer", &outer, 1, 1024, NULL, "outer threads; flat: outer x inner threads in one team (platform: clusters; 2)"},
    {"inner", &inner, 1, 1024, NULL, "threads of each inner team (platform: cores of a cluster; 2)"},
    {"repeat", &repeat, 1, 1000, NULL, "runs, of which the report has the median by time (1)"},
    {"warm", &warm, 0, 1000, NULL, "runs before those, which nothing is reported of (0)"},
    {"check", &check, 0, 1, NULL, "1: compare with plain loops, and say what was found (1)"},
    {"remote", &remote, 0, 63, NULL, "clusters between threads and data; platform only (0)"},
    {"empty", &empty, 0, 1, NULL, "1: the parallel regions alone, without work; no check (0)"},
    {"save", NULL, 0, 0, &save, "folder for inputs and results as .npy files; host only"},
    {NULL, NULL, 0, 0, NULL, NULL},
};

bool mc_wrong(const char *format, ...)
{
    va_list list;

    fprintf(stderr, "%s: ", name);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return false;
}

enum { CHUNK = 8 << 10 };

void mc_clear(void *array, size_t bytes)
{
    char *zeros = move_take(CHUNK, 0);

    if (!zeros) {
        memset(array, 0, bytes);
        return;
    }
    memset(zeros, 0, CHUNK);
    for (size_t at = 0; at < bytes; at += CHUNK)
        move_out((char *)array + at, zeros, bytes - at < CHUNK ? (uint32_t)(bytes - at + 3) & ~3u : CHUNK, 1, 0, 0);
    move_mark(0);
    move_wait(0);
    move_give(zeros);
}

void *mc_zeros(size_t bytes)
{
    /* multiples of 64 for the sake of transfers by words */
    void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

    if (p)
        mc_clear(p, (bytes + 63) & ~(size_t)63);
    else
        mc_wrong("no memory for %lu bytes", (unsigned long)bytes);
    return p;
}

unsigned mc_stripe_rows(const struct mc_shape *shape, unsigned rows, uint32_t bytes, uint32_t fixed, unsigned least,
                        unsigned stripe)
{
    unsigned outers = shape->outers, best = 0, best_load = 0;

    if (stripe)
        return mc_least(stripe, rows);
    /* stripes of each outer thread: as few as fit, or some more where that makes the largest share smaller */
    for (unsigned each = outers * shape->team > 1 ? least : 1, fitting = 0; fitting < 6; each++) {
        unsigned of_stripe = mc_parts(rows, outers * each), load;
        if (of_stripe > 1 && 2 * (fixed + (uint64_t)of_stripe * bytes) > shape->room)
            continue;
        fitting++;
        load = mc_least(mc_parts(mc_parts(rows, of_stripe), outers) * of_stripe, rows);
        if (!best || load < best_load) {
            best = of_stripe;
            best_load = load;
        }
    }
    return best ? best : 1;
}

static void help(const struct mc_program *program)
{
    const struct mc_option *lists[] = {program->options, common_options};

    printf("Usage: %s [--option value]...\n%s\n--version says the version\n", name, program->what);
    for (unsigned l = 0; l < 2; l++)
        for (const struct mc_option *o = lists[l]; o->name; o++)
            printf("  --%-10s %s\n", o->name, o->what);
}

static const struct mc_option *find(const struct mc_option *list, const char *option)
{
    for (; list->name; list++)
        if (strncmp(option, "--", 2) == 0 && strcmp(option + 2, list->name) == 0)
            return list;
    return NULL;
}

static bool read_number(const struct mc_option *o, const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end || strlen(text) > 9 || value < o->least || value > o->most)
        return mc_wrong("--%s %s: expected a whole number from %u to %u", o->name, text, o->least, o->most);
    *o->value = (unsigned)value;
    return true;
}

/* 0, or the exit status plus 1. */
static int read_arguments(const struct mc_program *program, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0) {
            help(program);
            return 1;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("%s (psthreads) %s\n", name, PS_VERSION);
            return 1;
        }
        const struct mc_option *o = find(program->options, argv[i]);
        if (!o)
            o = find(common_options, argv[i]);
        if (!o) {
            mc_wrong("%s: no such option; --help lists them", argv[i]);
            return 2;
        }
        if (i + 1 == argc) {
            mc_wrong("--%s: a value is missing", o->name);
            return 2;
        }
        if (o->text)
            *o->text = argv[i + 1];
        else if (!read_number(o, argv[i + 1]))
            return 2;
    }
    return 0;
}

static bool read_form(enum mc_form *form)
{
    for (*form = 0; *form < MC_FORMS; ++*form)
        if (!form_name ? *form == MC_NUMA : strcmp(form_name, forms[*form]) == 0)
            break;
    if (*form == MC_FORMS)
        return mc_wrong("--form %s: expected sequential, flat, cluster, nested, numa, dynamic or tasks", form_name);
#ifndef _OPENMP
    if (*form != MC_SEQUENTIAL)
        return mc_wrong("--form %s: this program was compiled without OpenMP", forms[*form]);
#endif
    return true;
}

static void set_shape(struct mc_shape *shape)
{
    if (!outer)
        outer = move_clusters() ? move_clusters() : 2;
    if (!inner)
        inner = move_cores() ? move_cores() : 2;
    shape->outers = shape->form <= MC_CLUSTER ? 1 : outer;
    shape->team = shape->form == MC_SEQUENTIAL ? 1 : shape->form == MC_FLAT ? outer * inner : inner;
    /* without binding, up to four outer threads stand in one cluster; all forms but flat have the same stripes */
    shape->room = shape->form == MC_FLAT ? move_room() - (8 << 10) : move_room() / 4 - (3 << 10);
}

static size_t array_bytes(const struct mc_array *a)
{
    size_t bytes = (size_t)(a->type[2] - '0');

    for (unsigned i = 0; i < a->axes; i++)
        bytes *= a->shape[i];
    return bytes;
}

/* FNV-1a by words (Fowler, Noll, Vo); mc_zeros() fills up the last one. */
static uint32_t checksum_words(uint32_t sum, const uint32_t *words, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        sum = (sum ^ words[i]) * 16777619u;
        sum ^= sum >> 15;
    }
    return sum;
}

static uint32_t checksum(const struct mc_array *arrays)
{
    uint32_t sum = 2166136261u, *near = move_take(CHUNK, 0);

    for (; arrays->name; arrays++) {
        const uint32_t *words = arrays->data;
        size_t left = (array_bytes(arrays) + 3) / 4;
        for (; near && left > CHUNK / 4; left -= CHUNK / 4, words += CHUNK / 4) {
            move_in(near, words, CHUNK, 1, 0, 0);
            move_mark(0);
            move_wait(0);
            sum = checksum_words(sum, near, CHUNK / 4);
        }
        sum = checksum_words(sum, words, left);
    }
    if (near)
        move_give(near);
    return sum;
}

static bool equal(const struct mc_array *now, void *const *before)
{
    for (; now->name; now++, before++)
        if (memcmp(now->data, *before, array_bytes(now)) != 0)
            return mc_wrong("%s differs from what plain loops give", now->name);
    return true;
}

/* Whether plain loops give what stands in the results. They write into the same arrays. */
static bool compare(const struct mc_program *program)
{
    void *copies[4];
    bool good = true;
    unsigned num = 0;

    for (const struct mc_array *a = program->results; a->name; a++, num++) {
        copies[num] = malloc(array_bytes(a));
        if (!copies[num])
            return mc_wrong("no memory for %lu bytes", (unsigned long)array_bytes(a));
        memcpy(copies[num], a->data, array_bytes(a));
    }
    program->reset();
    program->plain();
    good = equal(program->results, copies);
    for (unsigned i = 0; i < num; i++)
        free(copies[i]);
    return good;
}

static void print_time(const char *key, uint64_t time)
{
    if (MOVE_PLATFORM)
        printf(", \"%s_cycles\": %lu", key, (unsigned long)time);
    else
        printf(", \"%s_us\": %lu.%03lu", key, (unsigned long)(time / 1000), (unsigned long)(time % 1000));
}

static void report(const struct mc_program *program, const struct mc_run *run)
{
    printf("{\"program\": \"%s\", \"form\": \"%s\", \"outer\": %u, \"inner\": %u", program->name,
           forms[run->shape.form], run->shape.outers, run->shape.team);
    if (!empty)
        printf(", \"checksum\": \"%08lx\"", (unsigned long)checksum(program->results));
    if (!empty && check)
        printf(", \"%s\": %u", program->answer, program->count());
    print_time("time", run->time);
    printf(", \"regions\": %u", run->regions);
    if (!empty) {
        printf(", \"stripes\": [");
        for (unsigned i = 0; i < run->num_phases; i++)
            printf("%s%u", i ? ", " : "", run->phases[i].stripes);
        printf("], \"buffers\": %u", run->buffers);
        print_time("work_least", run->work_least);
        print_time("work_most", run->work_most);
        print_time("work_sum", run->work_sum);
    }
    printf("}\n");
}

static int by_time(const void *a, const void *b)
{
    const struct mc_run *x = a, *y = b;

    return x->time < y->time ? -1 : x->time > y->time;
}

static bool run_all(const struct mc_program *program, struct mc_run *runs)
{
    for (unsigned w = 0; w < warm; w++) {
        struct mc_run unseen = runs[0];
        program->reset();
        if (!mc_forms_run(&unseen))
            return false;
    }
    for (unsigned i = 0; i < repeat; i++) {
        runs[i] = runs[0];
        program->reset();
        if (!mc_forms_run(&runs[i]))
            return false;
    }
    qsort(runs, repeat, sizeof *runs, by_time);
    return true;
}

int mc_main(const struct mc_program *program, int argc, char **argv)
{
    struct mc_phase *phases;

    name = argc > 0 && strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argc > 0 ? argv[0] : program->name;
    int wrong = read_arguments(program, argc, argv);
    if (wrong)
        return wrong - 1;
    struct mc_run *runs = calloc(repeat, sizeof *runs);
    if (!runs || !read_form(&runs->shape.form))
        return 1;
    set_shape(&runs->shape);
    runs->remote = remote;
    runs->empty = empty;
    if (!program->inputs() || !program->phases(&runs->shape, &phases, &runs->num_phases))
        return 1;
    runs->phases = phases;
    if (!run_all(program, runs))
        return 1;
    if (save && !files_save(save, program->sources, program->results))
        return 1;
    report(program, &runs[repeat / 2]);
    bool good = fflush(stdout) == 0 && !ferror(stdout);
    if (!good)
        mc_wrong("standard output cannot be written");
    if (check && !empty && !compare(program))
        good = false;
    free(runs);
    return good ? 0 : 1;
}
