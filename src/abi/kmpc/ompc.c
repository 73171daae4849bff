/* ompc_ routines: the C forms of omp_ routines under names of their own, for compilers whose Fortran takes the omp_ names. */
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
PS_EXPORT size_t ompc_get_affinity_format(char *buffer, size_t size) { return omp_get_affinity_format(buffer, size); }
PS_EXPORT void ompc_display_affinity(const char *format) { omp_display_affinity(format); }
PS_EXPORT size_t ompc_capture_affinity(char *buffer, size_t size, const char *format)
{
    return omp_capture_affinity(buffer, size, format);
}
