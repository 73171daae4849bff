// A run's state between two cycles as a file, and back.
//
// When: after Clock::run_until() has let a kernel return. Then every core stands before its next shared event, in
// both kernels, and either one may go on; so the file does not say which kernel wrote it. Messages under way are a part
// of the state, and any cycle will do.
//
// The file, little-endian: "mcstate\n" and a version; the configuration, a name and a value each; a hash of the
// program's code; what the caller adds (semihosting, regions of the statistics). Then comes the machine: each part's
// archive(), and the memories' pages that are not all zero. The last 8 bytes are a hash of all this.
// What is not there is made anew: decoded instructions, translations, the wheel.
#pragma once
#include "base/archive.h"
#include "kernel/machine.h"

namespace mc
{

// What else belongs to the run. A: Writer or Reader.
struct Companion {
    virtual ~Companion() = default;
    virtual void archive(Writer &) = 0; // may throw CheckpointError
    virtual void archive(Reader &) = 0;
};

std::vector<uint8_t> checkpoint(Machine &m, Companion &companion);
// The machine has the program loaded, and has not run. Throws CheckpointError.
void restore(Machine &m, Companion &companion, const std::vector<uint8_t> &file);

} // namespace mc
