/* Names of variables: look-up, switches, and a warning for names that no part of the project reads. The warning names
 * the variable that the misspelled one resembles most.
 *
 * Callers: any thread; no other thread may change the environment meanwhile. */
#include "check.h"
#include "os.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *os_env(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || *value == '\0' ? NULL : value;
}

const char *os_env_trusted(const char *name) { return secure_getenv(name) == NULL ? NULL : os_env(name); }

bool os_env_switch(const char *name)
{
    static const char *const no[] = {"0", "no", "off", "false"};
    const char *value = os_env(name);
    for (unsigned i = 0; value != NULL && i < sizeof no / sizeof no[0]; i++)
        if (strcasecmp(value, no[i]) == 0)
            return false;
    return value != NULL;
}

#define LONGEST 48 /* longest name that is compared */

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Returns how many letters must be added, left out or changed to turn one name into the other (Levenshtein); LONGEST if
 * a name is too long. */
static unsigned distance(const char *a, size_t a_length, const char *b)
{
    unsigned row[LONGEST + 1];
    size_t b_length = strlen(b);
    if (a_length > LONGEST || b_length > LONGEST)
        return LONGEST;
    for (unsigned j = 0; j <= b_length; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            unsigned changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(changed, least(row[j - 1], row[j]) + 1);
        }
    }
    return row[b_length];
}

static bool is(const char *name, const char *variable, size_t length)
{
    return strlen(name) == length && memcmp(name, variable, length) == 0;
}

/* rest: a variable's name without the prefix. Returns whether build tools and environment modules set such a variable
 * for a package of the prefix's name (PREFIX_ROOT, PREFIX_DIR ...). */
static bool is_a_tools(const char *rest, size_t length)
{
    static const char *const names[] = {"ROOT",    "DIR",     "HOME",    "BASE", "PREFIX",  "PATH",
                                        "LIB",     "LIBRARY", "LIBDIR",  "INC",  "INCLUDE", "INCLUDE_DIR",
                                        "VERSION", "BIN",     "LICENSE", "DOC"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is(names[i], rest, length))
            return true;
    return false;
}

void os_env_check_names(const char *prefix, const char *const *names, unsigned n)
{
    for (char **at = environ; at && *at; at++) {
        const char *variable = *at, *end = strchr(variable, '=');
        size_t length = end ? (size_t)(end - variable) : 0;
        if (!end || strncmp(variable, prefix, strlen(prefix)) != 0 ||
            is_a_tools(variable + strlen(prefix), length - strlen(prefix)))
            continue;
        unsigned nearest = 0, known = 0;
        for (unsigned i = 0; i < n && !known; i++) {
            known = is(names[i], variable, length);
            if (distance(variable, length, names[i]) < distance(variable, length, names[nearest]))
                nearest = i;
        }
        char name[LONGEST + 1];
        length = length < LONGEST ? length : LONGEST;
        memcpy(name, variable, length);
        name[length] = '\0';
        if (!known)
            ps_warn("%s is no variable of psthreads, and is ignored; is %s meant?", name, names[nearest]);
    }
}
