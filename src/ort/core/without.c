/* Stands in for files of this room that a bare target leaves out (cmake/bare.cmake): defines the variables and
 * functions that the other files refer to. Such a target has no tools (tool*.c; built with ORT_TOOLS=0), displays
 * nothing (display.c, affinity_format.c) and is watched by no debugger (debug_layout.c). */
#include "debug_layout.h"
#include "display.h"
#include "ort.h"

bool ort_tool_wanted;
unsigned char ort_tasks_wanted;
_Atomic uint16_t ort_implicit_flags = ORT_TASK_IMPLICIT;
_Atomic uint32_t ort_lock_fast;
size_t ort_tool_task_bytes;
void (*ort_tool_start)(void);
struct ort_tool_events ort_tool_events;
bool ort_tool_attached(void) { return false; }
void ort_tool_root_begins(PS_UNUSED struct ort_thread *t) {}
void ort_tool_member_begins(PS_UNUSED struct ort_thread *m) {}

void ort_display_env_read(void) {}
void ort_affinity_member_begins(PS_UNUSED struct ort_thread *m) {}

const struct ps_debug_layout ort_debug_layout = {PS_DEBUG_HEAD};
