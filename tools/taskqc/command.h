// The command line: the compiler's options, and our own.
#ifndef TASKQC_COMMAND_H
#define TASKQC_COMMAND_H

#include "files.h"

#include <string>
#include <vector>

namespace taskqc
{

struct Settings {
    bool openmp = false, translate = false, stop_at_objects = false, only_dependences = false;
    std::string compiler = "cc", out;
    Strings words;              // the compiler's, in order
    std::vector<size_t> inputs; // which of them are C files
    Strings preprocessor;       // the options that matter to it
    std::string dependences;    // the file of -MF, or what -MD makes of -o
    bool wants_dependences = false;
};

bool starts_with(const std::string &s, const char *with);
// What libclang understands of the compiler's options.
Strings for_libclang(const Settings &s);
[[noreturn]] void wrong(const std::string &what);
Settings read_command(int argc, char **argv);

} // namespace taskqc

#endif
