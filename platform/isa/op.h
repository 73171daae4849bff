// A decoded instruction, and what there is to decode.
//
// The decoder turns the halfword at an address into one Op. Both kernels execute Ops only; nothing looks at an
// instruction's bits again. An Op says all that is static about an instruction: what it does, its operands, how many
// cycles it keeps the core. The cycles include a load's bubble before an instruction that needs its value, since what
// follows a load in program order is what follows it in time.
#pragma once
#include <cstdint>
#include <string>

namespace mc
{

// Instructions that touch the core's own registers only: a kernel may execute them before other cores' earlier ones.
// clang-format off
#define MC_REGISTER_KINDS(X)                                                                                  \
    X(li) X(addi) X(slti) X(sltiu) X(xori) X(ori) X(andi) X(slli) X(srli) X(srai) X(add) X(sub) X(sll) X(slt) \
    X(sltu) X(xor_) X(srl) X(sra) X(or_) X(and_) X(mul) X(mulh) X(mulhsu) X(mulhu) X(div) X(divu) X(rem)      \
    X(remu) X(fadd) X(fsub) X(fmul) X(fdiv) X(fsqrt) X(fmadd) X(fmsub) X(fnmsub) X(fnmadd) X(fsgnj) X(fsgnjn) \
    X(fsgnjx) X(fmin) X(fmax) X(feq) X(flt) X(fle) X(fclass) X(fmv_x_w) X(fmv_w_x) X(fcvt_w_s) X(fcvt_wu_s)   \
    X(fcvt_s_w) X(fcvt_s_wu) X(csr) X(fence) X(fence_i)
// clang-format on
// Jumps and branches: registers only as well, but they say what comes next.
#define MC_JUMP_KINDS(X) X(jal) X(jalr) X(beq) X(bne) X(blt) X(bge) X(bltu) X(bgeu)
// Instructions that touch what cores share, or end what a core does: each is an event of its cycle. drain: a fence on a
// platform where it waits (noc.posted). mark: a write of the CSR 0x7c2, which counts all cores (kStats).
// clang-format off
#define MC_SHARED_KINDS(X)                                                                                     \
    X(lb) X(lh) X(lw) X(lbu) X(lhu) X(flw) X(sb) X(sh) X(sw) X(fsw) X(lr) X(sc) X(amoswap) X(amoadd) X(amoxor) \
    X(amoand) X(amoor) X(amomin) X(amomax) X(amominu) X(amomaxu) X(wfi) X(ebreak) X(ecall) X(illegal) X(drain) X(mark)
// clang-format on

enum class Kind : uint8_t {
#define X(name) name,
    MC_REGISTER_KINDS(X) MC_JUMP_KINDS(X) MC_SHARED_KINDS(X)
#undef X
        count
};

enum : uint8_t {
    kCrosses = 1,   // the next instruction in program order starts in another cache line
    kStraddles = 2, // its own second half lies in another cache line
    kUseNext = 4,   // a load whose value the next instruction needs: one cycle more
    kWritesSp = 8,  // the stack pointer must be checked afterwards
    kFar = 16,      // a branch to outside of the code
};

enum class Class : uint8_t { alu, mul, mulh, div, fp, fdiv, count };

struct Op {
    int32_t go;  // for the run-ahead kernel: its label less that of its decoder; 0: not decoded yet
    int32_t imm; // branches: halfwords to the target; csr: its number; float: third source | rounding mode << 8
    uint8_t rd;  // 0 never: the decoder says 32 (a register that nobody reads) instead
    uint8_t rs1;
    uint8_t rs2;
    uint8_t length; // in halfwords
    uint8_t cost;   // cycles without conflicts and without a taken branch's penalty
    Kind kind;
    uint8_t flags;
    uint8_t cls;        // Class; of csr: the function bits
    const void *native; // its translation, or what stands for a missing one (kernel/translate.h)
    uint32_t line;      // its cache line's number, over all memory
    uint8_t heat;       // how often the translator was asked for it
    enum class State : uint8_t { cold, block, refused } state;
};
static_assert(sizeof(Op) == 32);

constexpr bool is_shared(Kind k) { return k >= Kind::lb; }
constexpr bool is_jump(Kind k) { return k >= Kind::jal && k <= Kind::bgeu; }
constexpr bool is_load(Kind k) { return k >= Kind::lb && k <= Kind::flw; }
constexpr bool is_store(Kind k) { return k >= Kind::sb && k <= Kind::fsw; }
constexpr bool is_atomic(Kind k) { return k >= Kind::lr && k <= Kind::amomaxu; }

struct Costs {
    uint8_t of[int(Class::count)];
};

// Decodes `bits` (the low half alone counts for a 16-bit instruction) as if at `pc`. What is no instruction of
// RV32IMAFC_Zicsr_Zifencei becomes
// Kind::illegal. Cost, flags and `go` are the caller's.
Op decode(uint32_t bits, uint32_t pc);

// Whether the instruction reads integer (or, for `is_float`, float) register `r`.
bool reads(const Op &op, unsigned r, bool is_float);

// Is there a CSR of that number, and may it be written?
bool csr_exists(unsigned number, bool write);
constexpr int kStats = 0x7c2; // begins and ends regions of the statistics; reads as 0

// As an assembler would have it, "lw a0, 8(sp)": a compressed instruction like the one that it stands for.
std::string disassemble(const Op &op, uint32_t pc);
std::string written(const Op &op); // the register that the instruction writes; "": none

} // namespace mc
