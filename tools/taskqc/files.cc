#include "files.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using std::string;

namespace taskqc
{

static char remove_on_signal[4096]; // a folder of ours, with files one folder deep; or ""
char unfinished[4096];              // a file that is being written; or ""

extern "C" void on_signal(int number)
{
    if (unfinished[0])
        unlink(unfinished);
    if (remove_on_signal[0]) {
        // only exec and _exit are safe afterwards, and exec is what is wanted; fork would wait for malloc's lock, which
        // the interrupted thread may hold
        pid_t child = _Fork();
        if (child == 0) {
            execl("/bin/rm", "rm", "-rf", remove_on_signal, static_cast<char *>(nullptr));
            _exit(1);
        }
        waitpid(child, nullptr, 0);
    }
    signal(number, SIG_DFL);
    raise(number);
}

Folder::Folder()
{
    string name = (fs::temp_directory_path() / "taskqc-XXXXXX").string();
    if (!mkdtemp(name.data())) {
        std::cerr << "psthreads-taskqc: " << name << ": " << strerror(errno) << "\n";
        exit(1);
    }
    path = name;
    snprintf(remove_on_signal, sizeof remove_on_signal, "%s", name.c_str());
}

Folder::~Folder()
{
    std::error_code ignored;
    fs::remove_all(path, ignored);
    remove_on_signal[0] = '\0';
}

int run(const Strings &command, bool quiet)
{
    pid_t child = fork();
    if (child == 0) {
        std::vector<char *> arguments;
        for (const string &word : command)
            arguments.push_back(const_cast<char *>(word.c_str()));
        arguments.push_back(nullptr);
        if (quiet && !freopen("/dev/null", "w", stderr))
            _exit(127);
        execvp(arguments[0], arguments.data());
        fprintf(stderr, "psthreads-taskqc: %s: %s\n", arguments[0], strerror(errno));
        _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool read_file(const fs::path &path, string &all)
{
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return false;
    std::ostringstream text;
    text << in.rdbuf();
    all = text.str();
    return !in.bad();
}

bool write_file(const fs::path &path, const string &all)
{
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << all;
    out.close();
    return static_cast<bool>(out);
}

static fs::path own_place()
{
    std::error_code error;
    fs::path self = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path("/usr/local/bin/psthreads-taskqc") : self;
}

string include_folder() { return (own_place().parent_path().parent_path() / "include").string(); }

string library_folder()
{
    fs::path prefix = own_place().parent_path().parent_path();
    for (const char *folder : {"lib", PS_LIBDIR, "lib64"})
        if (fs::exists(prefix / folder / "libpsthreads.so") || fs::exists(prefix / folder / "libpsthreads.a"))
            return (prefix / folder).string();
    return (prefix / "lib").string();
}

} // namespace taskqc
