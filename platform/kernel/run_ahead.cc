// The run-ahead kernel: a core executes its register instructions in one go, up to its next shared event; that event
// stands in the wheel and happens in its cycle. Nothing else of the machine can see the difference: register
// instructions read and write what is the core's own.
//
// Two engines do it. What has run a few times is translated into the host's code (translate.h). The rest, and all that
// is rare, is threaded code: each Op holds the label of its code (`go`), so one indirect jump leads from an instruction
// to the next. Every label exists twice, for instructions at the end of a cache line (the next line is looked up) and
// for others. A core in the wheel has in `entry` where its event begins, and in `native` the same for translated code.
//
// A core that runs without events for long stops at the first checkpoint (end of a line, jump) past a multiple of 512
// cycles. So the wheel's 1024 slots are never too few: from there on at most a line's instructions follow, and 8 times
// 60 cycles are less than 512.
//
// Considered and rejected, from counts of events:
// - An access executed ahead of its cycle where no other core can take its bank. With the other cores' next events as
//   the bound this holds only while few cores are awake; with 16 awake some other core is due in almost every cycle.
// - Accesses ahead on trust, with an undo log for the cycles in which two cores met. In matmul of
//   bench/manycore/speed.py a cluster's cores meet at a bank every sixth cycle.
// - Threaded code without the translation: about 60 host instructions for a simulated one, of which the access itself
//   needs few. Labels for pairs of instructions would have saved a part of the jumps only.
#include "core/execute.h"
#include "kernel/cycles.h"
#include "kernel/machine.h"
#include "kernel/translate.h"

#pragma GCC diagnostic ignored "-Wpedantic"

namespace mc
{
namespace
{

#define MC_GO goto *(reinterpret_cast<const char *>(&&L_decode) + op->go)
#define MC_OVER (done++, t += op->cost)

void simulate(Machine &m)
{
    static const void *const plain[] = {
#define X(name) &&L_##name,
        MC_REGISTER_KINDS(X) MC_JUMP_KINDS(X)
#undef X
    };
    static const void *const crossing[] = {
#define X(name) &&C_##name,
        MC_REGISTER_KINDS(X) MC_JUMP_KINDS(X)
#undef X
    };
    static const void *const event[] = {&&E_lb,  &&E_lh, &&E_lw, &&E_lbu, &&E_lhu, &&E_flw, &&E_sb, &&E_sh, &&E_sw,
                                        &&E_fsw,
#define Y &&E_other
                                        Y,       Y,      Y,      Y,       Y,       Y,       Y,      Y,      Y,
                                        Y,       Y,      Y,      Y,       Y,       Y,       Y,      Y
#undef Y
    };
    static_assert(std::size(event) == size_t(Kind::count) - size_t(Kind::lb));

    const uint32_t set_mask = m.icache.set_mask, way_shift = m.icache.way_shift,
                   tcdm_size = uint32_t(m.config.tcdm_size);
    const unsigned branch_penalty = unsigned(m.config.core_branch), jump_penalty = unsigned(m.config.core_jump);
    const uint32_t bank_mask = m.memory.bank_mask;
    Translator native(m);
    Cycles cycles(m, native);
    m.clock.next_entry = &&E_next;
    m.clock.again_entry = &&E_fetch;
    Wheel &wheel = m.clock.wheel;
    wheel.clear_cores();
    for (Core &c : m.cores) {
        c.entry = c.resumed ? &&E_next : &&E_fetch;
        if (c.wait == Wait::none)
            wheel.add_core(c.cluster * 16u + c.local, c.at);
    }
    const bool translates = native.works();
    Translator::State &outside = native.state;
    const void *piece = nullptr;
    Translator::Leave left{};
    uint64_t now = m.clock.now, t = 0, done = 0, bound = 0;
    uint64_t part = 0; // the cores of the cluster under way that are still due
    Core *c = nullptr;
    Op *op = nullptr;
    uint32_t *x = nullptr, *f = nullptr;
    const void *entry = nullptr;

next_cycle:
    if (translates) {
        left = cycles.translated();
        now = outside.now;
        bound = outside.bound;
        goto left_native;
    }
    while (!cycles.begin())
        cycles.end();
    now = outside.now;
    bound = outside.bound;
    part = outside.due;
    goto next_core;
end_of_cycle:
    cycles.end();
    goto next_cycle;

next_core:
    if (translates) {
        piece = native.next();
        goto run_native;
    }
    if (part == uint64_t(1) << 32) {
        outside.list++;
        part = outside.list->cores;
        if (!part)
            goto end_of_cycle;
    }
    {
        unsigned i = unsigned(std::countr_zero(part));
        part &= part - 1;
        c = outside.list->row[i];
        x = c->x;
        f = c->f;
        op = c->op;
        t = now;
        done = c->n.instructions;
        goto * c->entry;
    }

// Translated code from `piece` on: of core c from cycle t on, or of the core that is due next.
run_native:
    outside.due = part;
    outside.t = t;
    left = native.run(piece, c);
    if (left == Translator::Leave::empty)
        goto end_of_cycle;
left_native:
    part = outside.due;
    c = outside.core;
    x = c->x;
    f = c->f;
    t = outside.t;
    done = c->n.instructions;
    if (left == Translator::Leave::event) {
        op = c->op;
        native.want_event(*c, *op);
        goto *event[int(op->kind) - int(Kind::lb)];
    }
    if (left == Translator::Leave::entry) {
        op = c->op;
        goto * c->entry;
    }
    op = outside.op;
    if (left == Translator::Leave::landing)
        goto landing;
    MC_GO;

// The core's next event is in cycle t: the access `op`, which begins at `entry`; or anything else.
suspend_access:
    c->native = op->native;
    goto suspend_native;
suspend:
    c->native = m.clock.native_entry;
suspend_native:
    c->op = op;
    c->n.instructions = done;
    c->at = t;
    c->entry = entry;
    wheel.add_core(c->cluster * 16u + c->local, t);
    goto next_core;

    // --- where instructions come from

L_decode : {
    m.codes.prepare(*c->code, *op);
    const void *to;
    if (op->flags & kStraddles)
        to = &&L_straddle;
    else if (is_shared(op->kind))
        to = &&L_shared;
    else if (op->flags & kFar)
        to = &&L_far;
    else if (op->flags & kWritesSp)
        to = &&L_sp;
    else
        to = (op->flags & kCrosses ? crossing : plain)[int(op->kind)];
    op->go = int32_t(static_cast<const char *>(to) - reinterpret_cast<const char *>(&&L_decode));
    MC_GO;
}

L_straddle : { // the second half's line
    uint32_t line = op->line + 1;
    if (MC_UNLIKELY(c->tags[(line & set_mask) << way_shift] != line) && !m.icache.cached(*c, line)) {
        entry = &&E_fetch;
        if (t == now)
            goto E_fetch;
        goto suspend;
    }
    if (is_shared(op->kind))
        goto L_shared;
    if (op->flags & kFar)
        goto L_far;
    if (op->flags & kWritesSp)
        goto L_sp;
    goto *(op->flags & kCrosses ? crossing : plain)[int(op->kind)];
}

// `op` is the first instruction of a line, or the target of a jump.
landing : {
    if (MC_UNLIKELY(t >= bound)) {
        entry = &&E_fetch;
        goto suspend;
    }
    uint32_t line = op->line;
    if (MC_UNLIKELY(c->tags[(line & set_mask) << way_shift] != line) && !m.icache.cached(*c, line)) {
        entry = &&E_fetch;
        if (t == now)
            goto E_fetch;
        goto suspend;
    }
}
go: // its line is there
    if (translates) {
        if (op->state == Op::State::cold && !is_shared(op->kind))
            native.want_block(*c, *op);
        if (op->state == Op::State::block) {
            c->n.instructions = done;
            piece = op->native;
            goto run_native;
        }
    }
    MC_GO;

// An event: the core (re)starts at `op`, whose line may not be there.
E_fetch : {
    if (MC_UNLIKELY(c->pending != Core::Pending::none))
        raise_pending(*c);
    if (op->length == 0)
        m.codes.prepare(*c->code, *op), op->go = 0;
    uint32_t line = op->line;
    if (!m.icache.cached(*c, line)) {
        c->op = op;
        c->n.instructions = done;
        m.bus.refill(*c, line);
        goto next_core;
    }
    if ((op->flags & kStraddles) && !m.icache.cached(*c, line + 1)) {
        c->op = op;
        c->n.instructions = done;
        m.bus.refill(*c, line + 1);
        goto next_core;
    }
    goto go;
}

// An event: the access of `op` is complete.
E_next : {
    done++;
    bool crosses = op->flags & kCrosses;
    op += op->length;
    if (crosses)
        goto landing;
    goto go;
}

// --- register instructions

#define X(kind, ...)           \
    L_##kind: { __VA_ARGS__; } \
    MC_OVER;                   \
    op += op->length;          \
    MC_GO;                     \
    C_##kind: { __VA_ARGS__; } \
    MC_OVER;                   \
    op += op->length;          \
    goto landing;
    MC_BODIES(X)
#undef X

#define X(kind, ...)                     \
    L_##kind:                            \
    {                                    \
        unsigned rm = rounding(*c, *op); \
        if (MC_UNLIKELY(rm > 4))         \
            goto no_rounding;            \
        __VA_ARGS__;                     \
        c->n.float_ops += op->cost - 1u; \
    }                                    \
    MC_OVER;                             \
    op += op->length;                    \
    MC_GO;                               \
    C_##kind:                            \
    {                                    \
        unsigned rm = rounding(*c, *op); \
        if (MC_UNLIKELY(rm > 4))         \
            goto no_rounding;            \
        __VA_ARGS__;                     \
        c->n.float_ops += op->cost - 1u; \
    }                                    \
    MC_OVER;                             \
    op += op->length;                    \
    goto landing;
    MC_ROUNDED_BODIES(X)
#undef X

L_fence_i:
C_fence_i:
    m.icache.empty(*c);
    MC_OVER;
    op += op->length;
    goto landing;

no_rounding:
    entry = &&E_no_rounding;
    if (t == now)
        goto E_no_rounding;
    goto suspend;
E_no_rounding:
    c->op = op;
    c->n.instructions = done;
    fault(*c, "illegal instruction (no such rounding mode)");

L_sp : {
    bool legal = execute_register(c, op, t, done), crosses = op->flags & kCrosses;
    if (!legal)
        goto no_rounding;
    MC_OVER;
    if (MC_UNLIKELY(x[2] < c->stack_limit)) {
        op += op->length;
        c->pending = Core::Pending::stack;
        entry = &&E_fetch;
        goto suspend;
    }
    op += op->length;
    if (crosses)
        goto landing;
    MC_GO;
}

// --- jumps

#define MC_BRANCH(kind, condition)        \
    L_##kind : if (condition) goto taken; \
    MC_OVER;                              \
    op += op->length;                     \
    MC_GO;                                \
    C_##kind : if (condition) goto taken; \
    MC_OVER;                              \
    op += op->length;                     \
    goto landing;
    MC_BRANCH(beq, MC_A == MC_B)
    MC_BRANCH(bne, MC_A != MC_B)
    MC_BRANCH(blt, int32_t(MC_A) < int32_t(MC_B))
    MC_BRANCH(bge, int32_t(MC_A) >= int32_t(MC_B))
    MC_BRANCH(bltu, MC_A < MC_B)
    MC_BRANCH(bgeu, MC_A >= MC_B)

taken:
    c->n.taken++;
    done++;
    t += op->cost + branch_penalty;
    op += op->imm;
    goto landing;

L_jal:
C_jal:
    x[op->rd] = c->code->low + uint32_t(op - c->code->ops.data() + op->length) * 2;
    c->n.jumps++;
    done++;
    t += op->cost + jump_penalty;
    op += op->imm;
    goto landing;

L_jalr:
C_jalr : {
    uint32_t target = (MC_A + MC_I) & ~1u;
    x[op->rd] = c->code->low + uint32_t(op - c->code->ops.data() + op->length) * 2;
    c->n.jumps++;
    done++;
    t += op->cost + jump_penalty;
    if (MC_UNLIKELY(!c->code->holds(target))) {
        Code *code = m.codes.of(target);
        if (!code) {
            c->wait_address = target;
            c->pending = Core::Pending::fetch;
            entry = &&E_fetch;
            goto suspend;
        }
        c->code = code;
    }
    op = &c->code->ops[(target - c->code->low) / 2];
    goto landing;
}

L_far : { // a branch whose target is no code of this memory
    uint32_t target = c->code->low + uint32_t(op - c->code->ops.data()) * 2 + uint32_t(op->imm) * 2;
    if (op->kind == Kind::jal) {
        x[op->rd] = c->code->low + uint32_t(op - c->code->ops.data() + op->length) * 2;
        c->n.jumps++;
        t += op->cost + jump_penalty;
        done++;
    } else if (branch_taken(op->kind, MC_A, MC_B)) {
        c->n.taken++;
        t += op->cost + branch_penalty;
        done++;
    } else {
        bool crosses = op->flags & kCrosses;
        MC_OVER;
        op += op->length;
        if (crosses)
            goto landing;
        MC_GO;
    }
    Code *code = m.codes.of(target);
    if (!code) {
        c->wait_address = target;
        c->pending = Core::Pending::fetch;
        entry = &&E_fetch;
        goto suspend;
    }
    c->code = code;
    op = &code->ops[(target - code->low) / 2];
    goto landing;
}

    // --- shared instructions

L_shared:
    entry = event[int(op->kind) - int(Kind::lb)];
    if (MC_UNLIKELY(t == now))
        goto *entry;
    goto suspend_access;

conflict:
    c->op = op;
    c->n.instructions = done;
    c->entry = event[int(op->kind) - int(Kind::lb)];
    c->native = op->native;
    c->n.conflicts++;
    c->at = now + 1;
    wheel.add_core(c->cluster * 16u + c->local, now + 1);
    goto next_core;

// An access to the own TCDM; what is anything else goes the long way. The same as Bus::access() does for it.
#define MC_LOCAL(size, is_load)                                                                                       \
    uint32_t address = MC_A + MC_I, offset = address - c->tcdm_base;                                                  \
    if (offset >= tcdm_size)                                                                                          \
        offset = address - map::kAlias;                                                                               \
    if (MC_UNLIKELY(offset >= tcdm_size || (offset & (size - 1))))                                                    \
        goto E_other;                                                                                                 \
    uint64_t &stamp = c->banks[(offset >> 2) & bank_mask], mine = now << 20 | uint64_t(offset >> 2) << 1 | (is_load); \
    if (MC_UNLIKELY(stamp >= now << 20)) {                                                                            \
        if (!(is_load) || stamp != mine)                                                                              \
            goto conflict;                                                                                            \
    } else {                                                                                                          \
        stamp = mine;                                                                                                 \
    }                                                                                                                 \
    uint8_t *p = c->tcdm + offset;                                                                                    \
    c->n.tcdm++;

#define MC_AFTER                    \
    done++;                         \
    t = now + op->cost;             \
    c->n.load_use += op->cost - 1u; \
    goto after_access;

#define MC_LOAD(kind, type, file, cast) \
    E_##kind:                           \
    {                                   \
        MC_LOCAL(sizeof(type), 1)       \
        type v;                         \
        std::memcpy(&v, p, sizeof v);   \
        file[op->rd] = cast(v);         \
        MC_AFTER                        \
    }
    MC_LOAD(lb, int8_t, x, uint32_t)
    MC_LOAD(lh, int16_t, x, uint32_t)
    MC_LOAD(lw, uint32_t, x, uint32_t)
    MC_LOAD(lbu, uint8_t, x, uint32_t)
    MC_LOAD(lhu, uint16_t, x, uint32_t)
    MC_LOAD(flw, uint32_t, f, uint32_t)

#define MC_STORE(kind, type, value)                       \
    E_##kind:                                             \
    {                                                     \
        if (MC_UNLIKELY(c->posted))                       \
            goto E_other;                                 \
        MC_LOCAL(sizeof(type), 0)                         \
        type v = type(value);                             \
        std::memcpy(p, &v, sizeof v);                     \
        m.memory.stored(c->tcdm_base + offset, sizeof v); \
        done++;                                           \
        t = now + 1;                                      \
        goto after_access;                                \
    }
    MC_STORE(sb, uint8_t, MC_B)
    MC_STORE(sh, uint16_t, MC_B)
    MC_STORE(sw, uint32_t, MC_B)
    MC_STORE(fsw, uint32_t, MC_FB)

after_access:
    if (op->flags & kCrosses) {
        op += op->length;
        goto landing;
    }
    op += op->length;
    goto go;

E_other:
    c->op = op;
    c->n.instructions = done;
    c->at = now;
    c->entry = &&E_other;
    switch (m.bus.access(*c, *op)) {
    case Bus::Outcome::done:
        done++;
        t = now + op->cost;
        goto after_access;
    case Bus::Outcome::retry:
        c->at = now + 1;
        c->native = m.clock.native_entry;
        wheel.add_core(c->cluster * 16u + c->local, now + 1);
        goto next_core;
    case Bus::Outcome::blocked:
        goto next_core;
    }
    __builtin_unreachable();
}

} // namespace

void run_ahead(Machine &m)
{
    catch_up(m);
    m.clock.lock_step = false;
    try {
        simulate(m);
    } catch (Paused &) {
        for (Core &c : m.cores) { // the lock-step kernel may go on; each core stands before an event
            c.event = c.wait == Wait::none;
            // (`entry` counts where `native` says so: translated code does not set it)
            c.resumed = c.event && c.native == m.clock.native_entry && c.entry == m.clock.next_entry;
        }
    }
}

} // namespace mc
