// The lock-step kernel: cycle by cycle, core by core, one instruction at a time. This kernel is the oracle: everything
// is looked up anew for every instruction, and nothing is done before its cycle.
#include "core/execute.h"
#include "kernel/machine.h"
#include <algorithm>
#include <utility>

namespace mc
{
namespace
{

struct LockStep {
    Machine &m;
    Hooks *hooks;

    // Whether the line(s) of the core's instruction are there; else the missing one is asked for (not while draining).
    bool fetched(Core &c, bool draining)
    {
        uint32_t pc = m.pc(c), line = pc >> m.icache.line_shift;
        if (c.op->length == 0)
            m.codes.prepare(*c.code, *c.op);
        uint32_t last = (pc + c.op->length * 2u - 1) >> m.icache.line_shift;
        for (uint32_t l = line; l <= last; l++)
            if (!m.icache.cached(c, l)) {
                if (!draining)
                    m.bus.refill(c, l);
                return false;
            }
        return true;
    }

    // The instruction is over: the next one at op + `step` halfwords in cycle c.at. `checkpoint`: it ended a line or
    // jumped.
    void ended(Core &c, int step, bool checkpoint)
    {
        const Op &op = *c.op;
        c.n.instructions++;
        c.op += step;
        checkpoint = checkpoint || (op.flags & kCrosses);
        c.event = checkpoint && c.at >= c.bound;
        if (hooks)
            hooks->after(c, op, c.at);
    }

    void jump(Core &c, uint64_t t)
    {
        const Op &op = *c.op;
        uint32_t here = m.pc(c), target;
        if (op.kind == Kind::jal || op.kind == Kind::jalr) {
            target = op.kind == Kind::jal ? here + uint32_t(op.imm) * 2 : (c.x[op.rs1] + uint32_t(op.imm)) & ~1u;
            c.x[op.rd] = here + op.length * 2u;
            c.at = t + op.cost + m.config.core_jump;
            c.n.jumps++;
        } else if (branch_taken(op.kind, c.x[op.rs1], c.x[op.rs2])) {
            target = here + uint32_t(op.imm) * 2;
            c.at = t + op.cost + m.config.core_branch;
            c.n.taken++;
        } else {
            c.at = t + op.cost;
            return ended(c, op.length, false);
        }
        Code *code = c.code->holds(target) ? c.code : m.codes.of(target);
        if (!code) {
            c.wait_address = target;
            c.pending = Core::Pending::fetch;
            return ended(c, 0, true);
        }
        c.code = code;
        ended(c, int(&code->ops[(target - code->low) / 2] - c.op), true);
    }

    // A register instruction or jump in cycle t. False: an event, nothing was done.
    bool execute(Core &c, uint64_t t)
    {
        const Op &op = *c.op;
        if (is_jump(op.kind)) {
            jump(c, t);
            return true;
        }
        if (!execute_register(&c, &op, t, c.n.instructions))
            return false;
        if (op.kind == Kind::fence_i)
            m.icache.empty(c);
        c.at = t + op.cost;
        if ((op.flags & kWritesSp) && c.x[2] < c.stack_limit)
            c.pending = Core::Pending::stack;
        ended(c, op.length, op.kind == Kind::fence_i);
        return true;
    }

    // The run-ahead kernel has already executed the other cores' register instructions up to their next events. They
    // are counted here as well, so that both kernels count the same; then these cores are as before.
    Bus::Outcome mark(Core &c, const Op &op)
    {
        const std::vector<Core> cores = m.cores;
        uint32_t *tags = m.cores[0].tags;
        const std::vector<uint32_t> lines(tags,
                                          tags + (size_t(m.icache.set_mask + 1) << m.icache.way_shift) * cores.size());
        Hooks *watching = std::exchange(hooks, nullptr);
        drain();
        Bus::Outcome outcome = m.bus.access(c, op);
        hooks = watching;
        for (const Core &other : cores)
            if (other.id != c.id)
                m.cores[other.id] = other;
        std::copy(lines.begin(), lines.end(), tags);
        return outcome;
    }

    void cycle(Core &c)
    {
        if (c.event) {
            c.event = false;
            c.bound = Clock::bound_after(m.clock.now);
        }
        if (c.resumed) {
            c.resumed = false;
            c.at = m.clock.now;
            ended(c, c.op->length, false);
            c.event = false;
            c.bound = Clock::bound_after(m.clock.now);
        }
        if (c.pending != Core::Pending::none)
            raise_pending(c);
        if (!fetched(c, false))
            return;
        const Op &op = *c.op;
        if (hooks)
            hooks->before(c, m.clock.now);
        if (!is_shared(op.kind)) {
            if (!execute(c, m.clock.now))
                fault(c, "illegal instruction (no such rounding mode)");
            return;
        }
        c.bound = Clock::bound_after(m.clock.now);
        switch (op.kind == Kind::mark ? mark(c, op) : m.bus.access(c, op)) {
        case Bus::Outcome::done:
            c.at = m.clock.now + op.cost;
            ended(c, op.length, false);
            break;
        case Bus::Outcome::retry:
            c.at = m.clock.now + 1;
            break;
        case Bus::Outcome::blocked:
            break;
        }
    }

    // What the run-ahead kernel would have done already: register instructions up to the next event.
    void drain()
    {
        for (Core &c : m.cores)
            while (c.wait == Wait::none && !c.event && !c.resumed && c.pending == Core::Pending::none &&
                   fetched(c, true) && !is_shared(c.op->kind) && execute(c, c.at)) {
            }
    }

    void run()
    {
        unsigned clusters = unsigned(m.config.platform_clusters), per = unsigned(m.config.platform_cores);
        for (;; m.clock.now++) {
            m.clock.check_limit();
            const Turn turn(m.clock.now);
            if (turn.events_first())
                m.clock.events();
            bool awake = false;
            for (unsigned k = 0; k < clusters; k++) {
                Core *first = &m.cores[size_t((turn.first_cluster(clusters) + k) % clusters) * per];
                for (unsigned i = 0; i < per; i++) {
                    Core &c = first[(turn.first_core(per) + i) % per];
                    if (c.wait != Wait::none)
                        continue;
                    awake = true;
                    if (c.at == m.clock.now)
                        cycle(c);
                }
            }
            if (!turn.events_first())
                m.clock.events();
            if (!awake && !m.clock.wheel.pending() &&
                std::all_of(m.cores.begin(), m.cores.end(), [](const Core &c) { return c.wait != Wait::none; }))
                m.clock.deadlock(); // (an event of this cycle may have woken one)
        }
    }
};

} // namespace

void run_lock_step(Machine &m, Hooks *hooks)
{
    m.clock.lock_step = true;
    try {
        LockStep{m, hooks}.run();
    } catch (Exit &) {
        LockStep{m, hooks}.drain();
        throw;
    } catch (Fault &) {
        LockStep{m, hooks}.drain();
        throw;
    } catch (Paused &) {
    }
}

void catch_up(Machine &m) { LockStep{m, nullptr}.drain(); }

} // namespace mc
