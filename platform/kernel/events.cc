// What happens in a cycle: the accesses of cores, and the messages under way.
#include "base/text.h"
#include "core/execute.h"
#include "kernel/machine.h"
#include <algorithm>

namespace mc
{

uint8_t *Machine::at(uint32_t a, uint32_t n, unsigned cluster)
{
    auto in = [&](uint32_t low, uint64_t size) { return a - low < size && n <= size - (a - low); };
    if (in(map::kL2, config.l2_size))
        return l2.get() + (a - map::kL2);
    if (in(map::kMain, config.memory_size))
        return main.get() + (a - map::kMain);
    uint32_t offset;
    if (a - map::kAlias < map::kStride) {
        offset = a - map::kAlias;
    } else if (a - map::kCluster < config.platform_clusters * map::kStride) {
        cluster = (a - map::kCluster) / map::kStride;
        offset = (a - map::kCluster) % map::kStride;
    } else {
        return nullptr;
    }
    if (offset >= map::kTestAndSet && offset < map::kHws)
        offset -= map::kTestAndSet;
    return offset < config.tcdm_size && n <= config.tcdm_size - offset ? tcdm[cluster].get() + offset : nullptr;
}

Message *Machine::make()
{
    if (free_messages.empty()) {
        all_messages.push_back(new Message);
        return all_messages.back();
    }
    Message *m = free_messages.back();
    free_messages.pop_back();
    return m;
}

void Machine::recycle(Message *m) { free_messages.push_back(m); }

void Machine::noc_request(Message &m, uint32_t address, unsigned flits)
{
    Packet &p = m.packet;
    p.from = m.cluster;
    p.sender = End::cluster;
    p.answer = false;
    p.flits = uint8_t(flits);
    if (address >= map::kMain) {
        p.receiver = End::memory;
        p.to = uint16_t(config.memory_node);
    } else if (address >= map::kL2) {
        p.receiver = End::l2;
        p.to = uint16_t(config.l2_node);
    } else {
        p.receiver = End::cluster;
        p.to = uint16_t((address - map::kCluster) / map::kStride);
    }
}

void Machine::resume(Core &c, uint64_t when, bool complete)
{
    c.wait = Wait::none;
    c.at = when;
    c.resumed = complete;
    c.event = !complete;
    c.entry = complete ? next_entry : again_entry;
    c.native = native_entry;
    if (!lock_step)
        wheel.add_core(c.cluster * 16u + c.local, when);
}

void Machine::refill(Core &c, uint32_t line)
{
    Message *m = make();
    m->what = Message::What::refill;
    m->step = Message::Step::route;
    m->core = c.id;
    m->cluster = c.cluster;
    m->address = line << line_shift;
    m->bytes = uint32_t(config.icache_line);
    noc_request(*m, m->address, 1);
    c.wait = Wait::refill;
    c.wait_address = m->address;
    c.since = now;
    c.n.misses++;
    schedule(m, noc.inject(m->packet, now));
}

uint32_t Machine::operand(const Core &c, const Op &op) const
{
    if (op.kind == Kind::fsw)
        return c.f[op.rs2];
    return c.x[op.rs2];
}

void Machine::write_result(Core &c, const Op &op, uint32_t value)
{
    switch (op.kind) {
    case Kind::lb:
        c.x[op.rd] = uint32_t(int8_t(value));
        break;
    case Kind::lh:
        c.x[op.rd] = uint32_t(int16_t(value));
        break;
    case Kind::lbu:
        c.x[op.rd] = uint8_t(value);
        break;
    case Kind::lhu:
        c.x[op.rd] = uint16_t(value);
        break;
    case Kind::flw:
        c.f[op.rd] = value;
        break;
    case Kind::sb:
    case Kind::sh:
    case Kind::sw:
    case Kind::fsw:
        break;
    default:
        c.x[op.rd] = value;
    }
}

void Machine::stored(uint32_t address, uint32_t bytes)
{
    for (Core &c : cores)
        if (!(c.reservation & 1) && c.reservation < address + bytes && address < c.reservation + 4) {
            c.reservation = 1;
            reservations--;
        }
}

// The operation itself at the bytes `p` of address `a`; what a load or an atomic returns.
uint32_t Machine::perform(Core &c, Kind k, uint8_t *p, uint32_t a, uint32_t data)
{
    uint32_t old = 0, size = access_size(k);
    if (k == Kind::sc) {
        bool mine = c.reservation == a;
        if (!(c.reservation & 1)) {
            c.reservation = 1;
            reservations--;
        }
        if (!mine)
            return 1;
        std::memcpy(p, &data, 4);
        if (reservations)
            stored(a, 4);
        return 0;
    }
    if (!is_store(k))
        std::memcpy(&old, p, size);
    if (is_load(k))
        return old;
    if (k == Kind::lr) {
        reservations += c.reservation & 1;
        c.reservation = a;
        return old;
    }
    uint32_t v = data;
    switch (k) {
    case Kind::amoadd:
        v = old + data;
        break;
    case Kind::amoxor:
        v = old ^ data;
        break;
    case Kind::amoand:
        v = old & data;
        break;
    case Kind::amoor:
        v = old | data;
        break;
    case Kind::amomin:
        v = int32_t(old) < int32_t(data) ? old : data;
        break;
    case Kind::amomax:
        v = int32_t(old) > int32_t(data) ? old : data;
        break;
    case Kind::amominu:
        v = std::min(old, data);
        break;
    case Kind::amomaxu:
        v = std::max(old, data);
        break;
    default:
        break;
    }
    std::memcpy(p, &v, size);
    if (reservations)
        stored(a, size);
    return old;
}

Machine::Outcome Machine::remote(Core &c, const Op &op, uint32_t address)
{
    Message *m = make();
    m->what = Message::What::access;
    m->step = Message::Step::route;
    m->core = c.id;
    m->cluster = c.cluster;
    m->op = &op;
    m->address = address;
    m->data = operand(c, op);
    m->bytes = access_size(op.kind);
    noc_request(*m, address, 1);
    m->posted = is_store(op.kind) && config.noc_posted != 0;
    c.n.remote++;
    schedule(m, noc.inject(m->packet, now));
    if (m->posted) {
        c.posted++;
        c.posted_to = m->packet.receiver;
        c.posted_node = m->packet.to;
        return Outcome::done;
    }
    c.wait = Wait::memory;
    c.wait_address = address;
    c.since = now;
    return Outcome::blocked;
}

// Whether an access may begin while the core's posted stores are under way. Stores to their receiver stay behind them
// on the way; loads of the own TCDM may see the past. All others wait, so that nobody sees stores of a core out of
// their order.
bool Machine::passes_posted(const Core &c, Kind k, uint32_t a) const
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
Machine::Outcome Machine::system(Core &c, const Op &op, uint32_t address)
{
    uint32_t i = (address - map::kSystem) / 4;
    if (op.kind != Kind::lw || i >= std::size(description))
        fault(c, text("%s 0x%08x: the platform's description is words that can only be read",
                      is_load(op.kind) ? "load of" : "store to", address));
    write_result(c, op, description[i]);
    c.n.load_use += op.cost - 1u;
    return Outcome::done;
}

Machine::Outcome Machine::access(Core &c, const Op &op)
{
    Kind k = op.kind;
    if (c.posted && !passes_posted(c, k, c.x[op.rs1] + uint32_t(op.imm))) {
        c.wait = Wait::stores;
        c.since = now;
        return Outcome::blocked;
    }
    if (k == Kind::drain)
        return Outcome::done;
    if (k == Kind::illegal)
        fault(c, "illegal instruction");
    if (k == Kind::ecall)
        fault(c, "ecall: nobody is there to handle it");
    if (k == Kind::ebreak) {
        if (!semihost || !semihost(*this, c, semihost_context))
            fault(c, "ebreak");
        return Outcome::done;
    }
    if (k == Kind::wfi) {
        c.since = now;
        return hws[c.cluster].sleepy(*this, c) ? Outcome::blocked : Outcome::done;
    }
    uint32_t a = c.x[op.rs1] + (is_atomic(k) ? 0 : uint32_t(op.imm)), size = access_size(k);
    bool store = is_store(k), load = is_load(k) || k == Kind::lr;
    if (a & (size - 1))
        fault(c, text("misaligned %s of %u bytes at 0x%08x", store ? "store" : "load", size, a));
    uint32_t given = a;
    if (a - map::kAlias < map::kStride)
        a = a - map::kAlias + c.tcdm_base;
    uint32_t offset = a - c.tcdm_base;
    bool test_and_set = offset - map::kTestAndSet < config.tcdm_size;
    if (offset < config.tcdm_size || test_and_set) {
        if (test_and_set) {
            offset -= map::kTestAndSet;
            a -= map::kTestAndSet;
            test_and_set = is_load(k);
            load = load && !test_and_set;
        }
        if (!bank(c.banks, offset / 4, load)) {
            c.n.conflicts++;
            return Outcome::retry;
        }
        if (!store && !load) // read, then written: the bank is taken for longer
            c.banks[(offset / 4) & bank_mask] += (config.tcdm_atomic - 1) << 20;
        uint8_t *p = c.tcdm + offset;
        uint32_t value = perform(c, k, p, a, operand(c, op));
        if (test_and_set) {
            uint32_t one = 1;
            std::memcpy(p, &one, size);
            if (reservations)
                stored(a, size);
        }
        write_result(c, op, value);
        c.n.tcdm++;
        c.n.load_use += op.cost - 1u;
        return Outcome::done;
    }
    if (offset < map::kStride) {
        bool is_hws = offset - map::kHws < map::kPeripheralSize, is_dma = offset - map::kDma < map::kPeripheralSize;
        if ((is_hws || is_dma) && k != Kind::lw && k != Kind::sw)
            fault(c, text("0x%08x: peripherals know words only", given));
        if (is_hws) {
            c.since = now;
            if (store) {
                hws[c.cluster].store(*this, c, offset - map::kHws, operand(c, op));
                return Outcome::done;
            }
            uint32_t value = 0;
            if (!hws[c.cluster].load(*this, c, offset - map::kHws, value))
                return Outcome::blocked;
            write_result(c, op, value);
            c.n.load_use += op.cost - 1u;
            return Outcome::done;
        }
        if (is_dma) {
            c.since = now;
            if (store)
                return dma[c.cluster].store(*this, c, offset - map::kDma, operand(c, op)) ? Outcome::done
                                                                                          : Outcome::blocked;
            write_result(c, op, dma[c.cluster].load(*this, c, offset - map::kDma));
            c.n.load_use += op.cost - 1u;
            return Outcome::done;
        }
    }
    if (a - map::kSystem < 0x1000)
        return system(c, op, a);
    if (!at(a, size, c.cluster))
        fault(c, text("%s of %u bytes at 0x%08x, where there is no memory", store ? "store" : "load", size, given));
    if (!load)
        for (const Range &r : executable)
            if (r.holds(a, 1))
                fault(c, text("store to 0x%08x, which is code", given));
    return remote(c, op, a);
}

void Machine::messages()
{
    for (Message *m = wheel.take(now), *next; m; m = next) {
        next = m->next;
        wheel.taken();
        if (m->when != now)
            wheel.add(m, m->when); // a later round
        else
            step(m);
    }
}

void Machine::step(Message *m)
{
    using W = Message::What;
    using S = Message::Step;
    switch (m->what) {
    case W::signal:
        hws[m->cluster].signal(*this, m->cluster, m->slot, m->mask);
        return recycle(m);
    case W::word:
        hws[m->cluster].word(*this, m->cluster, *m);
        return recycle(m);
    case W::arrival:
        hws[m->cluster].arrival(*this, m->cluster, m->slot, -1, m->core);
        return recycle(m);
    case W::release:
        hws[m->cluster].release(*this, m->cluster, m->slot);
        return recycle(m);
    case W::transfer:
        dma[m->cluster].begin(*this, m->cluster);
        return recycle(m);
    default:
        break;
    }
    switch (m->step) {
    case S::inject:
        m->step = S::route;
        schedule(m, noc.inject(m->packet, now));
        break;
    case S::route: {
        bool delivered;
        uint64_t when = noc.route(m->packet, now, delivered);
        if (delivered)
            m->step = m->packet.answer ? S::done : S::serve;
        schedule(m, when);
        break;
    }
    case S::serve:
        serve(m);
        break;
    case S::beat: {
        Dma &d = dma[m->cluster];
        if (d.port_free > now) {
            schedule(m, d.port_free);
            break;
        }
        uint32_t a = m->writes ? m->other : m->address;
        if (!beat(m, m->cluster, a + m->done, m->writes)) {
            port_conflicts++;
            schedule(m, now + 1);
            break;
        }
        d.port_free = now + 1;
        if (m->done < m->bytes) {
            schedule(m, now + 1);
            break;
        }
        if (m->writes) {
            d.burst_done(*this, m->cluster, m);
            break;
        }
        m->done = 0;
        if (m->other - (map::kCluster + m->cluster * map::kStride) < config.tcdm_size) {
            m->writes = true;
            schedule(m, now + 1);
            break;
        }
        noc_request(*m, m->other, noc.flits(m->bytes));
        m->step = S::inject;
        schedule(m, now + 1);
        break;
    }
    case S::done:
        deliver(m);
        break;
    }
}

// Moves up to 8 bytes between the burst's buffer and a cluster's TCDM, if both words' banks are free.
bool Machine::beat(Message *m, unsigned cluster, uint32_t address, bool store)
{
    uint64_t *stamps = &stamps_store[size_t(64) * cluster];
    uint32_t offset = (address - map::kCluster) % map::kStride, n = std::min(m->bytes - m->done, 8u);
    bool two = n > 4;
    if (two && bank_mask == 0)
        n = 4, two = false; // a single bank: a word a cycle
    uint64_t &s0 = stamps[(offset / 4) & bank_mask];
    if (s0 >= now << 20)
        return false;
    if (two) {
        uint64_t &s1 = stamps[(offset / 4 + 1) & bank_mask];
        if (s1 >= now << 20)
            return false;
        s1 = now << 20 | uint64_t(offset / 4 + 1) << 1;
    }
    s0 = now << 20 | uint64_t(offset / 4) << 1;
    uint8_t *p = tcdm[cluster].get() + offset;
    if (store) {
        std::memcpy(p, m->buffer.data() + m->done, n);
        if (reservations)
            stored(address, n);
    } else {
        std::memcpy(m->buffer.data() + m->done, p, n);
    }
    m->done += n;
    return true;
}

void Machine::leave_port(Message *m, unsigned cluster)
{
    m->queued = false;
    ports[cluster].pop_front();
    if (!ports[cluster].empty())
        schedule(ports[cluster].front(), now + 1);
}

// A request is where it goes to.
void Machine::serve(Message *m)
{
    using W = Message::What;
    auto answer = [&](uint64_t when, unsigned flits) {
        std::swap(m->packet.from, m->packet.to);
        std::swap(m->packet.sender, m->packet.receiver);
        m->packet.answer = true;
        m->packet.flits = uint8_t(flits);
        m->step = Message::Step::inject;
        schedule(m, when);
    };
    bool reads_burst = m->what == W::burst && m->writes; // fetched from here, to be stored at home
    uint32_t address = m->what == W::burst && !m->writes ? m->other : m->address;
    unsigned back = m->what == W::refill || reads_burst ? noc.flits(m->bytes) : 1;
    if (m->packet.receiver == End::cluster) {
        unsigned cluster = m->packet.to;
        if (!m->queued) {
            m->queued = true;
            ports[cluster].push_back(m);
            if (ports[cluster].front() != m)
                return;
        }
        if (m->what == W::burst) {
            if (!beat(m, cluster, address + m->done, !reads_burst)) {
                port_conflicts++;
                return schedule(m, now + 1);
            }
            if (m->done < m->bytes)
                return schedule(m, now + 1);
            m->done = 0;
            leave_port(m, cluster);
            return answer(now + 1, back);
        }
        uint32_t offset = (address - map::kCluster) % map::kStride;
        Kind k = m->op->kind;
        bool test_and_set = offset >= map::kTestAndSet, load = is_load(k) || k == Kind::lr;
        if (test_and_set) {
            offset -= map::kTestAndSet;
            address -= map::kTestAndSet;
            test_and_set = load;
            load = false;
        }
        uint64_t *stamps = &stamps_store[size_t(64) * cluster];
        if (!bank(stamps, offset / 4, load)) {
            port_conflicts++;
            return schedule(m, now + 1);
        }
        if (!is_store(k) && !load)
            stamps[(offset / 4) & bank_mask] += (config.tcdm_atomic - 1) << 20;
        uint8_t *p = tcdm[cluster].get() + offset;
        m->data = perform(cores[m->core], k, p, address, m->data);
        if (test_and_set) {
            uint32_t one = 1;
            std::memcpy(p, &one, m->bytes);
            if (reservations)
                stored(address, m->bytes);
        }
        leave_port(m, cluster);
        return answer(now + 1, 1);
    }
    bool is_l2 = m->packet.receiver == End::l2;
    uint64_t &free = is_l2 ? l2_free : memory_free, beats = (m->bytes + 7) / 8,
             each = is_l2 ? config.l2_occupancy : config.memory_occupancy, start = std::max(now, free);
    free = start + beats * each;
    uint8_t *p = at(address, m->bytes, 0);
    if (m->what == W::access) {
        m->data = perform(cores[m->core], m->op->kind, p, address, m->data);
    } else if (reads_burst) {
        std::memcpy(m->buffer.data(), p, m->bytes);
    } else if (m->what == W::burst) {
        std::memcpy(p, m->buffer.data(), m->bytes);
        if (reservations)
            stored(address, m->bytes);
    }
    answer(start + (is_l2 ? config.l2_latency : config.memory_latency) + (beats - 1) * each, back);
}

// An answer is back.
void Machine::deliver(Message *m)
{
    if (m->what == Message::What::burst) {
        if (m->writes) {
            m->step = Message::Step::beat;
            m->done = 0;
            return step(m);
        }
        return dma[m->cluster].burst_done(*this, m->cluster, m);
    }
    Core &c = cores[m->core];
    uint64_t took = now - c.since;
    if (m->what == Message::What::refill) {
        uint32_t line = m->address >> line_shift, *t = &c.tags[(line & set_mask) << way_shift];
        if (way_shift)
            t[1] = t[0];
        t[0] = line;
        c.n.miss_stall += took + 1;
        recycle(m);
        return resume(c, now + 1, false);
    }
    if (m->posted) {
        recycle(m);
        // With the last answer, or with the first one if it waits to post another.
        if (c.posted-- == config.noc_posted || c.posted == 0)
            if (c.wait == Wait::stores) {
                c.n.remote_stall += took + 1;
                resume(c, now + 1, false);
            }
        return;
    }
    write_result(c, *m->op, m->data);
    c.n.remote_stall += took;
    histogram[std::min(15, int(std::bit_width(took + 1)))]++;
    recycle(m);
    resume(c, now + 1, true);
}

} // namespace mc
