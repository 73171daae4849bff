/* Reads the values of variables, as users of libgomp and of libomp write them. See spelling.h. */
#include "spelling.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include "icv.h"
#include "letters.h"
#include "os.h"

const char *spelling_skip(const char *p) { return os_skip_blanks(p); }

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
    text = spelling_skip(text);
    return spelling_is_word("true", 1, text) || spelling_is_word("on", 2, text) || spelling_is_word("1", 1, text) ||
           spelling_is_word(".true.", 2, text) || spelling_is_word(".t.", 2, text) ||
           spelling_is_word("yes", 1, text) || spelling_is_word("enabled", 0, text);
}

bool spelling_says_false(const char *text)
{
    text = spelling_skip(text);
    return spelling_is_word("false", 1, text) || spelling_is_word("off", 2, text) || spelling_is_word("0", 1, text) ||
           spelling_is_word(".false.", 2, text) || spelling_is_word(".f.", 2, text) ||
           spelling_is_word("no", 1, text) || spelling_is_word("disabled", 0, text);
}

bool spelling_number(const char *text, long min, long max, long *out)
{
    const char *p = spelling_skip(text);
    unsigned long given;
    if (!spelling_digits(&p, (unsigned long)LONG_MAX, &given) || *spelling_skip(p) != '\0' || (long)given < min)
        return false;
    *out = (long)given > max ? max : (long)given;
    return *out == (long)given;
}

unsigned spelling_counts(const char *text, unsigned max, unsigned *list, bool *changed)
{
    unsigned n = 0;
    const char *p = spelling_skip(text);
    *changed = false;
    if (strncasecmp(p, "all", 3) == 0 && *spelling_skip(p + 3) == '\0') {
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

bool spelling_schedule(const char *text, unsigned *sched, int *chunk, const char **fault)
{
    static const struct {
        const char *word;
        unsigned sched;
    } kinds[] = {{"static", ORT_SCHED_STATIC},           {"dynamic", ORT_SCHED_DYNAMIC},
                 {"guided", ORT_SCHED_GUIDED},           {"auto", ORT_SCHED_AUTO},
                 {"trapezoidal", ORT_SCHED_TRAPEZOIDAL}, {"static_steal", ORT_SCHED_DYNAMIC}};
    const char *p = spelling_skip(text);
    unsigned kind = 0, monotonic = spelling_begins(&p, "monotonic") ? ORT_SCHED_MONOTONIC : 0;
    bool modified = monotonic != 0 || spelling_begins(&p, "nonmonotonic");
    p = spelling_skip(p);
    if (modified && *p++ != ':')
        return false;
    p = spelling_skip(p);
    size_t length = 0;
    while (isalpha((unsigned char)p[length]) || p[length] == '_')
        length++;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].word) == length && strncasecmp(p, kinds[i].word, length) == 0)
            kind = kinds[i].sched;
    p = spelling_skip(p + length);
    unsigned long c = 0;
    if (kind == 0 || (*p != ',' && *p != '\0') ||
        (*p == ',' && (p = spelling_skip(p + 1), !spelling_digits(&p, INT_MAX, &c))))
        return false;
    char unit = (char)tolower((unsigned char)*p);
    unsigned long factor = unit == 'k' ? 1024 : unit == 'm' ? 1024 * 1024 : 1;
    if (*spelling_skip(p + (factor > 1)) != '\0')
        *fault = "something follows the chunk size";
    c = c > INT_MAX / factor ? INT_MAX : c * factor;
    *sched = kind | monotonic;
    *chunk = c == 0 ? kind != ORT_SCHED_STATIC : (int)c;
    return true;
}

/* Reads a policy at *p, by its name or its number, and moves *p behind the policy and the blanks that follow. Returns
 * ORT_BIND_UNSET if there is no policy. */
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
        /* Behind true or false no other policy is read; spelling_policies reports what follows as a fault. */
        if (i == 0 && (bind == ORT_BIND_FALSE || bind == ORT_BIND_TRUE)) {
            n = 1;
        } else if (bind <= ORT_BIND_TRUE) {
            return 0;
        }
        list[i] = (unsigned char)bind;
        if (i + 1 < n && *p != '\0')
            p++; /* skips one character, which is a comma in a correct list */
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
