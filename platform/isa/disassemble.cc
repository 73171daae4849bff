#include "base/text.h"
#include "isa/op.h"

namespace mc
{
namespace
{

const char *const x_names[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                               "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                               "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "zero"};
const char *const f_names[] = {"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
                               "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
                               "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

// What the instruction's operands are, in their order. d, s, t: integer registers (rd, rs1, rs2). D, S, T, U: float
// ones; the last is the third source. i: a constant. m: a constant beside rs1. a: rs1 as an address. b: a target. c: a
// CSR and what goes into it.
const char *operands(Kind k)
{
    auto in = [k](Kind first, Kind last) { return k >= first && k <= last; };
    if (k == Kind::li)
        return "di";
    if (in(Kind::addi, Kind::srai))
        return "dsi";
    if (in(Kind::add, Kind::remu))
        return "dst";
    if (in(Kind::fadd, Kind::fdiv) || in(Kind::fsgnj, Kind::fmax))
        return "DST";
    if (k == Kind::fsqrt)
        return "DS";
    if (in(Kind::fmadd, Kind::fnmadd))
        return "DSTU";
    if (in(Kind::feq, Kind::fle))
        return "dST";
    if (in(Kind::fclass, Kind::fmv_x_w) || in(Kind::fcvt_w_s, Kind::fcvt_wu_s))
        return "dS";
    if (k == Kind::fmv_w_x || in(Kind::fcvt_s_w, Kind::fcvt_s_wu))
        return "Ds";
    if (k == Kind::csr || k == Kind::mark)
        return "dc";
    if (k == Kind::jal)
        return "db";
    if (in(Kind::beq, Kind::bgeu))
        return "stb";
    if (k == Kind::jalr || in(Kind::lb, Kind::lhu))
        return "dm";
    if (k == Kind::flw)
        return "Dm";
    if (in(Kind::sb, Kind::sw))
        return "tm";
    if (k == Kind::fsw)
        return "Tm";
    if (k == Kind::lr)
        return "da";
    if (in(Kind::sc, Kind::amomaxu))
        return "dta";
    return "";
}

std::string constant(int32_t v) { return v >= -4096 && v < 4096 ? text("%d", v) : text("0x%x", uint32_t(v)); }

std::string operand(const Op &op, uint32_t pc, char what)
{
    switch (what) {
    case 'd':
        return x_names[op.rd];
    case 's':
        return x_names[op.rs1];
    case 't':
        return x_names[op.rs2];
    case 'D':
        return f_names[op.rd];
    case 'S':
        return f_names[op.rs1];
    case 'T':
        return f_names[op.rs2];
    case 'U':
        return f_names[op.imm & 31];
    case 'm':
        return text("%d(%s)", op.imm, x_names[op.rs1]);
    case 'a':
        return text("(%s)", x_names[op.rs1]);
    case 'b':
        return text("0x%x", pc + uint32_t(op.imm) * 2);
    case 'c':
        return text("0x%x, ", unsigned(op.imm)) + (op.cls & 4 ? text("%u", op.rs1) : x_names[op.rs1]);
    default:
        return constant(op.imm);
    }
}

std::string name(const Op &op)
{
    static const char *const names[] = {
#define X(name) #name,
        MC_REGISTER_KINDS(X) MC_JUMP_KINDS(X) MC_SHARED_KINDS(X)
#undef X
    };
    static const char *const csr[] = {"", "csrrw", "csrrs", "csrrc", "", "csrrwi", "csrrsi", "csrrci"};
    if (op.kind == Kind::csr || op.kind == Kind::mark)
        return csr[op.cls & 7];
    if (op.kind == Kind::drain)
        return "fence";
    std::string out = names[int(op.kind)];
    if (out.back() == '_') // a word of C++
        out.pop_back();
    for (char &c : out)
        c = c == '_' ? '.' : c;
    return is_atomic(op.kind) ? out + ".w" : op.kind >= Kind::fadd && op.kind <= Kind::fle ? out + ".s" : out;
}

} // namespace

std::string disassemble(const Op &op, uint32_t pc)
{
    std::string out = name(op);
    const char *separator = " ";
    for (const char *o = operands(op.kind); *o; o++) {
        out += separator + operand(op, pc, *o);
        separator = ", ";
    }
    return out;
}

std::string written(const Op &op)
{
    char first = *operands(op.kind);
    return first == 'D' ? f_names[op.rd] : first == 'd' && op.rd != 32 ? x_names[op.rd] : "";
}

} // namespace mc
