#pragma once
#include <cstdarg>
#include <cstdio>
#include <string>

namespace mc
{

// printf into a string.
[[gnu::format(printf, 1, 2)]] inline std::string text(const char *format, ...)
{
    char buffer[512];
    va_list list;
    va_start(list, format);
    vsnprintf(buffer, sizeof buffer, format, list);
    va_end(list);
    return buffer;
}

} // namespace mc
