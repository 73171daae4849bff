// isa_fuzz SEED PROGRAMS LENGTH OUT.elf - writes one ELF file with that many random programs of that many instructions,
// one after the other.
// The file runs on the platform and on qemu-system-riscv32 (-M virt) alike: code and data in main memory. After each
// program the registers, the float flags and a hash of the data go to standard output (semihosting), and at the end the
// data themselves.
//
// A program is straight but for forward branches and jumps (also into the middle of what it would else execute), and
// short counted loops. Operands are
// drawn half from edge values. Loads and stores stay in 2 KB around x8; x8 to x9 keep their meaning, x1 to x7 and x10
// to x31 are anybody's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <random>
#include <string>
#include <vector>

namespace
{

std::mt19937_64 rng;
std::vector<uint8_t> code;
constexpr uint32_t kCode = 0x80000000, kDump = 0x88000000, kData = 0x88100000;

uint32_t any(uint32_t n) { return uint32_t(rng() % n); }
void half(uint32_t h)
{
    code.push_back(uint8_t(h));
    code.push_back(uint8_t(h >> 8));
}
void word(uint32_t w)
{
    half(w & 0xffff);
    half(w >> 16);
}
uint32_t r_type(uint32_t f7, uint32_t rs2, uint32_t rs1, uint32_t f3, uint32_t rd, uint32_t op)
{
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
uint32_t i_type(int32_t imm, uint32_t rs1, uint32_t f3, uint32_t rd, uint32_t op)
{
    return uint32_t(imm) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
}
uint32_t s_type(int32_t imm, uint32_t rs2, uint32_t rs1, uint32_t f3, uint32_t op)
{
    uint32_t u = uint32_t(imm);
    return (u >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (u & 31) << 7 | op;
}
uint32_t b_type(int32_t imm, uint32_t rs2, uint32_t rs1, uint32_t f3)
{
    uint32_t u = uint32_t(imm);
    return (u >> 12 & 1) << 31 | (u >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (u >> 1 & 15) << 8 |
           (u >> 11 & 1) << 7 | 0x63;
}
uint32_t j_type(int32_t imm, uint32_t rd)
{
    uint32_t u = uint32_t(imm);
    return (u >> 20 & 1) << 31 | (u >> 1 & 1023) << 21 | (u >> 11 & 1) << 20 | (u >> 12 & 255) << 12 | rd << 7 | 0x6f;
}
void li(uint32_t rd, uint32_t value)
{
    word(((value + 0x800) & 0xfffff000u) | rd << 7 | 0x37);
    word(i_type(int32_t(value << 20) >> 20, rd, 0, rd, 0x13));
}
// A register that may be written: neither x8 nor x9.
uint32_t target()
{
    uint32_t r = any(30);
    return r >= 8 ? r + 2 : r;
}
uint32_t edge()
{
    static const uint32_t values[] = {
        0,          1,          2,          0xffffffff, 0xfffffffe, 0x7fffffff, 0x80000000, 0x80000001,
        31,         32,         0xffff,     0x8000,     0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
        0xffc12345, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x00800001,
        0x7f7fffff, 0xff7fffff, 0x4b000000, 0x4b000001, 0x4b7fffff, 0x3f000000, 0x3effffff, 0x3f000001,
        0xbf000000, 0x3fc00000, 0x40200000, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f7fffff, 0x4f800000,
        0x33800000, 0x34000000, 0x1f800000, 0x20000000, 0x5f800000, 0x24e69595, 0x0d800000, 0x00400000};
    switch (any(4)) {
    case 0:
        return uint32_t(rng());
    case 1: { // floats near one another, so that sums round and cancel
        uint32_t e = 120 + any(16);
        return uint32_t(rng() & 0x80000000) | e << 23 | (any(2) ? uint32_t(rng() & 0x7fffff) : any(4) << 21 | any(4));
    }
    default:
        return values[any(sizeof values / sizeof *values)];
    }
}
uint32_t rounding() { return any(3) ? 7 : any(5); }

void compressed(unsigned left)
{
    uint32_t a = any(8), b = any(8); // x8 to x15, f8 to f15
    uint32_t wide = target(), other = any(32), imm = any(64);
    uint32_t ci = (imm >> 5) << 12 | (imm & 31) << 2;
    uint32_t dest = 2 + any(6); // not x8, x9
    switch (any(20)) {
    case 0:
        half(0x0001 | wide << 7 | (wide ? ci : 0));
        break; // c.addi, c.nop
    case 1:
        half(0x4001 | wide << 7 | ci);
        break; // c.li
    case 2:
        if (wide != 2 && imm)
            half(0x6001 | wide << 7 | ci); // c.lui
        else
            half(0x6101 | 1 << 2 | (any(32) << 2)); // c.addi16sp; bit 5 of 6..2 may not all be 0
        break;
    case 3:
        half(0x8001 | any(2) << 10 | dest << 7 | any(32) << 2);
        break; // c.srli, c.srai
    case 4:
        half(0x8801 | dest << 7 | ci);
        break; // c.andi
    case 5:
        half(0x8c01 | dest << 7 | any(4) << 5 | b << 2);
        break; // c.sub, xor, or, and
    case 6:
        if (wide)
            half(0x0002 | wide << 7 | any(32) << 2); // c.slli
        break;
    case 7:
        if (wide && other)
            half((any(2) ? 0x8002 : 0x9002) | wide << 7 | other << 2); // c.mv, c.add
        break;
    case 8:
        half(0x4000 | any(8) << 10 | any(4) << 5 | 0 << 7 | dest << 2);
        break; // c.lw dest, n(x8)
    case 9:
        half(0xc000 | any(8) << 10 | any(4) << 5 | 0 << 7 | a << 2);
        break; // c.sw
    case 10:
        half(0x6000 | any(8) << 10 | any(4) << 5 | 0 << 7 | a << 2);
        break; // c.flw
    case 11:
        half(0xe000 | any(8) << 10 | any(4) << 5 | 0 << 7 | a << 2);
        break; // c.fsw
    case 12:
        half(0x0000 | (1 + any(255)) << 5 | dest << 2);
        break; // c.addi4spn
    case 13:   // x2 := x8; then what goes through it
        half(0x8002 | 2 << 7 | 8 << 2);
        if (wide && wide != 2)
            half(0x4002 | wide << 7 | ((imm >> 5) << 12 | (imm & 31) << 2)); // c.lwsp
        half(0xc002 | (imm << 7 & 0x1f80) | other << 2);                     // c.swsp
        half(0x6002 | other << 7 | ((imm >> 5) << 12 | (imm & 31) << 2));    // c.flwsp
        half(0xe002 | (imm << 7 & 0x1f80) | other << 2);                     // c.fswsp
        break;
    case 14:
        if (left > 4) { // c.j over a halfword that would be a c.li
            half(0xa001 | 2 << 2);
            half(0x4001 | wide << 7 | ci);
        }
        break;
    case 15:
    case 16:
        if (left > 4) { // c.beqz, c.bnez over one
            half(uint32_t(any(2) ? 0xc001 : 0xe001) | a << 7 | 2 << 3);
            half(0x4001 | wide << 7 | ci);
        }
        break;
    case 17: // c.jal to the next but one
        half(0x2001 | 2 << 2);
        half(0x4001 | wide << 7 | ci);
        break;
    default: { // auipc x5, 0; c.jr or c.jalr behind it
        word(5 << 7 | 0x17);
        word(i_type(12, 5, 0, 5, 0x13));
        half((any(2) ? 0x8002 : 0x9002) | 5 << 7);
        half(0x0001);
        break;
    }
    }
}

void instruction(unsigned left)
{
    uint32_t rd = target(), a = any(32), b = any(32), c = any(32), fd = any(32);
    switch (any(24)) {
    case 0:
    case 1: { // integer, immediate
        uint32_t f3 = any(8);
        if (f3 == 1 || f3 == 5)
            word(r_type(f3 == 5 && any(2) ? 0x20 : 0, b, a, f3, rd, 0x13));
        else
            word(i_type(any(3) ? int32_t(any(4096)) - 2048 : int32_t(any(8)) - 4, a, f3, rd, 0x13));
        break;
    }
    case 2:
    case 3: {
        uint32_t f3 = any(8);
        word(r_type((f3 == 0 || f3 == 5) && any(2) ? 0x20 : 0, b, a, f3, rd, 0x33));
        break;
    }
    case 4:
    case 5:
        word(r_type(1, b, a, any(8), rd, 0x33));
        break;
    case 6:
        word(uint32_t(rng() & 0xfffff000) | rd << 7 | (any(2) ? 0x37 : 0x17));
        break;
    case 7:
        li(target(), edge());
        break;
    case 8: {
        static const uint32_t sizes[] = {0, 1, 2, 4, 5};
        uint32_t f3 = sizes[any(5)];
        int32_t offset = (int32_t(any(2048)) - 1024) & -(1 << (f3 & 3));
        word(i_type(offset, 8, f3, rd, 0x03));
        break;
    }
    case 9: {
        uint32_t f3 = any(3);
        word(s_type((int32_t(any(2048)) - 1024) & -(1 << f3), a, 8, f3, 0x23));
        break;
    }
    case 10:
        word(i_type((int32_t(any(2048)) - 1024) & -4, 8, 2, fd, 0x07));
        break;
    case 11:
        word(s_type((int32_t(any(2048)) - 1024) & -4, a, 8, 2, 0x27));
        break;
    case 12: { // atomics at x5 = x8 + n
        static const uint32_t amo[] = {1, 0, 4, 12, 8, 16, 20, 24, 28};
        word(i_type((int32_t(any(2048)) - 1024) & -4, 8, 0, 5, 0x13));
        if (any(4) == 0) {
            word(r_type(2 << 2 | any(4), 0, 5, 2, 6, 0x2f));
            if (any(3) == 0)
                word(i_type(4, 5, 0, 5, 0x13)); // elsewhere: must fail
            word(r_type(3 << 2 | any(4), a, 5, 2, rd, 0x2f));
        } else {
            word(r_type(amo[any(9)] << 2 | any(4), a, 5, 2, rd, 0x2f));
        }
        break;
    }
    case 13: { // branch over up to three instructions
        static const uint32_t conditions[] = {0, 1, 4, 5, 6, 7};
        if (left > 8) {
            uint32_t n = 1 + any(3);
            word(b_type(int32_t(4 + 4 * n), any(4) ? b : a, a, conditions[any(6)]));
            for (uint32_t i = 0; i < n; i++)
                word(r_type(0, any(32), any(32), 4, target(), 0x33));
        }
        break;
    }
    case 14:
        if (any(2)) { // jal over one
            word(j_type(8, rd));
            word(i_type(1, rd, 0, rd, 0x13));
        } else { // jalr to an address made here; the low bit is dropped
            word(5 << 7 | 0x17);
            word(i_type(int32_t(16 + any(2)), 5, 0, rd, 0x67));
            word(i_type(1, 5, 0, 5, 0x13));
            word(i_type(1, 5, 0, 5, 0x13));
        }
        break;
    case 15: // a counted loop on x9
        word(i_type(int32_t(1 + any(4)), 0, 0, 9, 0x13));
        word(r_type(0, any(32), any(32), any(8), target(), 0x33));
        word(i_type(-1, 9, 0, 9, 0x13));
        word(b_type(-8, 0, 9, 1));
        break;
    case 16: { // CSRs: fflags, frm, fcsr, mscratch
        static const uint32_t numbers[] = {1, 2, 3, 3, 0x340};
        static const uint32_t f3[] = {1, 2, 3, 5, 6, 7};
        uint32_t number = numbers[any(5)];
        if (number == 2 || number == 3) { // a rounding mode that there is
            li(5, any(5) << (number == 3 ? 5 : 0) | (number == 3 ? any(32) : 0));
            word(i_type(int32_t(number), 5, 1, rd, 0x73));
        } else {
            word(i_type(int32_t(number), a, f3[any(6)], rd, 0x73));
        }
        break;
    }
    case 17:
        word(any(2) ? 0x0ff0000f : 0x0000100f);
        break;
    case 18: { // float
        static const uint32_t f7[] = {0x00, 0x04, 0x08, 0x0c};
        word(r_type(f7[any(4)], b, a, rounding(), fd, 0x53));
        break;
    }
    case 19:
        if (any(3))
            word(c << 27 | b << 20 | a << 15 | rounding() << 12 | fd << 7 | (0x43 + 4 * any(4)));
        else
            word(r_type(0x2c, 0, a, rounding(), fd, 0x53));
        break;
    case 20:
        switch (any(5)) {
        case 0:
            word(r_type(0x10, b, a, any(3), fd, 0x53));
            break;
        case 1:
            word(r_type(0x14, b, a, any(2), fd, 0x53));
            break;
        case 2:
            word(r_type(0x50, b, a, any(3), rd, 0x53));
            break;
        case 3:
            word(r_type(0x70, 0, a, any(2), rd, 0x53));
            break;
        default:
            word(r_type(0x78, 0, a, 0, fd, 0x53));
            break;
        }
        break;
    case 21: // conversions
        if (any(2))
            word(r_type(0x60, any(2), a, rounding(), rd, 0x53));
        else
            word(r_type(0x68, any(2), a, rounding(), fd, 0x53));
        break;
    case 22: // a float register anew
        li(5, edge());
        word(r_type(0x78, 0, 5, 0, fd, 0x53));
        break;
    default:
        compressed(left);
    }
    if (any(6) == 0)
        compressed(left);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    rng.seed(strtoull(argv[1], nullptr, 0));
    unsigned programs = unsigned(atoi(argv[2])), length = unsigned(atoi(argv[3]));
    // FS := initial, dump pointer x31 kept in mscratch's place: the dump's address is a constant in each program's end
    li(5, 0x2000);
    word(i_type(0x300, 5, 2, 0, 0x73));
    constexpr uint32_t kRecord = 4 * 65;
    for (unsigned p = 0; p < programs; p++) {
        for (uint32_t r = 1; r < 32; r++)
            li(r, r == 8 ? kData + 2048 : edge());
        for (uint32_t r = 0; r < 32; r++) {
            li(5, edge());
            word(r_type(0x78, 0, 5, 0, r, 0x53));
        }
        li(5, any(5) << 5);
        word(i_type(3, 5, 1, 0, 0x73));
        size_t start = code.size();
        unsigned n = 0;
        while (n < length) {
            size_t before = code.size();
            instruction(length - n);
            n += unsigned((code.size() - before + 3) / 4);
        }
        (void)start;
        // the dump: through x8 (its own value is known), then x9 as a second base would be lost: x8 serves for all
        li(8, kDump + p * kRecord);
        for (uint32_t r = 0; r < 32; r++)
            word(s_type(int32_t(4 * r), r, 8, 2, 0x23));
        for (uint32_t r = 0; r < 32; r++)
            word(s_type(int32_t(128 + 4 * r), r, 8, 2, 0x27));
        word(i_type(3, 0, 2, 5, 0x73)); // fcsr
        word(s_type(256, 5, 8, 2, 0x23));
    }
    // semihosting: open ":tt" for writing, write the dumps, write the data, exit
    auto host = [&](uint32_t operation, uint32_t block) {
        li(10, operation);
        li(11, block);
        while (code.size() & 15)
            half(0x0001);
        word(0x01f01013);
        word(0x00100073);
        word(0x40705013);
    };
    const uint32_t block = kData + 0x2000;
    auto put = [&](uint32_t i, uint32_t value) {
        li(5, block);
        li(6, value);
        word(s_type(int32_t(4 * i), 6, 5, 2, 0x23));
    };
    put(8, 0x0074743a); // ":tt"
    put(0, block + 32);
    put(1, 4);
    put(2, 3);
    host(1, block);
    li(5, block);
    word(s_type(0, 10, 5, 2, 0x23));
    put(1, kDump);
    put(2, programs * kRecord);
    host(5, block);
    put(1, kData);
    put(2, 4096);
    host(5, block);
    host(24, 0x20026);
    word(0x0000006f);

    // the file: code, and memory for dumps and data
    Elf32_Ehdr h{};
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS32;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_ident[EI_VERSION] = EV_CURRENT;
    h.e_type = ET_EXEC;
    h.e_machine = EM_RISCV;
    h.e_version = EV_CURRENT;
    h.e_entry = kCode;
    h.e_phoff = sizeof h;
    h.e_ehsize = sizeof h;
    h.e_phentsize = sizeof(Elf32_Phdr);
    h.e_phnum = 2;
    std::vector<uint8_t> data(4096);
    for (uint8_t &d : data)
        d = uint8_t(rng());
    uint32_t data_at = uint32_t(4096 + code.size());
    Elf32_Phdr ph[2] = {{PT_LOAD, 4096, kCode, kCode, uint32_t(code.size()), uint32_t(code.size()), PF_R | PF_X, 4096},
                        {PT_LOAD, data_at, kData, kData, uint32_t(data.size()), uint32_t(data.size()), PF_R | PF_W, 4}};
    FILE *f = fopen(argv[4], "wb");
    if (!f)
        return 1;
    uint8_t page[4096] = {};
    memcpy(page, &h, sizeof h);
    memcpy(page + sizeof h, ph, sizeof ph);
    fwrite(page, 1, sizeof page, f);
    fwrite(code.data(), 1, code.size(), f);
    fwrite(data.data(), 1, data.size(), f);
    return fclose(f) != 0;
}
