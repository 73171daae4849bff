// What is written, and which line of the source the compiler believes to be in.
#ifndef TASKQC_OUT_H
#define TASKQC_OUT_H

#include "text.h"

#include <map>
#include <string>

namespace taskqc
{

class Out
{
  public:
    std::string all;

    // tags: what is inserted where in the source.
    Out(const Text &of, const std::map<size_t, std::string> &inserted, size_t at_line = 1)
        : text(of), tags(inserted), line(at_line)
    {
    }

    void append(const Out &other);
    void source(size_t from, size_t to);
    void instead(size_t at, const std::string &what);
    void own(size_t at, const std::string &lines, size_t indented_as = std::string::npos);
    void start_line();

  private:
    const Text &text;
    const std::map<size_t, std::string> &tags;
    size_t line; // 0: not the source's

    std::string line_directive(size_t at) const;
    void place(size_t at);
};

} // namespace taskqc

#endif
