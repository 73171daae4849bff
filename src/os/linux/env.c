/* Reading the environment, on every system.
 *
 * Does: turns variables into values; if it cannot read one, warns in one line and says what is used instead. Does not:
 * know any variable's meaning or default.
 * Callers: any thread, on any stack; as with getenv, no other thread may change the environment meanwhile. No shared
 * state.
 * Failures: returns false, and leaves the output alone. `instead` completes the sentence "...; using <instead>
 * instead".
 *
 * Rejected: strtoul alone, which silently accepts signs, bases and values out of range. */
#include "check.h"
#include "letters.h"
#include "os.h"

#include <limits.h>
#include <string.h>

const char *os_skip_blanks(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

/* Reads decimal digits at *at, and moves *at after them. Returns false if there are none, or the number does not
 * fit. */
static bool parse_digits(const char **at, unsigned long long *out)
{
    const char *s = *at;
    unsigned long long value = 0;
    if (!isdigit((unsigned char)*s))
        return false;
    for (; isdigit((unsigned char)*s); s++)
        if (__builtin_mul_overflow(value, 10ull, &value) ||
            __builtin_add_overflow(value, (unsigned long long)(*s - '0'), &value))
            return false;
    *at = s;
    *out = value;
    return true;
}

bool os_env_unsigned(const char *name, unsigned long min, unsigned long max, unsigned long *out, const char *instead)
{
    const char *text = os_env(name);
    if (text == NULL)
        return false;
    unsigned long long value;
    const char *at = os_skip_blanks(text);
    if (!parse_digits(&at, &value) || *os_skip_blanks(at) != '\0' || value < min || value > max) {
        ps_warn("%s=\"%s\" is not a whole number from %lu to %lu; using %s instead", name, text, min, max, instead);
        return false;
    }
    *out = (unsigned long)value;
    return true;
}

bool os_env_size(const char *name, size_t default_unit, size_t *out_bytes, const char *instead)
{
    const char *text = os_env(name);
    if (text == NULL)
        return false;
    static const char units[] = "kmgtpezy";
    unsigned long long count;
    size_t unit = default_unit, bytes;
    const char *at = os_skip_blanks(text);
    bool good = parse_digits(&at, &count);
    at = os_skip_blanks(at);
    const char *u = *at != '\0' ? strchr(units, tolower((unsigned char)*at)) : NULL;
    size_t shift = u != NULL ? (size_t)(u - units + 1) * 10 : 0;
    at += u != NULL;
    bool in_bytes = tolower((unsigned char)*at) == 'b';
    if (u != NULL || in_bytes)
        unit = shift < sizeof(size_t) * CHAR_BIT ? (size_t)1 << shift : 0;
    good &= *os_skip_blanks(at + in_bytes) == '\0' && unit != 0;
    if (!good || __builtin_mul_overflow(count, unit, &bytes)) {
        ps_warn(
            "%s=\"%s\" is not a size (a whole number, perhaps with K, M, G or T and a B) that fits; using %s instead",
            name, text, instead);
        return false;
    }
    *out_bytes = bytes;
    return true;
}
