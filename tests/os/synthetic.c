/* A topology read from a string: any machine on any machine, for tests.
 *
 * Does: builds the machine that the string describes, with the same code that makes levels of real ones. A string is
 * words KIND:NUMBER, from the whole machine to its processors: how many of a kind one of the kind before has. Kinds
 * are package, numa, l3, l2, core and pu (a processor), which comes last.
 * Callers: tests, on any stack of 64 KiB or more. No shared state.
 * Failures: EINVAL and one line where the string cannot be read; ENOMEM; *out is empty then. */
#include "synthetic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "topology.h"

#define MOST_WORDS 8

static const char *const word[OS_NUM_SHARINGS + 1] = {"core", "l2", "l3", "numa", "package", "pu"};

struct description {
    unsigned kind[MOST_WORDS], below[MOST_WORDS]; /* processors in one of them */
    unsigned n, processors;
};

/* The number after `name:` at the beginning of *text, which then stands behind the blank; 0: it is not there. */
static unsigned read_word(const char **text, const char *name)
{
    size_t length = strlen(name);
    char *end;
    if (strncmp(*text, name, length) != 0 || (*text)[length] != ':')
        return 0;
    unsigned long number = strtoul(*text + length + 1, &end, 10);
    if (end == *text + length + 1 || (*end != ' ' && *end != '\0') || number == 0 || number > OS_MAX_CPUS)
        return 0;
    *text = end + (*end == ' ');
    return (unsigned)number;
}

static bool read_description(const char *text, struct description *d)
{
    unsigned number[MOST_WORDS];
    d->processors = 1;
    for (d->n = 0; *text != '\0'; d->n++) {
        unsigned k = 0;
        while (d->n < MOST_WORDS && k <= OS_NUM_SHARINGS && (number[d->n] = read_word(&text, word[k])) == 0)
            k++;
        if (d->n == MOST_WORDS || k > OS_NUM_SHARINGS || d->processors * number[d->n] > OS_MAX_CPUS)
            return false;
        d->kind[d->n] = k;
        d->processors *= number[d->n];
    }
    for (unsigned i = 0, below = d->processors; i < d->n; i++)
        d->below[i] = below /= number[i];
    return d->n > 0 && d->kind[d->n - 1] == OS_NUM_SHARINGS;
}

int os_topology_synthetic(struct os_topology *out, const char *description)
{
    struct description d;
    memset(out, 0, sizeof *out);
    if (!read_description(description, &d)) {
        ps_warn("cannot read the topology \"%s\" (something like \"package:2 core:4 pu:2\" is expected); none is used",
                description);
        return EINVAL;
    }
    struct topology_processor *p = calloc(d.processors, sizeof *p);
    if (p == NULL)
        return ENOMEM;
    for (unsigned i = 0; i < d.processors; i++) {
        p[i].cpu = i;
        for (unsigned k = 0; k < OS_NUM_SHARINGS; k++)
            p[i].group[k] = TOPOLOGY_NO_GROUP;
        for (unsigned w = 0; w + 1 < d.n; w++)
            p[i].group[d.kind[w]] = (int32_t)(i / d.below[w]);
    }
    int error = topology_build(out, p, d.processors);
    free(p);
    return error;
}
