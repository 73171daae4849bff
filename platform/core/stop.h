// How a run ends: whatever ends it throws one of these two. The cores' registers and counters are then those of that
// cycle.
#pragma once
#include <string>
#include <utility>

namespace mc
{

struct Core;

struct Exit {
    int code;
};

struct Fault {
    Core *core; // null: of no single one
    std::string text;
};

struct Paused { // thrown to the kernel itself: the cycle of Clock::run_until() has come
};

[[noreturn]] inline void fault(Core &c, std::string text) { throw Fault{&c, std::move(text)}; }
[[noreturn]] void raise_pending(Core &c); // the fault that the instruction before has left

} // namespace mc
