#include "kernel/translate.h"
#include "kernel/machine.h"
#include "kernel/piece.h"
#include <sys/mman.h>

namespace mc
{

#ifdef MC_X86

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
    state.occupied = m.clock.wheel.occupied_slots();
    state.reservations = &m.memory.reservations;
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
    m.clock.native_entry = leave_[int(Leave::entry)];
    m.codes.no_event = leave_[int(Leave::event)];
    m.codes.no_block = leave_block_;
    for (Code &c : m.codes.all)
        for (Op &op : c.ops) { // the kernel may have run before: with a translator of its own, or without
            op.native = op.length && is_shared(op.kind) ? m.codes.no_event : m.codes.no_block;
            op.state = Op::State::cold;
            op.heat = 0;
        }
    for (Core &c : m.cores)
        c.native = m.clock.native_entry;
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
