// Semihosting: what a program asks of its host by ebreak between two marks (RISC-V semihosting, Arm's operations).
// Takes no simulated time
// beyond the instructions.
#pragma once
#include "kernel/checkpoint.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mc
{

struct Machine;
struct Core;

struct Semihost : Companion {
    std::vector<int> files; // handle - 1; -1: closed
    int error = 0;
    std::string out; // standard output not yet written
    void put(const uint8_t *p, size_t n);
    void flush();
    void archive(Writer &a) override; // not with files open: they may be others when the run goes on
    void archive(Reader &a) override;
    bool call(Machine &m, Core &c); // at an ebreak; false: no call stands there. Throws Exit
};

} // namespace mc
