// Semihosting: what a program asks of its host by ebreak between two marks (RISC-V semihosting, Arm's operations).
// Takes no simulated time
// beyond the instructions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mc
{

struct Machine;
struct Core;

struct Semihost {
    std::vector<int> files; // handle - 1; -1: closed
    int error = 0;
    std::string out; // standard output not yet written
    void put(const uint8_t *p, size_t n);
    void flush();
    bool call(Machine &m, Core &c); // at an ebreak; false: no call stands there. Throws Exit
};

} // namespace mc
