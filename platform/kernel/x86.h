// The host's instructions (x86-64), as bytes.
#pragma once
#include <cstdint>
#include <cstring>

namespace mc::x86
{

enum Reg : unsigned { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };
enum Cond : uint8_t { below = 2, not_below = 3, equal = 4, not_equal = 5, parity = 10, less = 12, not_less = 13 };
// the opcode "register op= register or memory"
enum Alu : uint8_t { add = 0x03, or_ = 0x0b, and_ = 0x23, sub = 0x2b, xor_ = 0x33, cmp = 0x3b };

// Writes host instructions.
struct Emit {
    uint8_t *p;

    void byte(unsigned b) { *p++ = uint8_t(b); }
    void word(uint32_t w)
    {
        std::memcpy(p, &w, 4);
        p += 4;
    }
    void quad(uint64_t w)
    {
        std::memcpy(p, &w, 8);
        p += 8;
    }
    void rex(bool wide, unsigned reg, unsigned index, unsigned base, bool always = false)
    {
        unsigned r = 0x40 | unsigned(wide) << 3 | reg >> 3 << 2 | index >> 3 << 1 | base >> 3;
        if (r != 0x40 || always)
            byte(r);
    }
    void address(unsigned reg, unsigned base, int disp) // base: not rsp, r12
    {
        bool small = disp >= -128 && disp < 128;
        byte((small ? 0x40 : 0x80) | (reg & 7) << 3 | (base & 7));
        if (small)
            byte(unsigned(disp) & 0xff);
        else
            word(uint32_t(disp));
    }
    void indexed(unsigned reg, unsigned base, unsigned index, unsigned shift) // base: not rbp, r13
    {
        byte(4 | (reg & 7) << 3);
        byte(shift << 6 | (index & 7) << 3 | (base & 7));
    }
    void op_mem(unsigned opcode, unsigned reg, unsigned base, int disp, bool wide = false)
    {
        rex(wide, reg, 0, base);
        byte(opcode);
        address(reg, base, disp);
    }
    void op_reg(unsigned opcode, unsigned reg, unsigned other, bool wide = false)
    {
        rex(wide, reg, 0, other);
        byte(opcode);
        byte(0xc0 | (reg & 7) << 3 | (other & 7));
    }
    void load(unsigned reg, unsigned base, int disp, bool wide = false) { op_mem(0x8b, reg, base, disp, wide); }
    void store(unsigned reg, unsigned base, int disp, bool wide = false) { op_mem(0x89, reg, base, disp, wide); }
    void move(unsigned to, unsigned from, bool wide = false) { op_reg(0x8b, to, from, wide); }
    void constant(unsigned reg, uint32_t v)
    {
        rex(false, 0, 0, reg);
        byte(0xb8 | (reg & 7));
        word(v);
    }
    void pointer(unsigned reg, const void *v)
    {
        rex(true, 0, 0, reg);
        byte(0xb8 | (reg & 7));
        quad(uint64_t(reinterpret_cast<uintptr_t>(v)));
    }
    // reg op= constant; which: 0 add, 1 or, 4 and, 5 sub, 6 xor, 7 cmp
    void immediate(unsigned which, unsigned reg, int32_t v, bool wide = false)
    {
        bool small = v >= -128 && v < 128;
        rex(wide, 0, 0, reg);
        byte(small ? 0x83 : 0x81);
        byte(0xc0 | which << 3 | (reg & 7));
        if (small)
            byte(unsigned(v) & 0xff);
        else
            word(uint32_t(v));
    }
    void immediate_mem(unsigned which, unsigned base, int disp, int32_t v, bool wide = false)
    {
        bool small = v >= -128 && v < 128;
        rex(wide, 0, 0, base);
        byte(small ? 0x83 : 0x81);
        address(which, base, disp);
        if (small)
            byte(unsigned(v) & 0xff);
        else
            word(uint32_t(v));
    }
    // which: 4 left, 5 right, 7 right with the sign
    void shift(unsigned which, unsigned reg, unsigned n)
    {
        rex(false, 0, 0, reg);
        byte(0xc1);
        byte(0xc0 | which << 3 | (reg & 7));
        byte(n);
    }
    void shift_by_cl(unsigned which, unsigned reg)
    {
        byte(0xd3);
        byte(0xc0 | which << 3 | reg);
    }
    uint8_t *jump_if(unsigned c) // to be bound
    {
        byte(0x0f);
        byte(0x80 | c);
        word(0);
        return p;
    }
    void bind(uint8_t *after) const { bind(after, p); }
    static void bind(uint8_t *after, const uint8_t *to)
    {
        int32_t d = int32_t(to - after);
        std::memcpy(after - 4, &d, 4);
    }
    void jump(const uint8_t *to)
    {
        byte(0xe9);
        word(0);
        bind(p, to);
    }
    void jump_mem(unsigned base, int disp)
    {
        rex(false, 4, 0, base);
        byte(0xff);
        address(4, base, disp);
    }
};

} // namespace mc::x86
