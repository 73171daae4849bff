#include "isa/op.h"

namespace mc
{
namespace
{

constexpr uint32_t field(uint32_t bits, int low, int n) { return (bits >> low) & ((1u << n) - 1); }
constexpr int32_t sign(uint32_t value, int n) { return int32_t(value << (32 - n)) >> (32 - n); }

struct Maker {
    Op op{};
    explicit Maker(unsigned length)
    {
        op.length = uint8_t(length);
        op.kind = Kind::illegal;
    }
    Op &set(Kind k, unsigned rd, unsigned rs1, unsigned rs2, int32_t imm, Class c = Class::alu)
    {
        op.kind = k;
        op.rd = uint8_t(rd ? rd : 32);
        op.rs1 = uint8_t(rs1);
        op.rs2 = uint8_t(rs2);
        op.imm = imm;
        op.cls = uint8_t(c);
        return op;
    }
    // rd is a float register: there is no register that nobody reads among them, and 0 is one like the others.
    Op &fset(Kind k, unsigned rd, unsigned rs1, unsigned rs2, int32_t imm, Class c = Class::fp)
    {
        set(k, rd, rs1, rs2, imm, c);
        op.rd = uint8_t(rd);
        return op;
    }
    Op &jump(Kind k, unsigned rd, unsigned rs1, unsigned rs2, int32_t bytes) { return set(k, rd, rs1, rs2, bytes / 2); }
};

Op decode16(uint32_t b, uint32_t pc)
{
    (void)pc;
    Maker m(1);
    unsigned rd = field(b, 7, 5), rs2 = field(b, 2, 5), rdp = 8 + field(b, 2, 3), rs1p = 8 + field(b, 7, 3);
    int32_t imm6 = sign(field(b, 12, 1) << 5 | field(b, 2, 5), 6);
    uint32_t lw = field(b, 10, 3) << 3 | field(b, 6, 1) << 2 | field(b, 5, 1) << 6;
    uint32_t lwsp = field(b, 12, 1) << 5 | field(b, 4, 3) << 2 | field(b, 2, 2) << 6;
    uint32_t swsp = field(b, 9, 4) << 2 | field(b, 7, 2) << 6;
    int32_t j = sign(field(b, 12, 1) << 11 | field(b, 11, 1) << 4 | field(b, 9, 2) << 8 | field(b, 8, 1) << 10 |
                         field(b, 7, 1) << 6 | field(b, 6, 1) << 7 | field(b, 3, 3) << 1 | field(b, 2, 1) << 5,
                     12);
    int32_t br = sign(field(b, 12, 1) << 8 | field(b, 10, 2) << 3 | field(b, 5, 2) << 6 | field(b, 3, 2) << 1 |
                          field(b, 2, 1) << 5,
                      9);
    switch (field(b, 13, 3) << 2 | (b & 3)) {
    case 0: { // c.addi4spn
        uint32_t imm = field(b, 7, 4) << 6 | field(b, 11, 2) << 4 | field(b, 5, 1) << 3 | field(b, 6, 1) << 2;
        if (imm)
            m.set(Kind::addi, rdp, 2, 0, int32_t(imm));
        break;
    }
    case 2 << 2:
        m.set(Kind::lw, rdp, rs1p, 0, int32_t(lw));
        break;
    case 3 << 2:
        m.fset(Kind::flw, rdp, rs1p, 0, int32_t(lw), Class::alu);
        break;
    case 6 << 2:
        m.set(Kind::sw, 0, rs1p, rdp, int32_t(lw));
        break;
    case 7 << 2:
        m.set(Kind::fsw, 0, rs1p, rdp, int32_t(lw));
        break;
    case 0 << 2 | 1:
        m.set(Kind::addi, rd, rd, 0, imm6);
        break;
    case 1 << 2 | 1:
        m.jump(Kind::jal, 1, 0, 0, j);
        break;
    case 2 << 2 | 1:
        m.set(Kind::li, rd, 0, 0, imm6);
        break;
    case 3 << 2 | 1:
        if (rd == 2) {
            int32_t imm = sign(field(b, 12, 1) << 9 | field(b, 6, 1) << 4 | field(b, 5, 1) << 6 | field(b, 3, 2) << 7 |
                                   field(b, 2, 1) << 5,
                               10);
            if (imm)
                m.set(Kind::addi, 2, 2, 0, imm);
        } else if (imm6) {
            m.set(Kind::li, rd, 0, 0, int32_t(uint32_t(imm6) << 12));
        }
        break;
    case 4 << 2 | 1:
        switch (field(b, 10, 2)) {
        case 0:
        case 1:
            if (!field(b, 12, 1))
                m.set(field(b, 10, 1) ? Kind::srai : Kind::srli, rs1p, rs1p, 0, int32_t(rs2));
            break;
        case 2:
            m.set(Kind::andi, rs1p, rs1p, 0, imm6);
            break;
        default: {
            static const Kind alu[4] = {Kind::sub, Kind::xor_, Kind::or_, Kind::and_};
            if (!field(b, 12, 1))
                m.set(alu[field(b, 5, 2)], rs1p, rs1p, rdp, 0);
        }
        }
        break;
    case 5 << 2 | 1:
        m.jump(Kind::jal, 0, 0, 0, j);
        break;
    case 6 << 2 | 1:
        m.jump(Kind::beq, 0, rs1p, 0, br);
        break;
    case 7 << 2 | 1:
        m.jump(Kind::bne, 0, rs1p, 0, br);
        break;
    case 0 << 2 | 2:
        if (!field(b, 12, 1))
            m.set(Kind::slli, rd, rd, 0, int32_t(rs2));
        break;
    case 2 << 2 | 2:
        if (rd)
            m.set(Kind::lw, rd, 2, 0, int32_t(lwsp));
        break;
    case 3 << 2 | 2:
        m.fset(Kind::flw, rd, 2, 0, int32_t(lwsp), Class::alu);
        break;
    case 4 << 2 | 2:
        if (!field(b, 12, 1)) {
            if (rs2)
                m.set(Kind::add, rd, 0, rs2, 0);
            else if (rd)
                m.set(Kind::jalr, 0, rd, 0, 0);
        } else if (rs2) {
            m.set(Kind::add, rd, rd, rs2, 0);
        } else if (rd) {
            m.set(Kind::jalr, 1, rd, 0, 0);
        } else {
            m.set(Kind::ebreak, 0, 0, 0, 0);
        }
        break;
    case 6 << 2 | 2:
        m.set(Kind::sw, 0, 2, rs2, int32_t(swsp));
        break;
    case 7 << 2 | 2:
        m.set(Kind::fsw, 0, 2, rs2, int32_t(swsp));
        break;
    default:
        break;
    }
    return m.op;
}

bool rounding_ok(unsigned rm) { return rm <= 4 || rm == 7; }

void decode_float(Maker &m, uint32_t b)
{
    unsigned rd = field(b, 7, 5), rs1 = field(b, 15, 5), rs2 = field(b, 20, 5), f3 = field(b, 12, 3);
    int32_t rm = int32_t(f3 << 8);
    auto arith = [&](Kind k, Class c = Class::fp) {
        if (rounding_ok(f3))
            m.fset(k, rd, rs1, rs2, rm, c);
    };
    auto pick = [&](const Kind *kinds, unsigned n, bool integer) {
        if (f3 >= n)
            return;
        if (integer)
            m.set(kinds[f3], rd, rs1, rs2, 0, Class::fp);
        else
            m.fset(kinds[f3], rd, rs1, rs2, 0);
    };
    static const Kind sgnj[] = {Kind::fsgnj, Kind::fsgnjn, Kind::fsgnjx}, minmax[] = {Kind::fmin, Kind::fmax},
                      cmp[] = {Kind::fle, Kind::flt, Kind::feq};
    switch (field(b, 25, 7)) {
    case 0x00:
        arith(Kind::fadd);
        break;
    case 0x04:
        arith(Kind::fsub);
        break;
    case 0x08:
        arith(Kind::fmul);
        break;
    case 0x0c:
        arith(Kind::fdiv, Class::fdiv);
        break;
    case 0x2c:
        if (rs2 == 0)
            arith(Kind::fsqrt, Class::fdiv);
        break;
    case 0x10:
        pick(sgnj, 3, false);
        break;
    case 0x14:
        pick(minmax, 2, false);
        break;
    case 0x50:
        pick(cmp, 3, true);
        break;
    case 0x60:
        if (rs2 <= 1 && rounding_ok(f3))
            m.set(rs2 ? Kind::fcvt_wu_s : Kind::fcvt_w_s, rd, rs1, 0, rm, Class::fp);
        break;
    case 0x68:
        if (rs2 <= 1 && rounding_ok(f3))
            m.fset(rs2 ? Kind::fcvt_s_wu : Kind::fcvt_s_w, rd, rs1, 0, rm);
        break;
    case 0x70:
        if (rs2 == 0 && f3 <= 1)
            m.set(f3 ? Kind::fclass : Kind::fmv_x_w, rd, rs1, 0, 0, Class::fp);
        break;
    case 0x78:
        if (rs2 == 0 && f3 == 0)
            m.fset(Kind::fmv_w_x, rd, rs1, 0, 0);
        break;
    default:
        break;
    }
}

void decode_system(Maker &m, uint32_t b)
{
    unsigned rd = field(b, 7, 5), rs1 = field(b, 15, 5), f3 = field(b, 12, 3), number = field(b, 20, 12);
    if (f3 == 0) {
        if (b == 0x00000073)
            m.set(Kind::ecall, 0, 0, 0, 0);
        else if (b == 0x00100073)
            m.set(Kind::ebreak, 0, 0, 0, 0);
        else if (b == 0x10500073)
            m.set(Kind::wfi, 0, 0, 0, 0);
        return;
    }
    bool write = (f3 & 3) == 1 || rs1 != 0;
    if (f3 == 4 || !csr_exists(number, write))
        return;
    m.set(Kind::csr, rd, rs1, 0, int32_t(number));
    m.op.cls = uint8_t(f3);
}

Op decode32(uint32_t b, uint32_t pc)
{
    Maker m(2);
    unsigned rd = field(b, 7, 5), rs1 = field(b, 15, 5), rs2 = field(b, 20, 5), f3 = field(b, 12, 3),
             f7 = field(b, 25, 7);
    int32_t i = int32_t(b) >> 20, s = sign(f7 << 5 | rd, 12);
    static const Kind loads[8] = {Kind::lb,  Kind::lh,  Kind::lw,      Kind::illegal,
                                  Kind::lbu, Kind::lhu, Kind::illegal, Kind::illegal};
    static const Kind branches[8] = {Kind::beq, Kind::bne, Kind::illegal, Kind::illegal,
                                     Kind::blt, Kind::bge, Kind::bltu,    Kind::bgeu};
    static const Kind opimm[8] = {Kind::addi, Kind::slli, Kind::slti, Kind::sltiu,
                                  Kind::xori, Kind::srli, Kind::ori,  Kind::andi};
    static const Kind opreg[8] = {Kind::add,  Kind::sll, Kind::slt, Kind::sltu,
                                  Kind::xor_, Kind::srl, Kind::or_, Kind::and_};
    static const Kind muldiv[8] = {Kind::mul, Kind::mulh, Kind::mulhsu, Kind::mulhu,
                                   Kind::div, Kind::divu, Kind::rem,    Kind::remu};
    switch (b & 0x7f) {
    case 0x37:
        m.set(Kind::li, rd, 0, 0, int32_t(b & 0xfffff000u));
        break;
    case 0x17:
        m.set(Kind::li, rd, 0, 0, int32_t((b & 0xfffff000u) + pc));
        break;
    case 0x6f:
        m.jump(Kind::jal, rd, 0, 0,
               sign(field(b, 31, 1) << 20 | field(b, 12, 8) << 12 | field(b, 20, 1) << 11 | field(b, 21, 10) << 1, 21));
        break;
    case 0x67:
        if (f3 == 0)
            m.set(Kind::jalr, rd, rs1, 0, i);
        break;
    case 0x63:
        if (branches[f3] != Kind::illegal)
            m.jump(branches[f3], 0, rs1, rs2,
                   sign(field(b, 31, 1) << 12 | field(b, 7, 1) << 11 | field(b, 25, 6) << 5 | field(b, 8, 4) << 1, 13));
        break;
    case 0x03:
        if (loads[f3] != Kind::illegal)
            m.set(loads[f3], rd, rs1, 0, i);
        break;
    case 0x07:
        if (f3 == 2)
            m.fset(Kind::flw, rd, rs1, 0, i, Class::alu);
        break;
    case 0x23:
        if (f3 <= 2)
            m.set(f3 == 0 ? Kind::sb : f3 == 1 ? Kind::sh : Kind::sw, 0, rs1, rs2, s);
        break;
    case 0x27:
        if (f3 == 2)
            m.set(Kind::fsw, 0, rs1, rs2, s);
        break;
    case 0x13:
        if (f3 == 1 || f3 == 5) {
            if (f7 == 0)
                m.set(opimm[f3], rd, rs1, 0, int32_t(rs2));
            else if (f7 == 0x20 && f3 == 5)
                m.set(Kind::srai, rd, rs1, 0, int32_t(rs2));
        } else {
            m.set(opimm[f3], rd, rs1, 0, i);
        }
        break;
    case 0x33:
        if (f7 == 0)
            m.set(opreg[f3], rd, rs1, rs2, 0);
        else if (f7 == 0x20 && (f3 == 0 || f3 == 5))
            m.set(f3 ? Kind::sra : Kind::sub, rd, rs1, rs2, 0);
        else if (f7 == 1)
            m.set(muldiv[f3], rd, rs1, rs2, 0, f3 == 0 ? Class::mul : f3 < 4 ? Class::mulh : Class::div);
        break;
    case 0x0f:
        if (f3 == 0)
            m.set(Kind::fence, 0, 0, 0, 0);
        else if (f3 == 1)
            m.set(Kind::fence_i, 0, 0, 0, 0);
        break;
    case 0x2f: {
        if (f3 != 2)
            break;
        Kind k = Kind::illegal;
        switch (field(b, 27, 5)) {
        case 0x02:
            k = rs2 ? Kind::illegal : Kind::lr;
            break;
        case 0x03:
            k = Kind::sc;
            break;
        case 0x01:
            k = Kind::amoswap;
            break;
        case 0x00:
            k = Kind::amoadd;
            break;
        case 0x04:
            k = Kind::amoxor;
            break;
        case 0x0c:
            k = Kind::amoand;
            break;
        case 0x08:
            k = Kind::amoor;
            break;
        case 0x10:
            k = Kind::amomin;
            break;
        case 0x14:
            k = Kind::amomax;
            break;
        case 0x18:
            k = Kind::amominu;
            break;
        case 0x1c:
            k = Kind::amomaxu;
            break;
        default:
            break;
        }
        if (k != Kind::illegal)
            m.set(k, rd, rs1, rs2, 0);
        break;
    }
    case 0x43:
    case 0x47:
    case 0x4b:
    case 0x4f: {
        static const Kind fused[4] = {Kind::fmadd, Kind::fmsub, Kind::fnmsub, Kind::fnmadd};
        if ((f7 & 3) == 0 && rounding_ok(f3))
            m.fset(fused[field(b, 2, 2)], rd, rs1, rs2, int32_t(field(b, 27, 5) | f3 << 8));
        break;
    }
    case 0x53:
        decode_float(m, b);
        break;
    case 0x73:
        decode_system(m, b);
        break;
    default:
        break;
    }
    return m.op;
}

} // namespace

Op decode(uint32_t bits, uint32_t pc) { return (bits & 3) == 3 ? decode32(bits, pc) : decode16(bits & 0xffff, pc); }

bool reads(const Op &op, unsigned r, bool is_float)
{
    Kind k = op.kind;
    bool one = op.rs1 == r, two = op.rs2 == r;
    if (is_float) {
        if (k == Kind::fsw)
            return two;
        if (k >= Kind::fmadd && k <= Kind::fnmadd)
            return one || two || unsigned(op.imm & 0xff) == r;
        if (k == Kind::fsqrt || k == Kind::fclass || k == Kind::fmv_x_w || k == Kind::fcvt_w_s || k == Kind::fcvt_wu_s)
            return one;
        return k >= Kind::fadd && k <= Kind::fle && (one || two);
    }
    if (r == 0 || r >= 32)
        return false;
    if (k == Kind::li || k == Kind::jal || k == Kind::fence || k == Kind::fence_i || k == Kind::wfi ||
        k == Kind::ecall || k == Kind::illegal)
        return false;
    if (k == Kind::ebreak)
        return r == 10 || r == 11; // semihosting reads them
    if (k == Kind::csr)
        return op.cls < 4 && one;
    if (k >= Kind::fadd && k <= Kind::fcvt_s_wu)
        return (k == Kind::fmv_w_x || k == Kind::fcvt_s_w || k == Kind::fcvt_s_wu) && one;
    if (is_load(k) || k == Kind::fsw || k == Kind::lr || k == Kind::jalr || (k >= Kind::addi && k <= Kind::srai))
        return one;
    return one || two;
}

bool csr_exists(unsigned n, bool write)
{
    if (write && (n >> 10) == 3)
        return false;
    switch (n) {
    case 0x001: // fflags
    case 0x002: // frm
    case 0x003: // fcsr
    case 0x300: // mstatus
    case 0x304: // mie
    case 0x305: // mtvec
    case 0x340: // mscratch
    case 0x341: // mepc
    case 0x342: // mcause
    case 0x343: // mtval
    case 0x344: // mip
    case 0x7c0: // the stack's limit
    case 0x7c1: // the region that the trace shows
    case kStats:
    case 0xb00: // mcycle
    case 0xb02: // minstret
    case 0xb80:
    case 0xb82:
    case 0xc00: // cycle
    case 0xc01: // time
    case 0xc02: // instret
    case 0xc80:
    case 0xc81:
    case 0xc82:
    case 0xf11:
    case 0xf12:
    case 0xf13:
    case 0xf14: // mhartid
    case 0xfc0: // the cluster's number
    case 0xfc1: // the core's number in its cluster
        return !write || (n != 0xb00 && n != 0xb02 && n != 0xb80 && n != 0xb82);
    case 0x301:
        return true; // misa: writes have no effect
    default:
        return false;
    }
}

} // namespace mc
