/* ort_debug_layout: an OpenMP thread's number and level, as base/debug_layout.h says. Nothing here runs. */
#include "debug_layout.h"

#include "ort.h"

/* clang-format off */
#define M PS_DEBUG_MEMBER

extern const struct ps_debug_layout ort_debug_layout;
const struct ps_debug_layout ort_debug_layout PS_EXPORT = {PS_DEBUG_HEAD, .field = {
    M(ort_thread, team), M(ort_thread, id), M(ort_team, n), M(ort_team, level), M(ort_team, active_level),
    M(ort_team, fn),
    M(ort_team, parent),
    {"", 0},
}};
/* clang-format on */
