#include "isa/host.h"
#ifdef MC_X86
#include "core/execute.h"
#include "kernel/piece.h"

namespace mc
{

namespace
{

// Register instructions that are called: their bodies are those of the other kernels.
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

} // namespace

// A register instruction that is no jump. False: it is none of those that are translated.
bool Piece::simple(Op &op)
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

void Piece::call(Op &op, Helper h, const Pending &n)
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
void Piece::multiply_divide(Op &op, Helper h)
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
// appears that is not set already, and the result is a number. Else the call does it, anew (core/float.h).
bool Piece::arithmetic(Op &op, Helper h)
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
void Piece::go_on(Op *op)
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
bool Piece::jump_op(Op &op)
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
void Piece::computed(Op &op)
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
    immediate(4, rdx, int32_t(m.icache.set_mask));
    if (m.icache.way_shift)
        shift(4, rdx, m.icache.way_shift);
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
void Piece::access(Op &op)
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
        if (m.config.noc_posted) {
            byte(0x83), address(7, rbx, kPosted), byte(0); // cmp dword [rbx + posted], 0
            slow(not_equal);
        }
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
    immediate(4, rsi, int32_t(m.memory.bank_mask));
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
            immediate(7, rax, int32_t(sizeof m.bus.description));
            bind(jump_if(not_below), tr.leave_[int(Translator::Leave::event)]);
            byte(0xa8), byte(3); // test al, 3
            bind(jump_if(not_equal), tr.leave_[int(Translator::Leave::event)]);
            pointer(rdi, m.bus.description);
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

} // namespace mc

#endif
