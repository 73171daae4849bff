// Translation of simulated code into the host's (x86-64), for the run-ahead kernel.
//
// What it is for: the run-ahead kernel's threaded code needs about 60 host instructions for a simulated one, half of
// them to leave and to enter cores at their accesses. A translation does the same with a third. The translation changes
// nothing of what is simulated: each piece does what the threaded code (run_ahead.cc) does, with the same counters, in
// the same order. A piece leaves to the threaded code all that is rare (misses, faults, remote accesses, atomic
// operations, CSRs, calls through registers).
//
// There are two kinds of pieces. A block begins at a register instruction (its line has been looked up) and goes on up
// to the next access, where the core is put into the wheel, or to a jump. An event begins at a load or store in the
// cycle of that access and goes on as a block does. Both end with the next core that is due in this cycle, so that a
// whole cycle is done in translated code.
//
// Registers of the host in translated code:
//   rbx  the core
//   rbp  this object's State
//   r12  t, the cycle up to which the core is done
//   r13  the cores that are still due
//   r14  the cycle as a bank's stamp
//   r15  the wheel's marks
//   r10, r11  the next core
// No exception passes through translated code: what may throw is done after it has been left.
//
// On other hosts, and where no memory may be written and executed, works() is false and the threaded code does all.
#pragma once
#include "core/core.h"
#include <cstddef>
#include <cstdint>

namespace mc
{

struct Machine;

class Translator
{
  public:
    // Why translated code was left; core(), op() and t() say where.
    enum class Leave : int {
        empty,    // no core is left in this cycle
        threaded, // at op(): goes on there (its line is there)
        landing,  // at op(): the first instruction of a line, not looked up
        entry,    // a core that is due, at Core::entry
        event     // a core that is due, at the access Core::op
    };
    struct Due {
        uint64_t cores; // a bit a core, as in `row`, and bit 32; 0: the list's end
        Core *const *row;
    };
    struct State {
        uint64_t stamp, now, bound, t;
        const Due *list;  // the clusters that have cores due in this cycle; the first one is under way
        Core *const *row; // that cluster's cores, twice
        uint8_t *occupied;
        const unsigned *reservations;
        Core *core;
        Op *op;
        uint64_t due; // a bit a core, as in `row`
    };

    explicit Translator(Machine &m);
    ~Translator();
    Translator(const Translator &) = delete;
    bool works() const { return code_ != nullptr; }

    State state{};
    Core *last() { return &last_; }
    const void *next() const { return next_; } // the code that takes the next core that is due
    Leave run(const void *code, Core *c) { return Leave(enter_(&state, code, c)); }
    // Asked for at each landing at an untranslated op, and at each of its events. After a few times it translates.
    void want_block(Core &c, Op &op)
    {
        if (++op.heat >= hot_)
            block(c, op);
    }
    void want_event(Core &c, Op &op)
    {
        if (op.state == Op::State::cold && ++op.heat >= hot_)
            event(c, op);
    }

  private:
    static constexpr size_t kBytes = size_t(32) << 20, kLargest = size_t(64) << 10;
    Machine &m;
    const unsigned hot_;
    uint8_t *code_ = nullptr, *at_ = nullptr;
    const void *next_ = nullptr;
    int (*enter_)(State *, const void *, Core *) = nullptr;
    uint8_t *leave_[5] = {}, *leave_block_ = nullptr, *leave_landing_ = nullptr;
    Core last_;        // stands behind a cluster's cores (bit 32): its translation goes on to the next cluster
    bool fma_ = false; // the host has fused multiply-add

    void block(Core &c, Op &op);
    void event(Core &c, Op &op);
    bool room() const { return size_t(at_ - code_) < kBytes - kLargest; }
    friend struct Piece;
};

} // namespace mc
