/* omp_ routines that give programs linked with libomp other answers than programs linked with libgomp. answers.c has
 * more of them; versions.S has those with equal answers. This file also has the ompc_ routines: the C routines under
 * names of their own, for compilers where Fortran has the omp_ names.
 *
 * From the first call of an affinity routine here on, affinity is shown as libomp shows it. omp_get_schedule returns
 * static if no schedule was set. It reports OMP_SCHEDULE=static without the monotonic modifier, which that setting
 * implies. For auto it reports the chunk size 1. */
#include "kmpc.h"

void omp_set_num_threads(int n);
void omp_set_dynamic(int on);
void omp_set_nested(int on);
void omp_set_max_active_levels(int levels);
void omp_set_schedule(unsigned kind, int chunk);
int omp_get_ancestor_thread_num(int level);
int omp_get_team_size(int level);
void omp_set_affinity_format(const char *format);
size_t omp_get_affinity_format(char *buffer, size_t size);
void omp_display_affinity(const char *format);
size_t omp_capture_affinity(char *buffer, size_t size, const char *format);

PS_EXPORT void ompc_set_num_threads(int n) { omp_set_num_threads(n); }
PS_EXPORT void ompc_set_dynamic(int on) { omp_set_dynamic(on); }
PS_EXPORT void ompc_set_nested(int on) { omp_set_nested(on); }
PS_EXPORT void ompc_set_max_active_levels(int levels) { omp_set_max_active_levels(levels); }
PS_EXPORT void ompc_set_schedule(unsigned kind, int chunk) { omp_set_schedule(kind, chunk); }
PS_EXPORT int ompc_get_ancestor_thread_num(int level) { return omp_get_ancestor_thread_num(level); }
PS_EXPORT int ompc_get_team_size(int level) { return omp_get_team_size(level); }
PS_EXPORT void ompc_set_affinity_format(const char *format) { omp_set_affinity_format(format); }

/* --- omp_...@VERSION; Fortran's names end with an underscore --- */

PS_EXPORT void kmpc_get_schedule(unsigned *kind, int32_t *chunk)
{
    const struct ort_icv *icv = ort_icv(ort_self());
    *kind = icv->sched;
    *chunk = icv->chunk;
    if (*kind == ORT_SCHED_UNSET) {
        *kind = ORT_SCHED_STATIC;
        *chunk = 0;
    } else if (*kind == (ORT_SCHED_STATIC | ORT_SCHED_MONOTONIC) && ort_settings.static_is_plain) {
        *kind = ORT_SCHED_STATIC;
    } else if (*kind == ORT_SCHED_AUTO) {
        *chunk = 1;
    }
}
KMPC_FORTRAN(kmpc_get_schedule);
KMPC_AS(get_schedule);
KMPC_AS(get_schedule_);

int32_t omp_capture_affinity_(char *buffer, const char *format, size_t size, size_t format_length);
int32_t omp_get_affinity_format_(char *buffer, size_t size);
void omp_display_affinity_(const char *format, size_t length);

/* Defines the routine of that name for programs linked with libomp. It shows affinity as libomp does. */
#define AS_LIBOMP(type, name, parameters, arguments) \
    PS_EXPORT type kmpc_##name parameters            \
    {                                                \
        kmpc_asked_as_libomp();                      \
        return omp_##name arguments;                 \
    }                                                \
    KMPC_AS(name)
/* As AS_LIBOMP, for a routine that is also an ompc_ routine. */
#define AS_LIBOMP_OMPC(type, name, parameters, arguments) \
    AS_LIBOMP(type, name, parameters, arguments);         \
    extern __typeof__(kmpc_##name) ompc_##name __attribute__((alias("kmpc_" #name), visibility("default")))

AS_LIBOMP_OMPC(size_t, get_affinity_format, (char *buffer, size_t size), (buffer, size));
AS_LIBOMP(int32_t, get_affinity_format_, (char *buffer, size_t size), (buffer, size));
AS_LIBOMP_OMPC(void, display_affinity, (const char *format), (format));
AS_LIBOMP(void, display_affinity_, (const char *format, size_t length), (format, length));
AS_LIBOMP_OMPC(size_t, capture_affinity, (char *buffer, size_t size, const char *format), (buffer, size, format));
AS_LIBOMP(int32_t, capture_affinity_, (char *buffer, const char *format, size_t size, size_t format_length),
          (buffer, format, size, format_length));
