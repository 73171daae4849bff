#include "kernel/translate.h"
#include "isa/execute.h"
#include "kernel/machine.h"
#include <algorithm>
#include <functional>
#include <sys/mman.h>

namespace mc
{

#ifdef __x86_64__

namespace
{

enum Reg : unsigned { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };
enum Cond : uint8_t { below = 2, not_below = 3, equal = 4, not_equal = 5, parity = 10, less = 12, not_less = 13 };
// the opcode "register op= register or memory"
enum Alu : uint8_t { add = 0x03, or_ = 0x0b, and_ = 0x23, sub = 0x2b, xor_ = 0x33, cmp = 0x3b };

// Register instructions that are called: their bodies are those of the other kernels. False: no such rounding mode.
using Helper = bool (*)(Core *, const Op *);
#define X(kind, ...)                                         \
    bool body_##kind(Core *c, [[maybe_unused]] const Op *op) \
    {                                                        \
        [[maybe_unused]] uint64_t t = 0, done = 0;           \
        [[maybe_unused]] uint32_t *x = c->x, *f = c->f;      \
        __VA_ARGS__;                                         \
        return true;                                         \
    }
MC_BODIES(X)
#undef X
#define X(kind, ...)                                    \
    bool body_##kind(Core *c, const Op *op)             \
    {                                                   \
        [[maybe_unused]] uint32_t *x = c->x, *f = c->f; \
        unsigned rm = rounding(*c, *op);                \
        if (rm > 4)                                     \
            return false;                               \
        __VA_ARGS__;                                    \
        c->n.float_ops += op->cost - 1u;                \
        return true;                                    \
    }
MC_ROUNDED_BODIES(X)
#undef X

Helper helper(Kind k)
{
    switch (k) {
#define X(kind, ...) \
    case Kind::kind: \
        return body_##kind;
        MC_BODIES(X)
        MC_ROUNDED_BODIES(X)
#undef X
    default:
        return nullptr;
    }
}

constexpr int kX = int(offsetof(Core, x)), kF = int(offsetof(Core, f)), kOp = int(offsetof(Core, op)),
              kNative = int(offsetof(Core, native)), kAt = int(offsetof(Core, at)), kTags = int(offsetof(Core, tags)),
              kColumn = int(offsetof(Core, column)), kBit = int(offsetof(Core, bit)),
              kBanks = int(offsetof(Core, banks)), kTcdm = int(offsetof(Core, tcdm)),
              kTcdmBase = int(offsetof(Core, tcdm_base)), kLimit = int(offsetof(Core, stack_limit)),
              kCounters = int(offsetof(Core, n));
int counter(size_t offset) { return kCounters + int(offset); }
#define MC_COUNTER(name) counter(offsetof(Counters, name))
#define MC_STATE(name) int(offsetof(Translator::State, name))

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

} // namespace

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

    Piece(Translator &t, Code &c) : Emit{t.at_}, tr(t), m(t.m), code(c), words(t.m.wheel.words) {}

    Op &decoded(Op &op)
    {
        if (op.length == 0) {
            m.prepare(code, op);
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
        if (m.way_shift == 0) {
            if (std::find(known.begin(), known.end(), line) != known.end())
                return;
            known.push_back(line);
        }
        load(rdx, rbx, kTags, true);
        int disp = int(((line & m.set_mask) << m.way_shift) * 4);
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

    // A register instruction that is no jump. False: it is none of those that are translated.
    bool simple(Op &op)
    {
        switch (op.kind) {
        case Kind::li:
            if (op.flags & kWritesSp)
                return false;
            byte(0xc7); // mov dword [], imm
            address(0, rbx, xreg(op.rd));
            word(uint32_t(op.imm));
            if (op.rd == holds)
                holds = 0;
            return true;
        case Kind::addi:
            load_a(op.rs1);
            if (op.imm)
                immediate(0, rax, op.imm);
            if (op.flags & kWritesSp) {
                op_mem(cmp, rax, rbx, kLimit);
                leave_if(below, Translator::Leave::threaded, op);
            }
            result(op.rd);
            return true;
        default:
            break;
        }
        if (op.flags & kWritesSp)
            return false;
        switch (op.kind) {
        case Kind::slti:
            load_a(op.rs1);
            immediate(7, rax, op.imm);
            set(less, op.rd);
            return true;
        case Kind::sltiu:
            load_a(op.rs1);
            immediate(7, rax, op.imm);
            set(below, op.rd);
            return true;
        case Kind::slt:
            compare(op);
            set(less, op.rd);
            return true;
        case Kind::sltu:
            compare(op);
            set(below, op.rd);
            return true;
        case Kind::xori:
            one(6, op);
            return true;
        case Kind::ori:
            one(1, op);
            return true;
        case Kind::andi:
            one(4, op);
            return true;
        case Kind::slli:
            shift_one(4, op);
            return true;
        case Kind::srli:
            shift_one(5, op);
            return true;
        case Kind::srai:
            shift_one(7, op);
            return true;
        case Kind::sll:
            shift_two(4, op);
            return true;
        case Kind::srl:
            shift_two(5, op);
            return true;
        case Kind::sra:
            shift_two(7, op);
            return true;
        case Kind::add:
            two(Alu::add, op);
            return true;
        case Kind::sub:
            two(Alu::sub, op);
            return true;
        case Kind::xor_:
            two(Alu::xor_, op);
            return true;
        case Kind::or_:
            two(Alu::or_, op);
            return true;
        case Kind::and_:
            two(Alu::and_, op);
            return true;
        case Kind::mul:
            load_a(op.rs1);
            byte(0x0f), byte(0xaf); // imul eax, []
            address(rax, rbx, xreg(op.rs2));
            result(op.rd);
            pending.long_ops += op.cost - 1u;
            return true;
        case Kind::fence:
            return true;
        case Kind::csr:
        case Kind::fence_i:
            return false;
        default:
            break;
        }
        Helper h = helper(op.kind);
        if (!h)
            return false;
        holds = 0;
        if (op.kind >= Kind::mulh && op.kind <= Kind::remu)
            multiply_divide(op, h);
        else if (!arithmetic(op, h))
            call(op, h, pending);
        return true;
    }

    void call(Op &op, Helper h, const Pending &n)
    {
        move(rdi, rbx, true);
        pointer(rsi, &op);
        pointer(rax, reinterpret_cast<const void *>(h));
        byte(0xff), byte(0xd0); // call rax
        look_ahead();
        if (op.kind >= Kind::fadd && op.kind <= Kind::fcvt_s_wu) {
            byte(0x84), byte(0xc0); // test al, al (look_ahead() leaves it)
            uint8_t *from = jump_if(equal);
            later.push_back([this, from, &op, n] {
                bind(from);
                flush(n);
                leave(Translator::Leave::threaded, op);
            });
        }
    }

    // mulh and what divides; the call does what the host's division traps at, and mulhsu.
    void multiply_divide(Op &op, Helper h)
    {
        if (op.kind == Kind::mulhsu)
            return call(op, h, pending);
        auto group = [&](unsigned which) { byte(0xf7), byte(0xc0 | which << 3 | rcx); }; // of eax (and edx) and ecx
        load(rcx, rbx, xreg(op.rs2));
        load(rax, rbx, xreg(op.rs1));
        Reg from = rax;
        std::vector<uint8_t *> slow;
        if (op.kind <= Kind::mulhu) {
            group(op.kind == Kind::mulh ? 5 : 4);
            from = rdx;
        } else {
            bool is_signed = op.kind == Kind::div || op.kind == Kind::rem;
            op_reg(0x85, rcx, rcx);
            slow.push_back(jump_if(equal));
            if (is_signed) {
                immediate(7, rcx, -1);
                slow.push_back(jump_if(equal));
                byte(0x99); // cdq
            } else {
                op_reg(xor_, rdx, rdx);
            }
            group(is_signed ? 7 : 6);
            if (op.kind == Kind::rem || op.kind == Kind::remu)
                from = rdx;
        }
        store(from, rbx, xreg(op.rd));
        if (op.cost > 1)
            immediate_mem(0, rbx, MC_COUNTER(long_ops), op.cost - 1, true);
        if (slow.empty())
            return;
        const uint8_t *back = p;
        Pending n = pending;
        later.push_back([this, slow, back, n, h, &op] {
            for (uint8_t *jump_from : slow)
                bind(jump_from);
            call(op, h, n);
            jump(back);
        });
    }

    // Addition, subtraction, multiplication, fused ones: the host's instruction, if the rounding mode is RNE, no flag
    // appears that is not set already, and the result is a number. Else the call does it, anew (isa/float.h).
    bool arithmetic(Op &op, Helper h)
    {
        unsigned opcode = 0, fused = 0, mode = unsigned(op.imm >> 8) & 7;
        switch (op.kind) {
        case Kind::fadd:
            opcode = 0x58;
            break;
        case Kind::fmul:
            opcode = 0x59;
            break;
        case Kind::fsub:
            opcode = 0x5c;
            break;
        case Kind::fmadd:
            fused = 0xb9;
            break;
        case Kind::fmsub:
            fused = 0xbb;
            break;
        case Kind::fnmsub:
            fused = 0xbd;
            break;
        case Kind::fnmadd:
            fused = 0xbf;
            break;
        default:
            return false;
        }
        if ((fused && !tr.fma_) || (mode != fp::RNE && mode != 7))
            return false;
        std::vector<uint8_t *> slow;
        if (mode == 7) {
            byte(0x80); // cmp byte [rbx + frm], 0
            address(7, rbx, int(offsetof(Core, frm)));
            byte(0);
            slow.push_back(jump_if(not_equal));
        }
        auto scalar = [&](unsigned which, unsigned reg, int disp) {
            byte(0xf3), byte(0x0f), byte(which);
            address(reg, rbx, disp);
        };
        scalar(0x10, 0, freg(op.rs1)); // movss xmm0
        unsigned to = 0;
        if (fused) {
            to = 1;
            scalar(0x10, 1, freg(unsigned(op.imm) & 31));    // movss xmm1
            byte(0xc4), byte(0xe2), byte(0x79), byte(fused); // xmm1 = +- xmm0 * [] +- xmm1
            address(1, rbx, freg(op.rs2));
        } else {
            scalar(opcode, 0, freg(op.rs2));
        }
        byte(0x0f), byte(0xae), byte(0x1c), byte(0x24); // stmxcsr [rsp]
        byte(0x0f), byte(0xb6);                         // movzx ecx, byte [rbx + fflags]
        address(rcx, rbx, int(offsetof(Core, fflags)));
        immediate(4, rcx, fp::NX);
        shift(4, rcx, 5);
        byte(0xf7), byte(0xd1); // not ecx
        immediate(4, rcx, 0x3d);
        byte(0x85), byte(0x0c), byte(0x24); // test [rsp], ecx
        slow.push_back(jump_if(not_equal));
        byte(0x0f), byte(0x2e), byte(0xc0 | to * 9); // ucomiss
        slow.push_back(jump_if(parity));
        scalar(0x11, to, freg(op.rd)); // movss []
        if (op.cost > 1)
            immediate_mem(0, rbx, MC_COUNTER(float_ops), op.cost - 1, true);
        const uint8_t *back = p;
        Pending n = pending;
        later.push_back([this, slow, back, n, h, &op] {
            for (uint8_t *from : slow)
                bind(from);
            call(op, h, n);
            jump(back);
        });
        return true;
    }

    // From `op` on, which is looked up, to the piece's end.
    void go_on(Op *op)
    {
        holds = 0;
        for (unsigned count = 0;; count++) {
            decoded(*op);
            if (count == 64 || is_shared(op->kind))
                return chain(*op);
            if (op->flags & kStraddles)
                line_there(op->line + 1, Translator::Leave::threaded, *op);
            if (op->flags & kFar) {
                flush();
                return leave(Translator::Leave::threaded, *op);
            }
            if (is_jump(op->kind)) {
                if (jump_op(*op))
                    return;
            } else {
                if (!simple(*op)) {
                    flush();
                    return leave(Translator::Leave::threaded, *op);
                }
                pending.instructions++;
                pending.cycles += op->cost;
            }
            bool crosses = op->flags & kCrosses;
            op += op->length;
            if (crosses) {
                flush();
                landing(*op);
            }
        }
    }

    // True: the piece ends with it.
    bool jump_op(Op &op)
    {
        if (op.kind == Kind::jalr) {
            computed(op);
            return true;
        }
        Op &target = *(&op + op.imm);
        if (op.kind == Kind::jal) {
            byte(0xc7);
            address(0, rbx, xreg(op.rd));
            word(code.low + uint32_t(&op - code.ops.data() + op.length) * 2);
            pending.instructions++;
            pending.cycles += op.cost + uint32_t(m.config.core_jump);
            immediate_mem(0, rbx, MC_COUNTER(jumps), 1, true);
            flush();
            landing(target);
            chain(target);
            return true;
        }
        compare(op);
        holds = op.rs1 ? op.rs1 : 0;
        static const Cond cond[] = {equal, not_equal, less, not_less, below, not_below};
        uint8_t *from = jump_if(cond[int(op.kind) - int(Kind::beq)]);
        Pending n = pending;
        n.instructions++;
        n.cycles += op.cost + uint32_t(m.config.core_branch);
        later.push_back([this, from, n, &target, lines = known] {
            bind(from);
            pending = n;
            known = lines;
            immediate_mem(0, rbx, MC_COUNTER(taken), 1, true);
            flush();
            landing(target);
            chain(target);
        });
        pending.instructions++;
        pending.cycles += op.cost;
        return false;
    }

    // jalr
    void computed(Op &op)
    {
        load_a(op.rs1);
        if (op.imm)
            immediate(0, rax, op.imm);
        immediate(4, rax, -2);
        immediate(5, rax, int32_t(code.low));
        immediate(7, rax, int32_t(code.size));
        leave_if(not_below, Translator::Leave::threaded, op);
        byte(0xc7);
        address(0, rbx, xreg(op.rd));
        word(code.low + uint32_t(&op - code.ops.data() + op.length) * 2);
        pending.instructions++;
        pending.cycles += op.cost + uint32_t(m.config.core_jump);
        immediate_mem(0, rbx, MC_COUNTER(jumps), 1, true);
        flush();
        byte(0x48), byte(0xc1), byte(0xe0), byte(4); // shl rax, 4: an Op for two bytes
        static_assert(sizeof(Op) == 32);
        pointer(rcx, code.ops.data());
        op_reg(Alu::add, rax, rcx, true);
        auto leave_landing = [&](Cond c) { bind(jump_if(c), tr.leave_landing_); };
        op_mem(cmp, r12, rbp, MC_STATE(bound), true);
        leave_landing(not_below);
        load(rcx, rax, int(offsetof(Op, line)));
        move(rdx, rcx);
        immediate(4, rdx, int32_t(m.set_mask));
        if (m.way_shift)
            shift(4, rdx, m.way_shift);
        load(rsi, rbx, kTags, true);
        byte(0x3b); // cmp ecx, [rsi + rdx * 4]
        indexed(rcx, rsi, rdx, 2);
        leave_landing(not_equal);
        byte(0x80); // cmp byte [rax + state], block
        address(7, rax, int(offsetof(Op, state)));
        byte(unsigned(Op::State::block));
        leave_landing(not_equal);
        jump_mem(rax, int(offsetof(Op, native)));
    }

    // An access in its cycle; all that is not the own TCDM is left to the threaded code.
    void access(Op &op)
    {
        unsigned size = access_size(op.kind);
        bool load_op = is_load(op.kind);
        auto slow = [&](Cond c) { bind(jump_if(c), tr.leave_[int(Translator::Leave::event)]); };
        look_ahead();
        known.push_back(op.line);
        uint32_t tcdm_size = uint32_t(m.config.tcdm_size);
        if (!load_op) {
            load(rax, rbp, MC_STATE(reservations), true);
            byte(0x83), byte(0x38), byte(0); // cmp dword [rax], 0
            slow(not_equal);
        }
        load(rax, rbx, xreg(op.rs1));
        if (op.imm)
            immediate(0, rax, op.imm);
        byte(0x8d); // lea ecx, [rax - alias]
        address(rcx, rax, -int32_t(map::kAlias));
        immediate(7, rcx, int32_t(tcdm_size));
        uint8_t *from = jump_if(not_below);
        const uint8_t *back = p;
        if (size > 1) {
            byte(0xf6), byte(0xc1), byte(size - 1); // test cl, size - 1
            slow(not_equal);
        }
        move(rdx, rcx);
        shift(5, rdx, 2);
        move(rsi, rdx);
        immediate(4, rsi, int32_t(m.bank_mask));
        byte(0x49), byte(0x8d), byte(0x54), byte(0x56), byte(load_op); // lea rdx, [r14 + rdx * 2 + load]
        load(rdi, rbx, kBanks, true);
        byte(0x48), byte(0x8b), byte(0x04), byte(0xf7); // mov rax, [rdi + rsi * 8]
        op_reg(cmp, rax, r14, true);
        uint8_t *taken = jump_if(not_below);
        byte(0x48), byte(0x89), byte(0x14), byte(0xf7); // mov [rdi + rsi * 8], rdx
        const uint8_t *granted = p;
        later.push_back([this, taken, granted, load_op] {
            bind(taken);
            if (load_op) { // the same word's loads share their access
                op_reg(cmp, rax, rdx, true);
                bind(jump_if(equal), granted);
            }
            immediate_mem(0, rbx, MC_COUNTER(conflicts), 1, true);
            immediate(0, r12, 1, true);
            store(r12, rbx, kAt, true);
            into_wheel();
            next_core();
        });
        load(rdi, rbx, kTcdm, true);
        immediate_mem(0, rbx, MC_COUNTER(tcdm), 1, true);
        switch (op.kind) {
        case Kind::lb:
            byte(0x0f), byte(0xbe);
            break;
        case Kind::lbu:
            byte(0x0f), byte(0xb6);
            break;
        case Kind::lh:
            byte(0x0f), byte(0xbf);
            break;
        case Kind::lhu:
            byte(0x0f), byte(0xb7);
            break;
        case Kind::lw:
        case Kind::flw:
            byte(0x8b);
            break;
        default:
            load(rax, rbx, op.kind == Kind::fsw ? freg(op.rs2) : xreg(op.rs2));
            if (size == 2)
                byte(0x66);
            byte(size == 1 ? 0x88 : 0x89);
        }
        indexed(rax, rdi, rcx, 0);
        if (load_op)
            store(rax, rbx, op.kind == Kind::flw ? freg(op.rd) : xreg(op.rd));
        const uint8_t *over = p;
        later.push_back([this, from, back, over, tcdm_size, &op] {
            bind(from);
            move(rcx, rax);
            op_mem(Alu::sub, rcx, rbx, kTcdmBase);
            immediate(7, rcx, int32_t(tcdm_size));
            bind(jump_if(below), back);
            if (op.kind == Kind::lw) { // the platform's description, which is a core's own
                immediate(5, rax, int32_t(map::kSystem));
                immediate(7, rax, int32_t(sizeof m.description));
                bind(jump_if(not_below), tr.leave_[int(Translator::Leave::event)]);
                byte(0xa8), byte(3); // test al, 3
                bind(jump_if(not_equal), tr.leave_[int(Translator::Leave::event)]);
                pointer(rdi, m.description);
                byte(0x8b);
                indexed(rax, rdi, rax, 0);
                store(rax, rbx, xreg(op.rd));
                return jump(over);
            }
            jump(tr.leave_[int(Translator::Leave::event)]);
        });
        pending.instructions = 1;
        pending.cycles = load_op ? op.cost : 1;
        pending.load_use = op.cost - 1u;
        Op *after = &op + op.length;
        if (op.flags & kCrosses) {
            flush();
            landing(*after);
        }
        go_on(after);
    }

    void finish()
    {
        for (size_t i = 0; i < later.size(); i++) { // each may add others
            auto f = std::move(later[i]);
            f();
        }
        tr.at_ = p;
    }
};

Translator::Translator(Machine &machine) : m(machine), hot_(machine.hot)
{
    if (!m.translate)
        return;
    void *memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return;
    code_ = at_ = static_cast<uint8_t *>(memory);
    fma_ = __builtin_cpu_supports("fma");
    state.occupied = m.wheel.occupied_slots();
    state.reservations = &m.reservations;
    Code none;
    Piece e(*this, none);
    enter_ = reinterpret_cast<int (*)(State *, const void *, Core *)>(e.p);
    static const Reg kept[] = {rbx, rbp, r12, r13, r14, r15};
    for (Reg r : kept) {
        e.rex(false, 0, 0, r);
        e.byte(0x50 | (r & 7));
    }
    e.immediate(5, rsp, 8, true);
    e.move(rbp, rdi, true);
    e.move(rbx, rdx, true);
    e.load(r12, rbp, MC_STATE(t), true);
    e.load(r13, rbp, MC_STATE(due), true);
    e.load(r14, rbp, MC_STATE(stamp), true);
    e.load(r15, rbp, MC_STATE(occupied), true);
    e.look_ahead();
    e.byte(0xff), e.byte(0xe6); // jmp rsi
    for (int i = 0; i < 5; i++) {
        leave_[i] = e.p;
        e.constant(rax, uint32_t(i));
        e.store(r12, rbp, MC_STATE(t), true);
        e.store(rbx, rbp, MC_STATE(core), true);
        e.store(r13, rbp, MC_STATE(due), true);
        e.immediate(0, rsp, 8, true);
        for (int k = 5; k >= 0; k--) {
            e.rex(false, 0, 0, kept[k]);
            e.byte(0x58 | (kept[k] & 7));
        }
        e.byte(0xc3);
    }
    leave_block_ = e.p; // rax: the block's op
    e.store(rax, rbp, MC_STATE(op), true);
    e.jump(leave_[int(Leave::threaded)]);
    leave_landing_ = e.p; // the same at a landing
    e.store(rax, rbp, MC_STATE(op), true);
    e.jump(leave_[int(Leave::landing)]);
    last_.native = e.p; // no core is left in the cluster: the next cluster
    e.load(rdx, rbp, MC_STATE(list), true);
    e.load(r13, rdx, int(sizeof(Due) + offsetof(Due, cores)), true);
    e.op_reg(0x85, r13, r13, true);
    e.bind(e.jump_if(equal), leave_[int(Leave::empty)]);
    e.load(rcx, rdx, int(sizeof(Due) + offsetof(Due, row)), true);
    e.immediate(0, rdx, int(sizeof(Due)), true);
    e.store(rdx, rbp, MC_STATE(list), true);
    e.store(rcx, rbp, MC_STATE(row), true);
    e.look_ahead();
    next_ = e.p;
    e.next_core();
    at_ = e.p;
    m.native_entry = leave_[int(Leave::entry)];
    m.no_event = leave_[int(Leave::event)];
    m.no_block = leave_block_;
    for (Code &c : m.codes)
        for (Op &op : c.ops)
            op.native = m.no_block;
    for (Core &c : m.cores)
        c.native = m.native_entry;
}

void Translator::block(Core &c, Op &op)
{
    if (!room()) {
        op.state = Op::State::refused;
        return;
    }
    Piece piece(*this, *c.code);
    if (piece.decoded(op).kind >= Kind::lb) {
        op.heat = 0; // an event, now that it is decoded
        return;
    }
    const uint8_t *start = at_;
    piece.known.push_back(op.line);
    piece.go_on(&op);
    piece.finish();
    op.native = start;
    op.state = Op::State::block;
}

void Translator::event(Core &c, Op &op)
{
    op.state = Op::State::refused; // asked for no more; no block
    if (!room() || (!is_load(op.kind) && !is_store(op.kind)))
        return;
    Piece piece(*this, *c.code);
    const uint8_t *start = at_;
    piece.access(op);
    piece.finish();
    op.native = start;
}

Translator::~Translator()
{
    if (code_)
        munmap(code_, kBytes);
}

#else // other hosts

Translator::Translator(Machine &machine) : m(machine), hot_(machine.hot) {}
Translator::~Translator() = default;
void Translator::block(Core &, Op &) {}
void Translator::event(Core &, Op &) {}

#endif

} // namespace mc
