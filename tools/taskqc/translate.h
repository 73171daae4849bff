// A file's translation, with the macros and conditions that must be looked through first.
#ifndef TASKQC_TRANSLATE_H
#define TASKQC_TRANSLATE_H

#include "command.h"

#include <filesystem>
#include <string>

namespace taskqc
{

// `folder` is for temporary files. 0: no directives; 1: translated; -1: a mistake, which was said.
int translate(const Settings &settings, const std::filesystem::path &folder, const std::string &name,
              std::string &result);

} // namespace taskqc

#endif
