/* Reads the texts of OMP_PLACES and GOMP_CPU_AFFINITY. See place.h.
 *
 *   list:     place {, place}
 *   place:    [!] processors [: length [: stride]]      ! removes an equal place from the list; no length may follow
 *   processors: number  or  { range {, range} }
 *   range:    number [: length [: stride]] or ! number  ! removes the number from this place, in any order
 *   name:     threads | cores | ll_caches | numa_domains | sockets, perhaps followed by (count)
 * Blanks may stand between all of these. Processors that do not exist are no fault here: place.c drops them. A length
 * may be 0, a stride may have several signs. OpenMP 5.2 section 21.1.6. */
#include "place.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "check.h"
#include "letters.h"
#include "spelling.h"

static const char *const no_memory = "no memory or too many places";
static const char *const out_of_range = "a number is out of range";

void place_free(struct ort_places *list)
{
    free(list->first);
    free(list->cpu);
    *list = (struct ort_places){0};
}

/* Makes room for elements n and n + 1. Returns false if there is no memory. */
static bool grow(unsigned **array, unsigned n, unsigned *max)
{
    if (n + 2 <= *max)
        return true;
    unsigned larger = *max == 0 ? 16 : *max * 2;
    unsigned *p = realloc(*array, larger * sizeof *p);
    if (p == NULL)
        return false;
    *array = p;
    *max = larger;
    return true;
}

bool place_append(struct place_builder *b, const struct os_cpuset *set)
{
    struct ort_places *l = &b->list;
    if (l->n >= PLACE_MAX || !grow(&l->first, l->n, &b->places_max))
        return false;
    unsigned at = l->n == 0 ? 0 : l->first[l->n];
    l->first[l->n] = at;
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++) {
        if (set->bits[cpu / 64] == 0) {
            cpu += 63;
            continue;
        }
        if (!os_cpuset_has(set, cpu))
            continue;
        if (!grow(&l->cpu, at, &b->cpus_max))
            return false;
        l->cpu[at++] = cpu;
    }
    l->first[++l->n] = at;
    return true;
}

/* Removes the place that is equal to `set` from the list. Returns false if there is none, or no memory. */
static bool take_out(struct place_builder *b, const struct os_cpuset *set)
{
    struct place_builder rest = {0};
    bool found = false, good = true;
    for (unsigned p = 0; p < b->list.n; p++) {
        struct os_cpuset other;
        os_cpuset_zero(&other);
        for (unsigned i = b->list.first[p]; i < b->list.first[p + 1]; i++)
            os_cpuset_add(&other, b->list.cpu[i]);
        if (!found && memcmp(&other, set, sizeof other) == 0)
            found = true;
        else
            good &= place_append(&rest, &other);
    }
    if (!found || !good) {
        place_free(&rest.list);
        return false;
    }
    place_free(&b->list);
    *b = rest;
    return true;
}

struct cursor {
    const char *at;
    const char *fault; /* the first fault; NULL: none so far */
};

static bool fail(struct cursor *c, const char *why)
{
    if (c->fault == NULL)
        c->fault = why;
    return false;
}

/* Skips blanks, then `what` and blanks behind it. Returns false if the next character is not `what`. */
static bool eat(struct cursor *c, char what)
{
    c->at = os_skip_blanks(c->at);
    if (*c->at != what)
        return false;
    c->at++;
    c->at = os_skip_blanks(c->at);
    return true;
}

static bool read_number(struct cursor *c, long min, long max, long *out)
{
    c->at = os_skip_blanks(c->at);
    bool negative = false;
    for (; *c->at == '+' || (min < 0 && *c->at == '-'); c->at++)
        negative ^= *c->at == '-';
    if (!isdigit((unsigned char)*c->at))
        return fail(c, "a number is missing");
    long v = 0;
    for (; isdigit((unsigned char)*c->at); c->at++)
        v = v > max ? v : v * 10 + (*c->at - '0');
    *out = negative ? -v : v;
    return v <= max || fail(c, out_of_range);
}

/* Reads [: length [: stride]]; what is left out is 1. */
static bool read_interval(struct cursor *c, long *length, long *stride)
{
    *length = *stride = 1;
    if (!eat(c, ':'))
        return true;
    if (!read_number(c, 0, PLACE_MAX, length))
        return false;
    return !eat(c, ':') || read_number(c, -(long)PLACE_MAX, PLACE_MAX, stride);
}

static bool read_range(struct cursor *c, struct os_cpuset *in, struct os_cpuset *out)
{
    long first = 0, length = 1, stride = 1;
    bool excluded = eat(c, '!');
    if (!read_number(c, 0, OS_MAX_CPUS - 1, &first) || (!excluded && !read_interval(c, &length, &stride)))
        return false;
    for (long i = 0; i < length; i++) {
        long cpu = first + i * stride;
        if (cpu < 0 || cpu >= OS_MAX_CPUS)
            return fail(c, out_of_range);
        os_cpuset_add(excluded ? out : in, (unsigned)cpu);
    }
    return true;
}

static bool read_processors(struct cursor *c, struct os_cpuset *set)
{
    os_cpuset_zero(set);
    if (!eat(c, '{')) {
        long cpu;
        if (!read_number(c, 0, OS_MAX_CPUS - 1, &cpu))
            return false;
        os_cpuset_add(set, (unsigned)cpu);
        return true;
    }
    struct os_cpuset out;
    os_cpuset_zero(&out);
    do {
        if (!read_range(c, set, &out))
            return false;
    } while (eat(c, ','));
    if (!eat(c, '}'))
        return fail(c, "\"}\" or \",\" is missing");
    for (unsigned i = 0; i < OS_MAX_CPUS / 64; i++) {
        if (out.bits[i] & ~set->bits[i])
            return fail(c, "a processor is taken out of a place that does not have it");
        set->bits[i] &= ~out.bits[i];
    }
    return true;
}

/* Adds `by` to every processor's number. Returns false if a number is then out of range. */
static bool shift(const struct os_cpuset *from, long by, struct os_cpuset *to)
{
    os_cpuset_zero(to);
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++) {
        if (!os_cpuset_has(from, cpu))
            continue;
        if ((long)cpu + by < 0 || (long)cpu + by >= OS_MAX_CPUS)
            return false;
        os_cpuset_add(to, (unsigned)((long)cpu + by));
    }
    return true;
}

static bool read_place(struct cursor *c, struct place_builder *b)
{
    struct os_cpuset set, moved;
    long length, stride;
    bool excluded = eat(c, '!');
    if (!read_processors(c, &set))
        return false;
    if (excluded)
        return take_out(b, &set) || fail(c, "a place is taken out that is not in the list");
    if (!read_interval(c, &length, &stride))
        return false;
    for (long i = 0; i < length; i++) {
        if (!shift(&set, i * stride, &moved))
            return fail(c, out_of_range);
        if (!place_append(b, &moved))
            return fail(c, no_memory);
    }
    return true;
}

const char *const place_names[PLACE_LIST] = {[PLACE_THREADS] = "threads",
                                             [PLACE_CORES] = "cores",
                                             [PLACE_LL_CACHES] = "ll_caches",
                                             [PLACE_NUMA_DOMAINS] = "numa_domains",
                                             [PLACE_SOCKETS] = "sockets"};

/* Reads a name with its count, if the text begins with a name; otherwise returns false. */
static bool read_name(struct cursor *c, enum place_kind *kind, unsigned *count)
{
    unsigned long n = 0; /* 0: all places of that kind */
    for (unsigned k = 0; k < PLACE_LIST; k++) {
        size_t length = strlen(place_names[k]);
        if (strncasecmp(c->at, place_names[k], length) != 0)
            continue;
        c->at += length;
        *kind = (enum place_kind)k;
        if (eat(c, '(') && (spelling_digits(&c->at, PLACE_MAX, &n), !eat(c, ')'))) {
            fail(c, "\")\" is missing");
            n = 0;
        }
        *count = (unsigned)n;
        return true;
    }
    return false;
}

const char *place_parse(const char *text, enum place_kind *kind, unsigned *count, struct ort_places *list)
{
    struct cursor c = {.at = os_skip_blanks(text)};
    struct place_builder b = {0};
    *kind = PLACE_LIST;
    *count = 0;
    if (!read_name(&c, kind, count)) {
        while (read_place(&c, &b) && eat(&c, ','))
            ;
    }
    c.at = os_skip_blanks(c.at);
    if (c.fault == NULL && *c.at != '\0')
        fail(&c, "something follows that does not belong there");
    if (c.fault != NULL)
        place_free(&b.list);
    *list = b.list;
    return c.fault;
}

/* Reads number [- number [: [-] stride]]. Each number is a place. */
static bool read_span(struct cursor *c, struct place_builder *b)
{
    unsigned long first = 0, last, stride = 1;
    bool down = false;
    spelling_digits(&c->at, OS_MAX_CPUS - 1, &first);
    last = first;
    c->at = spelling_skip(c->at);
    if (*c->at == '-') {
        c->at = spelling_skip(c->at + 1);
        if (!spelling_digits(&c->at, OS_MAX_CPUS - 1, &last))
            return fail(c, "a number is missing");
        c->at = spelling_skip(c->at);
        if (*c->at == ':') {
            c->at = spelling_skip(c->at + 1);
            down = *c->at == '-';
            c->at = spelling_skip(c->at + down);
            if (!spelling_digits(&c->at, OS_MAX_CPUS, &stride) || stride == 0)
                return fail(c, "a stride is missing or 0");
        }
        if (down ? first < last : first > last)
            return fail(c, "a span goes the wrong way");
    }
    for (unsigned long i = 0; i <= (down ? first - last : last - first); i += stride) {
        struct os_cpuset set;
        os_cpuset_zero(&set);
        os_cpuset_add(&set, (unsigned)(down ? first - i : first + i));
        if (!place_append(b, &set))
            return fail(c, no_memory);
    }
    return true;
}

/* Reads the numbers behind "{", up to "}". Together they are one place. */
static bool read_set(struct cursor *c, struct place_builder *b)
{
    struct os_cpuset set;
    unsigned long cpu;
    os_cpuset_zero(&set);
    for (;;) {
        c->at = spelling_skip(c->at);
        if (!spelling_digits(&c->at, OS_MAX_CPUS - 1, &cpu))
            return fail(c, "a number is missing");
        os_cpuset_add(&set, (unsigned)cpu);
        c->at = spelling_skip(c->at);
        if (*c->at == '}')
            break;
        c->at += *c->at == ',';
    }
    c->at++;
    return place_append(b, &set) || fail(c, no_memory);
}

const char *place_parse_proclist(const char **p, char end, struct ort_places *list)
{
    struct cursor c = {.at = *p};
    struct place_builder b = {0};
    for (;;) {
        c.at = spelling_skip(c.at);
        if (*c.at == '\0' || (!isdigit((unsigned char)*c.at) && *c.at != '{'))
            break;
        if (*c.at == '{' ? (c.at++, !read_set(&c, &b)) : !read_span(&c, &b))
            break;
        c.at = spelling_skip(c.at);
        c.at += *c.at == ',';
    }
    if (*c.at != end || (end != '\0' && b.list.n == 0))
        fail(&c, "it is no list of processors");
    if (c.fault != NULL)
        place_free(&b.list);
    *p = c.at;
    *list = b.list;
    return c.fault;
}
