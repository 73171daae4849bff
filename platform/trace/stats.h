#pragma once
#include <cstdio>
#include <string>
#include <vector>

namespace mc
{
struct Machine;
// The counters of each core and of the whole, as a table for people.
void print_stats(const Machine &m, double seconds, FILE *to);
// The same for programs: JSON. Without times of the host, so that two kernels print the same.
void print_json(const Machine &m, const std::vector<std::string> &program, FILE *to);
} // namespace mc
