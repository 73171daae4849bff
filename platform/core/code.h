// The decoded code of all memories. Code does not change after loading: a store into it is a fault.
#pragma once
#include "base/archive.h"
#include "base/config.h"
#include "core/core.h"
#include <vector>

namespace mc
{

// The decoded code of one memory.
struct Code {
    uint32_t low = 0, size = 0; // low is a multiple of 64 KB, so a line's set is that of its number here
    std::vector<Op> ops;        // one for each halfword, and one more
    const uint8_t *bytes = nullptr;
    bool holds(uint32_t pc) const { return pc - low < size; }
};

class Codes
{
  public:
    Codes(const Config &config, unsigned line_shift);
    Codes(const Codes &) = delete;

    std::vector<Code> all;
    void add(uint32_t low, uint32_t size); // executable bytes; then give each Code its bytes, and call begin()
    void begin();
    // Whether some of these bytes are executable.
    bool overlaps(uint32_t address, uint32_t bytes) const
    {
        for (const Range &r : executable)
            if (address < r.low + r.size && r.low < address + bytes)
                return true;
        return false;
    }
    template <class F> void each_executable(F f) const
    {
        for (const Range &r : executable)
            f(r.low, r.size);
    }
    // An instruction (or none) of a checkpoint, and the code that it is a part of.
    template <class A> Code *archive_op(A &a, Op *&op)
    {
        uint32_t number = 0, place = 0; // from 1 on
        for (uint32_t k = 0; op && k < all.size(); k++)
            if (op >= all[k].ops.data() && op < all[k].ops.data() + all[k].ops.size()) {
                number = k + 1;
                place = uint32_t(op - all[k].ops.data());
            }
        a(number, place);
        op = nullptr;
        if (!number)
            return nullptr;
        if (number > all.size() || place >= all[number - 1].ops.size())
            throw CheckpointError("an instruction is outside of the code");
        Code &code = all[number - 1];
        op = &code.ops[place];
        if (op->length == 0) {
            prepare(code, *op);
            op->go = 0; // the run-ahead kernel has its label to find
        }
        return &code;
    }
    Code *of(uint32_t pc)
    {
        for (Code &c : all)
            if (c.holds(pc))
                return &c;
        return nullptr;
    }
    // Decodes the op at its place in `code`.
    void prepare(Code &code, Op &op) const;
    // Of the translator: what stands for a block or an event that is not translated.
    const void *no_block = nullptr, *no_event = nullptr;

  private:
    struct Range {
        uint32_t low, size;
    };
    std::vector<Range> executable;
    const unsigned line_shift;
    const bool posted;
    const Costs costs;
};

// The address of the core's instruction; of the one that it cannot reach, if it has jumped to where no code is.
inline uint32_t address_of(const Core &c)
{
    return c.code ? c.code->low + uint32_t(c.op - c.code->ops.data()) * 2 : c.wait_address;
}

} // namespace mc
