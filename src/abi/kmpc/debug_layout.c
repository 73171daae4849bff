/* kmpc_debug_layout: a table for debuggers (base/debug_layout.h), with which they find the program's function that a
 * task runs. This file has no code. */
#include "debug_layout.h"

#include "kmpc_task.h"

/* clang-format off */
#define BODY(name) {"body." #name, (uintptr_t)&kmpc_task_##name}

extern const struct ps_debug_layout kmpc_debug_layout;
const struct ps_debug_layout kmpc_debug_layout PS_EXPORT = {PS_DEBUG_HEAD, .field = {
    BODY(body), BODY(body_in_one), BODY(body_traced),
    {"kmpc_task.routine", offsetof(struct kmpc_task_head, task.routine)},
    {"", 0},
}};
/* clang-format on */
