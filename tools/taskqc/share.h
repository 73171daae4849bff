// How each task and each queue sees the variables of its function.
#ifndef TASKQC_SHARE_H
#define TASKQC_SHARE_H

#include "text.h"
#include "tree.h"

namespace taskqc
{

void share(const Text &text, Function &function, Tree &tree);

} // namespace taskqc

#endif
