/* Tasks. OpenMP 5.2 sections 18.5.3, 18.11. */
#include "user.h"

USER_GET(omp_in_final, ort_in_final(ort_self()))

PS_EXPORT void omp_fulfill_event(uintptr_t event) { ort_task_fulfill((void *)event); }
PS_EXPORT void omp_fulfill_event_(uintptr_t event) { ort_task_fulfill((void *)event); }

USER_GET(omp_in_explicit_task, !(ort_self()->task->flags & ORT_TASK_IMPLICIT))
