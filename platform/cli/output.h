// A file that is whole or not there: written under a temporary name beside its own, renamed at the end.
#pragma once
#include <cstdio>
#include <string>

namespace mc
{

class Output
{
  public:
    // "": none, file() is null. What exists and is no regular file (/dev/stdout, a pipe) is written directly. Throws
    // ConfigError if it cannot be written. PATH.gz is written compressed. At most four at a time.
    explicit Output(const std::string &path);
    ~Output(); // without keep(), nothing is left
    Output(const Output &) = delete;
    FILE *file() const { return file_; }
    void keep(); // closes it and gives it its name; throws ConfigError if not all could be written

  private:
    std::string path_, temporary_;
    FILE *file_ = nullptr;
    int slot_ = -1; // for the handler of SIGINT and SIGTERM, which removes what is under way
};

} // namespace mc
