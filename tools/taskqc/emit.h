// The output: the source's own text, with each directive's statement replaced.
//
// A queue's block stays where it is: the thread that comes to it runs it. A task's block becomes a function behind the
// one it stands in (libpsthreads), which gets a struct of what it captures; with OpenMP tasks it stays where it is too.
// Lines of #line lead back.
#ifndef TASKQC_EMIT_H
#define TASKQC_EMIT_H

#include "text.h"
#include "tree.h"

#include <string>
#include <vector>

// The macro calls that must be replaced by what they stand for, before emit: they use variables that a task sees by
// another name, or are a clause's names.
std::vector<Expansion> must_expand(const Scan &scan, Tree &tree, bool openmp);

// The text without those of the preprocessor's conditions that stand partly inside of a directive's statement, or
// between both: the branches that were taken remain, in their places.
std::string without_conditionals(const Text &text, const Scan &scan, const Tree &tree);

std::string emit(const Text &text, const Tree &tree, bool openmp);

#endif
