#pragma once
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace mc
{

// All bytes of a file; false: errno says why not (a directory can be opened, and not be read).
inline bool read_file(const std::string &path, std::vector<uint8_t> &bytes)
{
    FILE *in = fopen(path.c_str(), "rb");
    if (!in)
        return false;
    uint8_t buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        bytes.insert(bytes.end(), buffer, buffer + n);
    int error = ferror(in) ? errno : 0;
    fclose(in);
    errno = error;
    return error == 0;
}

} // namespace mc
