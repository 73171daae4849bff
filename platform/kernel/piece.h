// The writing of a piece of translated code (translate.h says what a piece is, and what the host's registers hold).
#pragma once
#include "isa/host.h"
#ifdef MC_X86
#include "kernel/machine.h"
#include "kernel/translate.h"
#include "kernel/x86.h"
#include <algorithm>
#include <functional>
#include <vector>

namespace mc
{

using namespace x86;

constexpr int kX = int(offsetof(Core, x)), kF = int(offsetof(Core, f)), kOp = int(offsetof(Core, op)),
              kNative = int(offsetof(Core, native)), kAt = int(offsetof(Core, at)), kTags = int(offsetof(Core, tags)),
              kColumn = int(offsetof(Core, column)), kBit = int(offsetof(Core, bit)),
              kPosted = int(offsetof(Core, posted)), kBanks = int(offsetof(Core, banks)),
              kTcdm = int(offsetof(Core, tcdm)), kTcdmBase = int(offsetof(Core, tcdm_base)),
              kLimit = int(offsetof(Core, stack_limit)), kCounters = int(offsetof(Core, n));
inline int counter(size_t offset) { return kCounters + int(offset); }
#define MC_COUNTER(name) counter(offsetof(Counters, name))
#define MC_STATE(name) int(offsetof(Translator::State, name))

// A register instruction that is called. False: no such rounding mode.
using Helper = bool (*)(Core *, const Op *);

// One piece being written.
struct Piece : Emit {
    Translator &tr;
    Machine &m;
    Code &code;
    struct Pending {
        uint32_t instructions = 0, cycles = 0, load_use = 0, long_ops = 0;
    } pending;
    std::vector<std::function<void()>> later; // what stands behind the piece
    unsigned holds = 0;                       // the simulated register that eax holds, 0: none
    // Lines that have been looked up since the core's event. Until it misses one, none of them goes. (One way only:
    // with two, looking one up changes which goes next.)
    std::vector<uint32_t> known;
    const unsigned words;

    Piece(Translator &t, Code &c) : Emit{t.at_}, tr(t), m(t.m), code(c), words(t.m.clock.wheel.words) {}

    Op &decoded(Op &op)
    {
        if (op.length == 0) {
            m.codes.prepare(code, op);
            op.go = 0; // the threaded code's label is still missing
        }
        return op;
    }
    static int xreg(unsigned r) { return kX + int(r) * 4; }
    static int freg(unsigned r) { return kF + int(r) * 4; }

    void flush(const Pending &n)
    {
        if (n.instructions)
            immediate_mem(0, rbx, MC_COUNTER(instructions), int32_t(n.instructions), true);
        if (n.cycles)
            immediate(0, r12, int32_t(n.cycles), true);
        if (n.load_use)
            immediate_mem(0, rbx, MC_COUNTER(load_use), int32_t(n.load_use), true);
        if (n.long_ops)
            immediate_mem(0, rbx, MC_COUNTER(long_ops), int32_t(n.long_ops), true);
    }
    void flush()
    {
        flush(pending);
        pending = {};
    }
    // r10, r11: the next core that is due, and where it begins. Both are looked up at a piece's beginning, so that the
    // jump at its end waits for nothing; code that clobbers the two looks them up anew.
    void look_ahead()
    {
        byte(0x49), byte(0x0f), byte(0xbc), byte(0xcd); // bsf rcx, r13
        load(rdx, rbp, MC_STATE(row), true);
        rex(true, r10, rcx, rdx);
        byte(0x8b);
        indexed(r10, rdx, rcx, 3);
        load(r11, r10, kNative, true);
    }
    void next_core()
    {
        byte(0x49), byte(0x8d), byte(0x45), byte(0xff); // lea rax, [r13 - 1]
        op_reg(and_, r13, rax, true);
        move(rbx, r10, true);
        load(r12, rbp, MC_STATE(now), true);
        byte(0x41), byte(0xff), byte(0xe3); // jmp r11
    }
    // The core stands in the wheel in cycle r12.
    void into_wheel()
    {
        move(rcx, r12);
        immediate(4, rcx, int32_t(Wheel::kSlots - 1));
        byte(0x41), byte(0xc6), byte(0x04), byte(0x0f), byte(1); // mov byte [r15 + rcx], 1
        if (words != 1) {
            byte(0x69), byte(0xc9); // imul ecx, ecx, words
            word(words);
        }
        load(rdx, rbx, kColumn, true);
        load(rsi, rbx, kBit, true);
        rex(true, rsi, rcx, rdx);
        byte(0x09); // or [rdx + rcx * 8], rsi
        indexed(rsi, rdx, rcx, 3);
    }
    void suspend(Op &op)
    {
        flush();
        pointer(rax, &op);
        store(rax, rbx, kOp, true);
        load(rax, rax, int(offsetof(Op, native)), true);
        store(rax, rbx, kNative, true);
        store(r12, rbx, kAt, true);
        into_wheel();
        next_core();
    }
    void leave(Translator::Leave why, Op &op) // flushed
    {
        pointer(rax, &op);
        store(rax, rbp, MC_STATE(op), true);
        jump(tr.leave_[int(why)]);
    }
    void leave_if(Cond c, Translator::Leave why, Op &op)
    {
        uint8_t *from = jump_if(c);
        Pending n = pending;
        later.push_back([this, from, why, &op, n] {
            bind(from);
            flush(n);
            leave(why, op);
        });
    }
    void line_there(uint32_t line, Translator::Leave why, Op &op)
    {
        if (m.icache.way_shift == 0) {
            if (std::find(known.begin(), known.end(), line) != known.end())
                return;
            known.push_back(line);
        }
        load(rdx, rbx, kTags, true);
        int disp = int(((line & m.icache.set_mask) << m.icache.way_shift) * 4);
        byte(0x81); // cmp dword [rdx + disp], line
        address(7, rdx, disp);
        word(line);
        leave_if(not_equal, why, op);
    }
    // `op` begins a line or is jumped to. All is flushed.
    void landing(Op &op)
    {
        op_mem(cmp, r12, rbp, MC_STATE(bound), true);
        leave_if(not_below, Translator::Leave::landing, op);
        line_there(op.line, Translator::Leave::landing, op);
    }
    // Goes on at `op`, which is looked up.
    void chain(Op &op)
    {
        decoded(op);
        if (is_shared(op.kind)) {
            if (op.flags & kStraddles)
                line_there(op.line + 1, Translator::Leave::threaded, op);
            return suspend(op);
        }
        flush();
        pointer(rax, &op);
        jump_mem(rax, int(offsetof(Op, native)));
    }

    void load_a(unsigned r)
    {
        if (r == 0)
            op_reg(xor_, rax, rax);
        else if (r != holds)
            load(rax, rbx, xreg(r));
    }
    void result(unsigned rd)
    {
        store(rax, rbx, xreg(rd));
        holds = rd == 32 ? 0 : rd;
    }
    void set(Cond c, unsigned rd)
    {
        byte(0x0f), byte(0x90 | c), byte(0xc0);
        byte(0x0f), byte(0xb6), byte(0xc0); // movzx eax, al
        result(rd);
    }
    void compare(const Op &op)
    {
        load_a(op.rs1);
        if (op.rs2 == 0)
            immediate(7, rax, 0);
        else
            op_mem(cmp, rax, rbx, xreg(op.rs2));
    }
    void two(Alu a, const Op &op)
    {
        unsigned first = op.rs1, second = op.rs2;
        if (second == holds && second && a != sub)
            std::swap(first, second);
        load_a(first);
        op_mem(a, rax, rbx, xreg(second));
        result(op.rd);
    }
    void one(unsigned which, const Op &op)
    {
        load_a(op.rs1);
        immediate(which, rax, op.imm);
        result(op.rd);
    }
    void shift_one(unsigned which, const Op &op)
    {
        load_a(op.rs1);
        if (op.imm & 31)
            shift(which, rax, unsigned(op.imm) & 31);
        result(op.rd);
    }
    void shift_two(unsigned which, const Op &op)
    {
        load(rcx, rbx, xreg(op.rs2));
        load_a(op.rs1);
        shift_by_cl(which, rax);
        result(op.rd);
    }

    bool simple(Op &op);
    void call(Op &op, Helper h, const Pending &n);
    void multiply_divide(Op &op, Helper h);
    bool arithmetic(Op &op, Helper h);
    void go_on(Op *op);
    bool jump_op(Op &op);
    void computed(Op &op);
    void access(Op &op);

    void finish()
    {
        for (size_t i = 0; i < later.size(); i++) { // each may add others
            auto f = std::move(later[i]);
            f();
        }
        tr.at_ = p;
    }
};

} // namespace mc

#endif
