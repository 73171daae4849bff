#include "cli/output.h"
#include "base/config.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace mc
{
namespace
{

std::atomic<const char *> under_way[4];

void interrupted(int signal)
{
    for (auto &path : under_way)
        if (const char *p = path.load(std::memory_order_relaxed))
            unlink(p);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

// What is written comes compressed into the file.
FILE *open_compressed(const char *path)
{
    gzFile z = gzopen(path, "w");
    if (!z)
        return nullptr;
    cookie_io_functions_t functions{};
    functions.write = [](void *to, const char *bytes, size_t n) {
        return ssize_t(gzwrite(static_cast<gzFile>(to), bytes, unsigned(n)));
    };
    functions.close = [](void *to) { return gzclose(static_cast<gzFile>(to)) == Z_OK ? 0 : -1; };
    return fopencookie(z, "w", functions);
}

} // namespace

Output::Output(const std::string &path) : path_(path)
{
    if (path.empty())
        return;
    struct stat s;
    bool direct = stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode);
    if (!direct)
        temporary_ = path + ".part-" + std::to_string(getpid());
    for (int i = 0; !direct && i < 4; i++) // before the file is there
        if (!under_way[i].load(std::memory_order_relaxed)) {
            under_way[slot_ = i].store(temporary_.c_str(), std::memory_order_relaxed);
            break;
        }
    for (int signal : {SIGINT, SIGTERM})
        if (std::signal(signal, interrupted) == SIG_IGN)
            std::signal(signal, SIG_IGN); // as a shell wants it for what runs in the background
    const std::string &name = direct ? path : temporary_;
    file_ = path.ends_with(".gz") ? open_compressed(name.c_str()) : fopen(name.c_str(), "w");
    if (file_)
        return;
    int error = errno;
    if (slot_ >= 0)
        under_way[slot_].store(nullptr, std::memory_order_relaxed);
    throw ConfigError(path + ": cannot be written: " + std::strerror(error));
}

Output::~Output()
{
    if (!file_)
        return;
    fclose(file_);
    if (!temporary_.empty())
        unlink(temporary_.c_str());
    if (slot_ >= 0)
        under_way[slot_].store(nullptr, std::memory_order_relaxed);
}

void Output::keep()
{
    if (!file_)
        return;
    bool whole = !ferror(file_);
    whole = fclose(file_) == 0 && whole;
    file_ = nullptr;
    if (whole && !temporary_.empty())
        whole = rename(temporary_.c_str(), path_.c_str()) == 0;
    if (!whole && !temporary_.empty())
        unlink(temporary_.c_str());
    if (slot_ >= 0)
        under_way[slot_].store(nullptr, std::memory_order_relaxed);
    if (!whole)
        throw ConfigError(path_ + ": could not be written as a whole");
}

} // namespace mc
