// Files, the temporary folder, the places of what is installed, and programs that are run.
#ifndef TASKQC_FILES_H
#define TASKQC_FILES_H

#include <filesystem>
#include <string>
#include <vector>

namespace taskqc
{

using Strings = std::vector<std::string>;

// What goes away at the end, also by a signal.
extern char unfinished[4096]; // a file that is being written; or ""
extern "C" void on_signal(int number);

struct Folder {
    std::filesystem::path path;
    Folder();
    ~Folder();
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
};

int run(const Strings &command, bool quiet = false);
bool read_file(const std::filesystem::path &path, std::string &all);
bool write_file(const std::filesystem::path &path, const std::string &all);
std::string include_folder();
std::string library_folder();

} // namespace taskqc

#endif
