// The decoded code of all memories. Code does not change after loading: a store into it is a fault.
#pragma once
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
