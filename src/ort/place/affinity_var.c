/* affinity-format-var: the text itself. affinity_format.c knows what it means.
 *
 * Callers: any thread of the program. Shared: ort_settings.affinity_format is written and copied under `lock`, so that
 * a reader never sees half of a text. Failure: without memory one line is printed, and the format stays as it was.
 * OpenMP 5.2 section 21.2.5. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "display.h"
#include "ort.h"
#include "own_lock.h"

const char *const ort_affinity_defaults[2] = {"level %L thread %i affinity %A",
                                              "OMP: pid %P tid %i thread %n bound to OS proc set {%A}"};

_Atomic bool ort_display_as_libomp;
static const char *default_format(void) { return ort_affinity_defaults[ps_load_relaxed(&ort_display_as_libomp)]; }

ORT_OWN_LOCK(lock)

void ort_affinity_format_set(const char *format, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy == NULL) {
        ps_warn("no memory for an affinity format; it stays as it was");
        return;
    }
    memcpy(copy, format, length);
    copy[length] = '\0';
    ort_own_lock(&lock);
    char *before = ort_settings.affinity_format;
    ort_settings.affinity_format = copy;
    ort_own_unlock(&lock);
    free(before);
}

size_t ort_affinity_format_get(char *buffer, size_t size)
{
    ort_own_lock(&lock);
    const char *format = ort_settings.affinity_format != NULL ? ort_settings.affinity_format : default_format();
    size_t length = strlen(format);
    if (size > 0) {
        size_t n = length < size ? length : size - 1;
        memcpy(buffer, format, n);
        buffer[n] = '\0';
    }
    ort_own_unlock(&lock);
    return length;
}
