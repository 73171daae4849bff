#include "kernel/bus.h"
#include "base/text.h"
#include "core/stop.h"
#include <algorithm>
#include <bit>

namespace mc
{

Bus::Bus(const Config &f, Clock &cl, std::vector<Core> &cores, const Icache &i, const Codes &co, Memory &m, Traffic &t,
         std::deque<Hws> &h, std::deque<Dma> &d)
    : description{0x4d43504c, // "MCPL"
                  uint32_t(f.platform_clusters),
                  uint32_t(f.platform_cores),
                  uint32_t(f.tcdm_size),
                  uint32_t(f.l2_size),
                  uint32_t(f.memory_size),
                  uint32_t(f.tcdm_banks),
                  f.noc_crossbar ? 0 : f.mesh_width()},
      config(f), clock(cl), icache(i), codes(co), memory(m), traffic(t), hws(h), dma(d), lines(cores.size())
{
    for (Core &c : cores) {
        lines[c.id].home = this;
        lines[c.id].core = &c;
        lines[c.id].bytes = uint32_t(config.icache_line);
    }
}

void Bus::refill(Core &c, uint32_t line)
{
    Line &l = lines[c.id];
    l.address = line << icache.line_shift;
    c.wait = Wait::refill;
    c.wait_address = l.address;
    c.since = clock.now;
    c.n.misses++;
    traffic.send(l, c.cluster);
}

Bus::Outcome Bus::loaded(Core &c, const Op &op, uint32_t value)
{
    write_result(c, op, value);
    c.n.load_use += op.cost - 1u;
    return Outcome::done;
}

Bus::Outcome Bus::remote(Core &c, const Op &op, uint32_t address)
{
    Access &a = accesses.make();
    a.home = this;
    a.core = &c;
    a.op = &op;
    a.address = address;
    a.data = operand(c, op);
    a.bytes = access_size(op.kind);
    a.posted = is_store(op.kind) && config.noc_posted != 0;
    c.n.remote++;
    traffic.send(a, c.cluster);
    if (a.posted) {
        c.posted++;
        c.posted_to = a.packet.receiver;
        c.posted_node = a.packet.to;
        return Outcome::done;
    }
    c.wait = Wait::memory;
    c.wait_address = address;
    c.since = clock.now;
    return Outcome::blocked;
}

// Whether an access may begin while the core's posted stores are under way. Stores to their receiver stay behind them
// on the way; loads of the own TCDM may see the past. All others wait, so that nobody sees stores of a core out of
// their order.
bool Bus::passes_posted(const Core &c, Kind k, uint32_t a) const
{
    if (is_load(k))
        return a - c.tcdm_base < config.tcdm_size || a - map::kAlias < config.tcdm_size || a - map::kSystem < 0x1000;
    if (!is_store(k) || c.posted >= config.noc_posted || a < map::kCluster)
        return false;
    if (a < map::kL2)
        return c.posted_to == End::cluster && (a - map::kCluster) / map::kStride == c.posted_node &&
               c.posted_node != c.cluster;
    return c.posted_to == (a >= map::kMain ? End::memory : End::l2);
}

// Words that describe the platform, each a register of the core's own.
Bus::Outcome Bus::system(Core &c, const Op &op, uint32_t address)
{
    uint32_t i = (address - map::kSystem) / 4;
    if (op.kind != Kind::lw || i >= std::size(description))
        fault(c, text("%s 0x%08x: the platform's description is words that can only be read",
                      is_load(op.kind) ? "load of" : "store to", address));
    return loaded(c, op, description[i]);
}

Bus::Outcome Bus::local(Core &c, const Op &op, uint32_t address)
{
    uint32_t value;
    if (!memory.access(c, op.kind, address, operand(c, op), value)) {
        c.n.conflicts++;
        return Outcome::retry;
    }
    c.n.tcdm++;
    return loaded(c, op, value);
}

Bus::Outcome Bus::peripheral(Core &c, const Op &op, uint32_t offset)
{
    c.since = clock.now;
    bool is_hws = offset < map::kDma;
    Hws &h = hws[c.cluster];
    Dma &d = dma[c.cluster];
    if (op.kind == Kind::sw && is_hws) {
        h.store(c, offset - map::kHws, operand(c, op));
        return Outcome::done;
    }
    if (op.kind == Kind::sw)
        return d.store(c, offset - map::kDma, operand(c, op)) ? Outcome::done : Outcome::blocked;
    uint32_t value = 0;
    if (!is_hws)
        value = d.load(c, offset - map::kDma);
    else if (!h.load(c, offset - map::kHws, value))
        return Outcome::blocked;
    return loaded(c, op, value);
}

Bus::Outcome Bus::access(Core &c, const Op &op)
{
    Kind k = op.kind;
    if (k == Kind::mark) {
        mark(c, (op.cls & 3) == 3 ? 0 : op.cls & 4 ? op.rs1 : c.x[op.rs1]);
        c.x[op.rd] = 0;
        return Outcome::done;
    }
    if (c.posted && !passes_posted(c, k, c.x[op.rs1] + uint32_t(op.imm))) {
        c.wait = Wait::stores;
        c.since = clock.now;
        return Outcome::blocked;
    }
    if (k == Kind::drain)
        return Outcome::done;
    if (k == Kind::illegal)
        fault(c, "illegal instruction");
    if (k == Kind::ecall)
        fault(c, "ecall: nobody is there to handle it");
    if (k == Kind::ebreak) {
        if (!semihost || !semihost(c))
            fault(c, "ebreak");
        return Outcome::done;
    }
    if (k == Kind::wfi) {
        c.since = clock.now;
        return hws[c.cluster].sleepy(c) ? Outcome::blocked : Outcome::done;
    }
    uint32_t given = c.x[op.rs1] + (is_atomic(k) ? 0 : uint32_t(op.imm)), size = access_size(k);
    const char *what = is_store(k) ? "store" : "load";
    if (given & (size - 1))
        fault(c, text("misaligned %s of %u bytes at 0x%08x", what, size, given));
    uint32_t a = given - map::kAlias < map::kStride ? given - map::kAlias + c.tcdm_base : given,
             offset = a - c.tcdm_base;
    if (offset < config.tcdm_size || offset - map::kTestAndSet < config.tcdm_size)
        return local(c, op, a);
    if (offset - map::kHws < map::kPeripheralSize || offset - map::kDma < map::kPeripheralSize) {
        if (k != Kind::lw && k != Kind::sw)
            fault(c, text("0x%08x: peripherals know words only", given));
        return peripheral(c, op, offset);
    }
    if (a - map::kSystem < 0x1000)
        return system(c, op, a);
    if (!memory.at(a, size, c.cluster))
        fault(c, text("%s of %u bytes at 0x%08x, where there is no memory", what, size, given));
    if (!is_load(k) && k != Kind::lr && codes.overlaps(a, 1))
        fault(c, text("store to 0x%08x, which is code", given));
    return remote(c, op, a);
}

void Bus::posted_done(Core &c)
{
    // With the last answer, or with the first one if it waits to post another.
    if (c.posted-- != config.noc_posted && c.posted != 0)
        return;
    if (c.wait == Wait::stores) {
        c.n.remote_stall += clock.now - c.since + 1;
        clock.resume(c, clock.now + 1, false);
    }
}

void Bus::happen(Event &e)
{
    Request &r = static_cast<Request &>(e);
    if (r.what == Request::What::line) {
        Core &c = *static_cast<Line &>(r).core;
        icache.fill(c, r.address >> icache.line_shift);
        c.n.miss_stall += clock.now - c.since + 1;
        return clock.resume(c, clock.now + 1, false);
    }
    Access &a = static_cast<Access &>(r);
    Core &c = *a.core;
    accesses.recycle(a);
    if (a.posted)
        return posted_done(c);
    uint64_t took = clock.now - c.since;
    write_result(c, *a.op, a.data);
    c.n.remote_stall += took;
    histogram[std::min(15, int(std::bit_width(took + 1)))]++;
    clock.resume(c, clock.now + 1, true);
}

} // namespace mc
