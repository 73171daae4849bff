/* Formats a thread's affinity as text, as a format (affinity-format-var) says.
 *
 *   %[[[0].]width]field    field: one letter or {long name}; "." aligns to the right, "0" fills numbers with zeros; %%
 *                          is a percent sign
 * Does: all fields of OpenMP 5.2, for any thread. native_thread_id is what gettid reports to the caller, whichever
 * thread's affinity is formatted. No two members that exist at once have the same. thread_affinity of a thread in an
 * active region is its place; if there are no places, the process's mask at the start. Outside of active regions it is
 * the present mask of the kernel thread.
 * Callers: any thread of the program.
 *
 * Shared fields: the format (affinity_var.c). `shown` of an ort_thread is written by the thread itself; in libomp's way
 * also while the thread is member 0 of an inner region.
 * Failures: for an unknown field one line is printed, once in the process, and the field's own text stands in its
 * place. Without memory nothing is shown.
 * Deviation from libgomp, which ends the program over a wrong format, and shows pthread_self() as native_thread_id. In
 * libomp's way (ort_display_as_libomp) the default format, "undefined" for an unknown field, the occasions for lines,
 * and standard output are libomp's. OpenMP 5.2 sections 18.3.8 to 18.3.11, 21.2.5. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "display.h"
#include "ort.h"
#include "os.h"
#include "place.h"

static bool formats_as_libomp(void) { return ps_load_relaxed(&ort_display_as_libomp); }

/* A text that is being composed: the buffer keeps what fits; length counts everything. */
struct text {
    char *buffer;
    size_t size, length;
};

static void add(struct text *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n && to->length + i < to->size; i++)
        to->buffer[to->length + i] = from[i];
    to->length += n;
}

static void add_fill(struct text *to, char c, size_t n)
{
    for (; n > 0; n--)
        add(to, &c, 1);
}

struct field {
    bool zeros, right;
    size_t width;
};

/* Appends value, padded to the field's width. sign: the number of leading characters that stand before filled-in
 * zeros. */
static void add_aligned(struct text *to, const struct field *f, const char *value, size_t length, size_t sign)
{
    size_t fill = f->width > length ? f->width - length : 0;
    if (f->right && !f->zeros)
        add_fill(to, ' ', fill);
    add(to, value, sign);
    if (f->zeros)
        add_fill(to, '0', fill);
    add(to, value + sign, length - sign);
    if (!f->right)
        add_fill(to, ' ', fill);
}

static void add_number(struct text *to, const struct field *f, long value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%ld", value);
    add_aligned(to, f, digits, (size_t)length, value < 0);
}

static void add_string(struct text *to, const struct field *f, const char *value, size_t length)
{
    struct field aligned = *f;
    aligned.zeros = false;
    add_aligned(to, &aligned, value, length, 0);
}

static void add_host(struct text *to, const struct field *f)
{
    char name[256];
    if (gethostname(name, sizeof name) != 0)
        strcpy(name, "node");
    name[sizeof name - 1] = '\0';
    add_string(to, f, name, strlen(name));
}

/* Appends processors as ranges: 0-3,8. libomp prints two neighbours as 0,1 and not as 0-1. */
static void append_cpu_ranges(struct text *to, const struct os_cpuset *set)
{
    char range[32];
    bool first = true;
    for (unsigned cpu = 0; cpu < OS_MAX_CPUS; cpu++) {
        if (!os_cpuset_has(set, cpu))
            continue;
        unsigned last = cpu;
        while (os_cpuset_has(set, last + 1))
            last++;
        if (last == cpu + 1 && formats_as_libomp())
            last = cpu;
        int length = snprintf(range, sizeof range, last > cpu ? "%s%u-%u" : "%s%u", first ? "" : ",", cpu, last);
        add(to, range, (size_t)length);
        first = false;
        cpu = last;
    }
}

static void add_affinity(struct text *to, const struct field *f, const struct ort_thread *t)
{
    struct os_cpuset set;
    struct ort_place place;
    if (t->team->enclosed && ort_place_of(t, &place)) {
        const struct ort_places *list = ort_places();
        os_cpuset_zero(&set);
        for (unsigned i = list->first[place.place]; i < list->first[place.place + 1]; i++)
            os_cpuset_add(&set, list->cpu[i]);
    } else if (t->team->enclosed || os_affinity_get(&set) != 0) {
        /* A member's kernel thread is the runtime's own, so its present mask says nothing. */
        os_affinity_at_start(&set);
    }
    struct text measure = {0};
    append_cpu_ranges(&measure, &set);
    size_t fill = f->width > measure.length ? f->width - measure.length : 0;
    add_fill(to, ' ', f->right ? fill : 0);
    append_cpu_ranges(to, &set);
    add_fill(to, ' ', f->right ? 0 : fill);
}

/* Appends the field that `letter` names. Returns false if there is no such field. */
static bool add_field(struct text *to, const struct field *f, char letter, const struct ort_thread *t)
{
    const struct ort_team *team = t->team;
    bool outermost = team->parent == NULL || ort_is_league(team);
    const struct {
        char letter;
        long value;
    } numbers[] = {{'t', team->contention->team_num},
                   {'T', team->contention->num_teams},
                   {'L', team->level},
                   {'n', t->id},
                   {'N', team->n},
                   {'a', outermost ? -1 : (long)team->parent->id},
                   {'P', getpid()},
                   {'i', letter == 'i' ? ee_thread_number() : 0}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].letter == letter) {
            add_number(to, f, numbers[i].value);
            return true;
        }
    if (letter == 'H')
        add_host(to, f);
    else if (letter == 'A')
        add_affinity(to, f, t);
    return letter == 'H' || letter == 'A';
}

/* Reads the field's letter or long name at *p, and moves *p behind it. Returns the letter; 0: it cannot be read. */
static char read_letter(const char **p)
{
    static const struct {
        const char *name;
        char letter;
    } fields[] = {{"{team_num}", 't'},       {"{num_teams}", 'T'},   {"{nesting_level}", 'L'},
                  {"{thread_num}", 'n'},     {"{num_threads}", 'N'}, {"{ancestor_tnum}", 'a'},
                  {"{host}", 'H'},           {"{process_id}", 'P'},  {"{native_thread_id}", 'i'},
                  {"{thread_affinity}", 'A'}};
    if (**p != '{')
        return **p != '\0' ? *(*p)++ : 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t length = strlen(fields[i].name);
        if (strncmp(*p, fields[i].name, length) == 0) {
            *p += length;
            return fields[i].letter;
        }
    }
    return 0;
}

/* Appends what the directive behind a percent sign at p stands for. Returns where the directive ends; NULL: it cannot
 * be read. */
static const char *add_directive(struct text *to, const char *p, const struct ort_thread *t)
{
    struct field f = {0};
    if (*p == '%') {
        add(to, p, 1);
        return p + 1;
    }
    if (*p == '0') {
        f.zeros = true;
        p++;
    }
    if (*p == '.') {
        f.right = true;
        p++;
    }
    for (; *p >= '0' && *p <= '9' && f.width < 4096; p++)
        f.width = f.width * 10 + (size_t)(*p - '0');
    if (f.zeros && !f.right && formats_as_libomp())
        f.zeros = false; /* libomp ignores the 0 without a "." */
    if ((f.zeros && !f.right) || (f.right && f.width == 0))
        return NULL;
    char letter = read_letter(&p);
    if (add_field(to, &f, letter, t))
        return p;
    if (!formats_as_libomp())
        return NULL;
    if (letter == 0 && *p == '{')
        p = strchr(p, '}') != NULL ? strchr(p, '}') + 1 : p;
    add_string(to, &f, "undefined", 9);
    return p;
}

static PS_COLD void report_once(const char *format)
{
    static _Atomic bool said;
    if (!ps_xchg_acq_rel(&said, true))
        ps_warn("affinity format \"%s\" has a field that there is not; using the format's own text there instead",
                format);
}

size_t ort_affinity_text(const struct ort_thread *t, const char *format, char *buffer, size_t size)
{
    struct text to = {.buffer = buffer, .size = size};
    char *copy = NULL;
    if (format == NULL || *format == '\0') {
        size_t length = ort_affinity_format_get(NULL, 0) + 1;
        copy = malloc(length);
        if (copy == NULL)
            return 0;
        ort_affinity_format_get(copy, length); /* cut, if another thread has set a longer one in between */
        format = copy;
    }
    for (const char *p = format; *p != '\0';) {
        const char *after = *p == '%' ? add_directive(&to, p + 1, t) : NULL;
        if (after == NULL) {
            if (*p == '%')
                report_once(format);
            add(&to, p, 1);
            after = p + 1;
        }
        p = after;
    }
    free(copy);
    return to.length;
}

void ort_affinity_print(const struct ort_thread *t, const char *format)
{
    char small[512], *line = small;
    size_t room = sizeof small, length;
    while ((length = ort_affinity_text(t, format, line, room - 1)) >= room) {
        if (line != small)
            free(line);
        room = length + 1;
        line = malloc(room);
        if (line == NULL)
            return;
    }
    line[length] = '\n';
    fwrite(line, 1, length + 1, formats_as_libomp() ? stdout : stderr);
    if (formats_as_libomp())
        fflush(stdout);
    if (line != small)
        free(line);
}

/* libomp prints a line for teams of one, too. It prints another line for a thread when the size, level or policy of its
 * team, or its place, has changed. A member 0 is one thread with its parent, so what it has shown is kept in the
 * outermost of these parents. In a league each member prints a line, as a member of an ordinary team at the level
 * around the teams construct. The initial threads of the league's teams print none. */
static void begins_as_in_libomp(struct ort_thread *m)
{
    struct ort_thread *carrier = m;
    struct ort_place place = {0};
    while (carrier->id == 0 && carrier->team->parent != NULL)
        carrier = carrier->team->parent;
    ort_place_of(m, &place);
    uint32_t shown = m->team->n ^ m->team->level << 20 ^ (uint32_t)m->team->bind << 28 ^ place.place << 12;
    if (carrier->shown == shown)
        return;
    carrier->shown = shown;
    ort_affinity_print(m, NULL);
}

void ort_affinity_member_begins(struct ort_thread *m)
{
    if (formats_as_libomp()) {
        if (m->team->parent != NULL && !ort_is_league(m->team->parent->team))
            begins_as_in_libomp(m);
        return;
    }
    if (m->team->n <= 1 || m->shown == m->team->n || ort_is_league(m->team))
        return;
    m->shown = m->team->n;
    ort_affinity_print(m, NULL);
}
