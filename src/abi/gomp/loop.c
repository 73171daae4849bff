/* GNU entry points: loops and doacross loops over long. The functions that end a loop are the same for both types, and
 * are here too. cancel.c has those for loops that can be cancelled. */
#define LOOP_VALUE long
#define LOOP_NAME(x) GOMP_loop_##x
#define LOOP_STATIC(x) x##_loop
#define LOOP_UP
#define LOOP_UP_VALUE
#define LOOP_DESCRIBE gomp_loop
#include "loop_template.h"

PS_EXPORT void GOMP_loop_end(void)
{
    struct ort_thread *t = ort_self_inline();
    ort_loop_leave(t);
    ORT_TOOL_TRACED(t, ort_tool_barrier(t, ORT_SYNC_BARRIER_WORKSHARE), ort_barrier(t));
}

PS_EXPORT void GOMP_loop_end_nowait(void) { ort_loop_leave(ort_self_inline()); }
