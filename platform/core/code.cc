#include "core/code.h"
#include "base/map.h"
#include <algorithm>

namespace mc
{

Codes::Codes(const Config &config, unsigned shift)
    : line_shift(shift), posted(config.noc_posted != 0), costs{{1, uint8_t(config.core_mul), uint8_t(config.core_mulh),
                                                                uint8_t(config.core_div), uint8_t(config.core_fp),
                                                                uint8_t(config.core_fdiv)}}
{
}

void Codes::add(uint32_t low, uint32_t size)
{
    executable.push_back({low, size});
    uint32_t base = low & ~0xffffu;
    for (Code &c : all)
        if ((c.low >= map::kMain) == (low >= map::kMain)) {
            uint32_t end = std::max(c.low + c.size, low + size);
            c.low = std::min(c.low, base);
            c.size = end - c.low;
            return;
        }
    all.push_back({base, low + size - base, {}, nullptr});
}

void Codes::begin()
{
    for (Code &c : all) {
        c.size = (c.size + 1) & ~1u;
        c.ops.resize(c.size / 2 + 2);
        for (size_t i = 0; i < c.ops.size(); i++)
            c.ops[i].line = uint32_t((c.low + i * 2) >> line_shift);
    }
}

void Codes::prepare(Code &code, Op &op) const
{
    uint32_t offset = uint32_t(&op - code.ops.data()) * 2, pc = code.low + offset;
    auto halfword = [&](uint32_t o) -> uint32_t {
        return o + 2 <= code.size ? uint32_t(code.bytes[o] | code.bytes[o + 1] << 8) : 0;
    };
    auto decode_at = [&](uint32_t o) { return decode(halfword(o) | halfword(o + 2) << 16, code.low + o); };
    const void *native = op.native;
    uint32_t line = op.line;
    uint8_t heat = op.heat;
    Op::State state = op.state;
    op = decode_at(offset);
    if (op.kind == Kind::fence && posted)
        op.kind = Kind::drain;
    if (op.kind == Kind::csr && op.imm == kStats && ((op.cls & 3) == 1 || op.rs1))
        op.kind = Kind::mark;
    op.native = is_shared(op.kind) && native == no_block ? no_event : native;
    op.line = line;
    op.heat = heat;
    op.state = state;
    op.cost = op.kind == Kind::csr || op.kind == Kind::mark ? 1 : costs.of[op.cls];
    uint32_t after = pc + op.length * 2u;
    op.flags = uint8_t(((after >> line_shift) != (pc >> line_shift) ? kCrosses : 0) |
                       (op.length == 2 && ((pc + 2) >> line_shift) != (pc >> line_shift) ? kStraddles : 0));
    Op next = decode_at(offset + op.length * 2u);
    if (is_load(op.kind) || is_atomic(op.kind)) {
        if (op.kind == Kind::flw ? reads(next, op.rd, true) : op.rd != 32 && reads(next, op.rd, false)) {
            op.flags |= kUseNext;
            op.cost++;
        }
    } else if (op.rd == 2 && !is_shared(op.kind) && !is_jump(op.kind)) {
        bool to_float = (op.kind >= Kind::fadd && op.kind <= Kind::fmax) || op.kind == Kind::fmv_w_x ||
                        op.kind == Kind::fcvt_s_w || op.kind == Kind::fcvt_s_wu;
        if (!to_float && op.kind != Kind::fence && op.kind != Kind::fence_i)
            op.flags |= kWritesSp;
    }
    if (is_jump(op.kind) && op.kind != Kind::jalr && !code.holds(pc + uint32_t(op.imm) * 2))
        op.flags |= kFar;
}

} // namespace mc
