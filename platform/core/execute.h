// What the register instructions do. Both kernels expand these bodies: the lock-step kernel through execute_register(),
// the run-ahead kernel
// label by label.
//
// In a body: `x`, `f` the registers, `op` the instruction, `c` the core, `t` its cycle, `done` the instructions that it
// ended before.
#pragma once
#include "core/core.h"
#include "core/float.h"

namespace mc
{

inline uint32_t mul_high(uint32_t a, uint32_t b, bool sa, bool sb)
{
    // modulo 2^64: the upper half of 32 bits is right, and two unsigned factors may exceed int64_t
    uint64_t x = sa ? uint64_t(int64_t(int32_t(a))) : a, y = sb ? uint64_t(int64_t(int32_t(b))) : b;
    return uint32_t((x * y) >> 32);
}
inline uint32_t div_signed(uint32_t a, uint32_t b)
{
    if (b == 0)
        return ~0u;
    return a == 0x80000000u && b == ~0u ? a : uint32_t(int32_t(a) / int32_t(b));
}
inline uint32_t rem_signed(uint32_t a, uint32_t b)
{
    if (b == 0)
        return a;
    return a == 0x80000000u && b == ~0u ? 0 : uint32_t(int32_t(a) % int32_t(b));
}

// A float instruction's rounding mode; more than 4: there is none, the instruction is illegal.
inline unsigned rounding(const Core &c, const Op &op)
{
    unsigned rm = unsigned(op.imm >> 8) & 7;
    return rm == 7 ? c.frm : rm;
}

uint32_t csr_read(const Core &c, unsigned number, uint64_t now, uint64_t done);
void csr_write(Core &c, unsigned number, uint32_t value);
void csr_execute(Core &c, const Op &op, uint64_t now, uint64_t done);

#define MC_A x[op->rs1]
#define MC_B x[op->rs2]
#define MC_I uint32_t(op->imm)
#define MC_FA f[op->rs1]
#define MC_FB f[op->rs2]
#define MC_FC f[op->imm & 31]
#define MC_RM rounding(*c, *op)
#define MC_NEG(v) ((v) ^ 0x80000000u)

// X(kind, body) for what needs no rounding mode and may not fail
#define MC_BODIES(X)                                                                                      \
    X(li, x[op->rd] = MC_I)                                                                               \
    X(addi, x[op->rd] = MC_A + MC_I)                                                                      \
    X(slti, x[op->rd] = int32_t(MC_A) < op->imm)                                                          \
    X(sltiu, x[op->rd] = MC_A < MC_I)                                                                     \
    X(xori, x[op->rd] = MC_A ^ MC_I)                                                                      \
    X(ori, x[op->rd] = MC_A | MC_I)                                                                       \
    X(andi, x[op->rd] = MC_A & MC_I)                                                                      \
    X(slli, x[op->rd] = MC_A << (op->imm & 31))                                                           \
    X(srli, x[op->rd] = MC_A >> (op->imm & 31))                                                           \
    X(srai, x[op->rd] = uint32_t(int32_t(MC_A) >> (op->imm & 31)))                                        \
    X(add, x[op->rd] = MC_A + MC_B)                                                                       \
    X(sub, x[op->rd] = MC_A - MC_B)                                                                       \
    X(sll, x[op->rd] = MC_A << (MC_B & 31))                                                               \
    X(slt, x[op->rd] = int32_t(MC_A) < int32_t(MC_B))                                                     \
    X(sltu, x[op->rd] = MC_A < MC_B)                                                                      \
    X(xor_, x[op->rd] = MC_A ^ MC_B)                                                                      \
    X(srl, x[op->rd] = MC_A >> (MC_B & 31))                                                               \
    X(sra, x[op->rd] = uint32_t(int32_t(MC_A) >> (MC_B & 31)))                                            \
    X(or_, x[op->rd] = MC_A | MC_B)                                                                       \
    X(and_, x[op->rd] = MC_A & MC_B)                                                                      \
    X(mul, x[op->rd] = MC_A * MC_B; c->n.long_ops += op->cost - 1u)                                       \
    X(mulh, x[op->rd] = mul_high(MC_A, MC_B, true, true); c->n.long_ops += op->cost - 1u)                 \
    X(mulhsu, x[op->rd] = mul_high(MC_A, MC_B, true, false); c->n.long_ops += op->cost - 1u)              \
    X(mulhu, x[op->rd] = mul_high(MC_A, MC_B, false, false); c->n.long_ops += op->cost - 1u)              \
    X(div, x[op->rd] = div_signed(MC_A, MC_B); c->n.long_ops += op->cost - 1u)                            \
    X(divu, uint32_t b = MC_B; x[op->rd] = b ? MC_A / b : ~0u; c->n.long_ops += op->cost - 1u)            \
    X(rem, x[op->rd] = rem_signed(MC_A, MC_B); c->n.long_ops += op->cost - 1u)                            \
    X(remu, uint32_t b = MC_B; x[op->rd] = b ? MC_A % b : MC_A; c->n.long_ops += op->cost - 1u)           \
    X(fsgnj, f[op->rd] = (MC_FA & 0x7fffffff) | (MC_FB & 0x80000000u); c->n.float_ops += op->cost - 1u)   \
    X(fsgnjn, f[op->rd] = (MC_FA & 0x7fffffff) | (~MC_FB & 0x80000000u); c->n.float_ops += op->cost - 1u) \
    X(fsgnjx, f[op->rd] = MC_FA ^ (MC_FB & 0x80000000u); c->n.float_ops += op->cost - 1u)                 \
    X(fmin, f[op->rd] = fp::min_max(c->fflags, MC_FA, MC_FB, false); c->n.float_ops += op->cost - 1u)     \
    X(fmax, f[op->rd] = fp::min_max(c->fflags, MC_FA, MC_FB, true); c->n.float_ops += op->cost - 1u)      \
    X(feq, x[op->rd] = fp::compare(c->fflags, MC_FA, MC_FB, 0); c->n.float_ops += op->cost - 1u)          \
    X(flt, x[op->rd] = fp::compare(c->fflags, MC_FA, MC_FB, 1); c->n.float_ops += op->cost - 1u)          \
    X(fle, x[op->rd] = fp::compare(c->fflags, MC_FA, MC_FB, 2); c->n.float_ops += op->cost - 1u)          \
    X(fclass, x[op->rd] = fp::classify(MC_FA); c->n.float_ops += op->cost - 1u)                           \
    X(fmv_x_w, x[op->rd] = MC_FA; c->n.float_ops += op->cost - 1u)                                        \
    X(fmv_w_x, f[op->rd] = MC_A; c->n.float_ops += op->cost - 1u)                                         \
    X(fence, (void)x)                                                                                     \
    X(csr, csr_execute(*c, *op, t, done))

// X(kind, body) with the rounding mode `rm`, which the kernel has found to be one
#define MC_ROUNDED_BODIES(X)                                                           \
    X(fadd, f[op->rd] = fp::arith<fp::Add>(c->fflags, rm, MC_FA, MC_FB))               \
    X(fsub, f[op->rd] = fp::arith<fp::Sub>(c->fflags, rm, MC_FA, MC_FB))               \
    X(fmul, f[op->rd] = fp::arith<fp::Mul>(c->fflags, rm, MC_FA, MC_FB))               \
    X(fdiv, f[op->rd] = fp::arith<fp::Div>(c->fflags, rm, MC_FA, MC_FB))               \
    X(fsqrt, f[op->rd] = fp::arith<fp::Sqrt>(c->fflags, rm, MC_FA, 0))                 \
    X(fmadd, f[op->rd] = fp::fma(c->fflags, rm, MC_FA, MC_FB, MC_FC))                  \
    X(fmsub, f[op->rd] = fp::fma(c->fflags, rm, MC_FA, MC_FB, MC_NEG(MC_FC)))          \
    X(fnmsub, f[op->rd] = fp::fma(c->fflags, rm, MC_NEG(MC_FA), MC_FB, MC_FC))         \
    X(fnmadd, f[op->rd] = fp::fma(c->fflags, rm, MC_NEG(MC_FA), MC_FB, MC_NEG(MC_FC))) \
    X(fcvt_w_s, x[op->rd] = fp::to_int(c->fflags, rm, MC_FA, false))                   \
    X(fcvt_wu_s, x[op->rd] = fp::to_int(c->fflags, rm, MC_FA, true))                   \
    X(fcvt_s_w, f[op->rd] = fp::from_int(c->fflags, rm, MC_A, false))                  \
    X(fcvt_s_wu, f[op->rd] = fp::from_int(c->fflags, rm, MC_A, true))

// Executes a register instruction that is no jump. False: its rounding mode is none, nothing was done.
bool execute_register(Core *c, const Op *op, uint64_t t, uint64_t done);

inline bool branch_taken(Kind k, uint32_t a, uint32_t b)
{
    switch (k) {
    case Kind::beq:
        return a == b;
    case Kind::bne:
        return a != b;
    case Kind::blt:
        return int32_t(a) < int32_t(b);
    case Kind::bge:
        return int32_t(a) >= int32_t(b);
    case Kind::bltu:
        return a < b;
    default:
        return a >= b;
    }
}

} // namespace mc
