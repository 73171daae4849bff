/* Values as libomp's users write them. See spelling.h. */
#include "spelling.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "icv.h"

const char *spelling_skip(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

bool spelling_digits(const char **p, unsigned long max, unsigned long *out)
{
    const char *at = *p;
    unsigned long v = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        unsigned long digit = (unsigned long)(*at - '0');
        v = v > (max - (digit < max ? digit : max)) / 10 ? max : v * 10 + digit;
    }
    if (at == *p)
        return false;
    *p = at;
    *out = v > max ? max : v;
    return true;
}

bool spelling_begins(const char **p, const char *word)
{
    size_t length = strlen(word);
    if (strncasecmp(*p, word, length) != 0)
        return false;
    *p += length;
    return true;
}

bool spelling_is_word(const char *word, size_t least, const char *text)
{
    size_t i = 0;
    while (word[i] != '\0' && text[i] != '\0' && tolower((unsigned char)word[i]) == tolower((unsigned char)text[i]))
        i++;
    if (word[i] != '\0' && text[i] != '\0')
        return false;
    return least > 0 ? i >= least : word[i] == '\0' && text[i] == '\0';
}

bool spelling_says_true(const char *text)
{
    return spelling_is_word("true", 1, text) || spelling_is_word("on", 2, text) || spelling_is_word("1", 1, text) ||
           spelling_is_word(".true.", 2, text) || spelling_is_word(".t.", 2, text) ||
           spelling_is_word("yes", 1, text) || spelling_is_word("enabled", 0, text);
}

bool spelling_says_false(const char *text)
{
    return spelling_is_word("false", 1, text) || spelling_is_word("off", 2, text) || spelling_is_word("0", 1, text) ||
           spelling_is_word(".false.", 2, text) || spelling_is_word(".f.", 2, text) ||
           spelling_is_word("no", 1, text) || spelling_is_word("disabled", 0, text);
}

bool spelling_number(const char *text, long min, long max, long *out)
{
    const char *p = spelling_skip(text);
    unsigned long given;
    bool good = spelling_digits(&p, ULONG_MAX, &given) && *spelling_skip(p) == '\0';
    long v = !good ? *out : given > (unsigned long)LONG_MAX ? LONG_MAX : (long)given;
    bool fits = !good || given <= (unsigned long)LONG_MAX;
    *out = v < min ? min : v > max ? max : v;
    return good && fits && *out == v;
}

bool spelling_size(const char *text, size_t unit, size_t *out)
{
    static const char units[] = "kmgtpezy";
    const char *p = spelling_skip(text);
    unsigned long count;
    size_t bytes;
    if (!spelling_digits(&p, ULONG_MAX, &count) || count == ULONG_MAX)
        return false;
    p = spelling_skip(p);
    const char *u = *p != '\0' ? strchr(units, tolower((unsigned char)*p)) : NULL;
    size_t shift = u != NULL ? (size_t)(u - units + 1) * 10 : 0;
    p += u != NULL;
    if (u != NULL || tolower((unsigned char)*p) == 'b')
        unit = shift < sizeof(size_t) * CHAR_BIT ? (size_t)1 << shift : 0;
    p += tolower((unsigned char)*p) == 'b';
    if (*spelling_skip(p) != '\0' || unit == 0 || __builtin_mul_overflow((size_t)count, unit, &bytes))
        return false;
    *out = bytes;
    return true;
}

unsigned spelling_counts(const char *text, unsigned max, unsigned *list, bool *changed)
{
    unsigned n = 0;
    const char *p = spelling_skip(text);
    *changed = false;
    if (strcasecmp(text, "all") == 0) {
        list[0] = 0;
        return 1;
    }
    for (;;) {
        unsigned long v = n > 0 ? list[n - 1] : 0;
        if (*p == '\0' && n > 0)
            return n;
        if (*p != ',') {
            if (!spelling_digits(&p, (unsigned long)max + 1, &v) || v > max)
                return 0;
            p = spelling_skip(p);
            if (*p != ',' && *p != '\0')
                return 0;
            *changed |= v == 0;
            v = v == 0 ? 1 : v;
        }
        list[n++] = (unsigned)v;
        p = spelling_skip(p + (*p == ','));
    }
}

/* Behind the comma. The chunk; below 1: it is none that can be had. What follows a number does not matter, but for
 * units. */
static long read_chunk(const char *p)
{
    unsigned long v;
    if (!spelling_digits(&p, INT_MAX, &v))
        return 0; /* a blank before it */
    char unit = (char)tolower((unsigned char)*p);
    unsigned long factor = unit == 'k' ? 1024 : unit == 'm' ? 1024 * 1024 : 1;
    if (unit == 'b' || factor > 1)
        v = p[1] != '\0' ? 0 : v * factor;
    return v > INT_MAX ? INT_MAX : (long)v;
}

bool spelling_schedule(const char *text, unsigned *sched, int *chunk, const char **fault)
{
    static const struct {
        const char *word;
        unsigned sched;
    } kinds[] = {{"static", ORT_SCHED_STATIC},           {"dynamic", ORT_SCHED_DYNAMIC},
                 {"guided", ORT_SCHED_GUIDED},           {"auto", ORT_SCHED_AUTO},
                 {"trapezoidal", ORT_SCHED_TRAPEZOIDAL}, {"static_steal", ORT_SCHED_DYNAMIC}};
    const char *p = spelling_skip(text);
    unsigned kind = 0, monotonic = spelling_begins(&p, "monotonic:") ? ORT_SCHED_MONOTONIC : 0;
    if (monotonic == 0)
        spelling_begins(&p, "nonmonotonic:");
    size_t length = strcspn(p, ",:");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].word) == length && strncasecmp(p, kinds[i].word, length) == 0)
            kind = kinds[i].sched;
    p += length;
    if (kind == 0 || *p == ':' || (*p == ',' && !isdigit((unsigned char)*spelling_skip(p + 1))))
        return false;
    long c = kind != ORT_SCHED_STATIC;
    if (*p == ',' && kind == ORT_SCHED_AUTO) {
        *fault = "auto has no chunk size";
    } else if (*p == ',') {
        c = read_chunk(p + 1);
        if (c < 1 || c == INT_MAX)
            *fault = "the chunk size is not one";
        c = c < 1 ? 1 : c == INT_MAX ? INT_MAX - 1 : c;
    }
    *sched = kind | monotonic;
    *chunk = (int)c;
    return true;
}

/* A policy at *p by its name, or its number; *p moves behind it and the blanks. */
static enum ort_bind read_policy_or_number(const char **p)
{
    static const struct {
        const char *word;
        enum ort_bind bind;
    } policies[] = {{"disabled", ORT_BIND_FALSE}, {"false", ORT_BIND_FALSE},     {"true", ORT_BIND_TRUE},
                    {"master", ORT_BIND_PRIMARY}, {"primary", ORT_BIND_PRIMARY}, {"close", ORT_BIND_CLOSE},
                    {"spread", ORT_BIND_SPREAD}};
    enum ort_bind bind = ORT_BIND_UNSET;
    unsigned long number;
    *p = spelling_skip(*p);
    if (spelling_digits(p, INT_MAX, &number) && number <= ORT_BIND_SPREAD)
        bind = (enum ort_bind)number;
    *p = spelling_skip(*p);
    for (size_t i = 0; i < sizeof policies / sizeof *policies && bind == ORT_BIND_UNSET; i++)
        if (spelling_begins(p, policies[i].word))
            bind = policies[i].bind;
    *p = spelling_skip(*p);
    return bind;
}

unsigned spelling_policies(const char *text, unsigned char *list, const char **fault)
{
    const char *p = text;
    unsigned n = 1;
    for (const char *q = text; *q != '\0'; q++)
        n += *q == ',';
    for (unsigned i = 0; i < n; i++) {
        enum ort_bind bind = read_policy_or_number(&p);
        if (i == 0 && (bind == ORT_BIND_FALSE || bind == ORT_BIND_TRUE)) { /* they stand alone */
            n = 1;
            bind = bind == ORT_BIND_TRUE ? ORT_BIND_SPREAD : ORT_BIND_FALSE;
        } else if (bind <= ORT_BIND_TRUE) {
            return 0;
        }
        list[i] = (unsigned char)bind;
        if (i + 1 < n && *p != '\0')
            p++; /* a comma, or what then is no policy */
    }
    if (*p != '\0')
        *fault = "something follows that does not belong there";
    return n;
}

bool spelling_disables(const char *text)
{
    const char *p = spelling_skip(text);
    unsigned long number;
    if (spelling_digits(&p, INT_MAX, &number))
        p = spelling_skip(p);
    return spelling_begins(&p, "disabled");
}
