/* The table by which psthreads calls this room: see psthreads/data/identity.h. */
#include "identity.h"

#include "priority.h"
#include "thread_signal.h"

const struct ps_identity ps_identity = {
    .look = thread_signal_look,
    .take_back = thread_signal_take_back,
    .root_begins = thread_signal_root_begins,
    .attach = priority_attach,
    .came_home = priority_changed,
    .reset = priority_reset,
};
