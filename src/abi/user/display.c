/* Display of the environment and of affinity. OpenMP 5.2 sections 18.3 and 18.15.
 *
 * Fortran passes the lengths of its strings after all other arguments. Its strings have no zero at the end, and are
 * padded with blanks. */
#include "display.h"
#include "env.h"

#include <stdlib.h>
#include <string.h>

#include "user.h"

USER_SET(omp_display_env, ort_display_env)

PS_EXPORT void omp_set_affinity_format(const char *format)
{
    ort_env_ask();
    ort_affinity_format_set(format, strlen(format));
}
PS_EXPORT void omp_set_affinity_format_(const char *format, size_t length)
{
    ort_env_ask();
    ort_affinity_format_set(format, length);
}

PS_EXPORT size_t omp_get_affinity_format(char *buffer, size_t size) { return ort_affinity_format_get(buffer, size); }

PS_EXPORT int32_t omp_get_affinity_format_(char *buffer, size_t size)
{
    size_t length = ort_affinity_format_get(NULL, 0);
    char *format = malloc(length + 1);
    if (format == NULL)
        return 0;
    ort_affinity_format_get(format, length + 1);
    memset(buffer, ' ', size);
    memcpy(buffer, format, length < size ? length : size);
    free(format);
    return (int32_t)length;
}

PS_EXPORT void omp_display_affinity(const char *format) { ort_affinity_print(ort_self(), format); }

PS_EXPORT size_t omp_capture_affinity(char *buffer, size_t size, const char *format)
{
    size_t length = ort_affinity_text(ort_self(), format, buffer, size);
    if (size > 0)
        buffer[length < size ? length : size - 1] = '\0';
    return length;
}

/* Returns a copy of the string with a zero at its end. NULL: the string is empty, or there is no memory; then the
 * format is that of affinity-format-var. */
static char *with_zero(const char *format, size_t length)
{
    char *copy = length == 0 ? NULL : malloc(length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, format, length);
    copy[length] = '\0';
    return copy;
}

PS_EXPORT void omp_display_affinity_(const char *format, size_t length)
{
    char *copy = with_zero(format, length);
    ort_affinity_print(ort_self(), copy);
    free(copy);
}

PS_EXPORT int32_t omp_capture_affinity_(char *buffer, const char *format, size_t size, size_t format_length)
{
    char *copy = with_zero(format, format_length);
    memset(buffer, ' ', size);
    size_t length = ort_affinity_text(ort_self(), copy, buffer, size);
    free(copy);
    return (int32_t)length;
}
