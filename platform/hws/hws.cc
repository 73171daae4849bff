#include "hws/hws.h"
#include "base/text.h"
#include "kernel/machine.h"
#include <algorithm>

namespace mc
{

using namespace hws;

uint32_t Hws::pending(const Who &w) const
{
    uint32_t p = w.signals;
    for (unsigned s = 0; s < kSlots; s++)
        p |= w.queued[s] ? 1u << (16 + s) : 0;
    return p;
}

void Hws::check_cores(Machine &m, Core &c, uint32_t mask)
{
    if (mask >> who.size())
        m.fault(c,
                text("HWS: core mask 0x%x names cores that the cluster does not have (it has %zu)", mask, who.size()));
}

void Hws::check_clusters(Machine &m, Core &c, uint64_t mask)
{
    uint64_t n = m.config.platform_clusters;
    if (n < 64 && mask >> n)
        m.fault(c, text("HWS: cluster mask 0x%llx names clusters that do not exist (there are %llu)",
                        (unsigned long long)mask, (unsigned long long)n));
}

bool Hws::sleepy(Machine &m, Core &c)
{
    (void)m;
    if (pending(who[c.local]))
        return false;
    c.wait = Wait::wfi;
    return true;
}

bool Hws::load(Machine &m, Core &c, uint32_t o, uint32_t &value)
{
    Who &w = who[c.local];
    unsigned s = (o / 4) & 15;
    if (o >= kWaitSignal && o < kWaitWord) {
        if (!(w.signals >> s & 1)) {
            c.wait = Wait::hws_signal;
            c.wait_slot = uint8_t(s);
            return false;
        }
        w.signals &= uint16_t(~(1u << s));
        value = 1;
        return true;
    }
    if (o >= kWaitWord && o < kArrive) {
        if (!w.queued[s]) {
            c.wait = Wait::hws_word;
            c.wait_slot = uint8_t(s);
            return false;
        }
        value = w.words[s][0];
        std::copy(w.words[s] + 1, w.words[s] + kDepth, w.words[s]);
        w.queued[s]--;
        return true;
    }
    if (o == kWaitAny) {
        value = pending(w) & w.any_mask;
        if (!value)
            c.wait = Wait::hws_any;
        return value;
    }
    if (o == kPending)
        value = pending(w);
    else if (o == kAnyMask)
        value = w.any_mask;
    else if (o == kTargetCores)
        value = w.target_cores;
    else if (o == kTargetClusters)
        value = uint32_t(w.target_clusters);
    else if (o == kTargetClustersHigh)
        value = uint32_t(w.target_clusters >> 32);
    else if (o >= kGatherCores && o < kGatherClusters)
        value = slots[s].cores;
    else
        m.fault(c, text("HWS: register 0x%x cannot be read", o));
    return true;
}

void Hws::send(Machine &m, unsigned from, unsigned to, Message *msg)
{
    uint64_t when = m.now + m.config.hws_latency - 1;
    if (from != to)
        when += m.config.hws_remote + m.config.hws_hop * m.noc.hops(from, to);
    msg->cluster = uint16_t(to);
    m.schedule(msg, when);
}

void Hws::store(Machine &m, Core &c, uint32_t o, uint32_t v)
{
    Who &w = who[c.local];
    unsigned s = (o / 4) & 15, n = unsigned(m.config.platform_clusters);
    auto message = [&](Message::What what, uint32_t mask) {
        Message *msg = m.make();
        msg->what = what;
        msg->slot = uint8_t(s);
        msg->mask = mask;
        msg->data = v;
        msg->core = c.id;
        return msg;
    };
    auto all = [&](Message::What what, uint32_t mask) {
        uint64_t to = w.target_clusters ? w.target_clusters : uint64_t(1) << c.cluster;
        for (unsigned k = 0; k < n; k++)
            if (to >> k & 1)
                send(m, c.cluster, k, message(what, mask));
    };
    if (o < kMultiSignal) {
        check_cores(m, c, v);
        signals++;
        send(m, c.cluster, c.cluster, message(Message::What::signal, v));
    } else if (o < kWord) {
        check_cores(m, c, v);
        signals++;
        all(Message::What::signal, v);
    } else if (o < kWaitSignal) {
        if (!w.target_cores)
            m.fault(c, "HWS: a word without target cores");
        words++;
        all(Message::What::word, w.target_cores);
    } else if (o >= kArrive && o < kGatherCores) {
        Slot &g = slots[s];
        if (g.arrived >> c.local & 1)
            m.fault(c, text("HWS: core arrives twice in slot %u", s));
        if (g.cores && !(g.cores >> c.local & 1))
            m.fault(c, text("HWS: core arrives in slot %u, whose mask 0x%x does not name it", s, g.cores));
        arrival(m, c.cluster, s, c.local, -1);
    } else if (o >= kGatherCores && o < kGatherClusters) {
        check_cores(m, c, v);
        slots[s].cores = v;
        slots[s].armed = true;
        complete(m, c.cluster, s);
    } else if (o >= kGatherClusters && o < kGatherClustersHigh) {
        slots[s].clusters = (slots[s].clusters & ~0xffffffffull) | v;
        check_clusters(m, c, slots[s].clusters);
    } else if (o >= kGatherClustersHigh && o < kGatherNotify) {
        slots[s].clusters = (slots[s].clusters & 0xffffffff) | uint64_t(v) << 32;
        check_clusters(m, c, slots[s].clusters);
    } else if (o >= kGatherNotify && o < kTargetCores) {
        if (v & ~(kNotifyCore | kNotifyAll | kNotifyParent | 63u << 16))
            m.fault(c, text("HWS: notify value 0x%x has unknown bits", v));
        check_cores(m, c, 1u << (v & kNotifyCore));
        check_clusters(m, c, uint64_t(1) << (v >> 16));
        slots[s].notify = v;
    } else if (o == kTargetCores) {
        check_cores(m, c, v);
        w.target_cores = v;
    } else if (o == kTargetClusters) {
        check_clusters(m, c, v);
        w.target_clusters = (w.target_clusters & ~0xffffffffull) | v;
    } else if (o == kTargetClustersHigh) {
        check_clusters(m, c, uint64_t(v) << 32);
        w.target_clusters = (w.target_clusters & 0xffffffff) | uint64_t(v) << 32;
    } else if (o == kAnyMask) {
        w.any_mask = v;
    } else {
        m.fault(c, text("HWS: register 0x%x cannot be written", o));
    }
}

// A sleeping core for which there is now what it waits for goes on.
void Hws::wake(Machine &m, unsigned cluster, unsigned local)
{
    Core &c = m.cores[cluster * m.config.platform_cores + local];
    if (c.wait == Wait::wfi) {
        c.n.hws_stall += m.now - c.since;
        m.resume(c, m.now + 1, true);
        return;
    }
    if (c.wait != Wait::hws_signal && c.wait != Wait::hws_word && c.wait != Wait::hws_any)
        return;
    Wait w = c.wait;
    uint32_t offset = w == Wait::hws_any ? uint32_t(kWaitAny)
                                         : (w == Wait::hws_signal ? kWaitSignal : kWaitWord) + 4u * c.wait_slot,
             value = 0;
    if (!load(m, c, offset, value))
        return;
    m.write_result(c, *c.op, value);
    c.n.hws_stall += m.now - c.since;
    m.resume(c, m.now + 1, true);
}

void Hws::signal(Machine &m, unsigned cluster, unsigned slot, uint32_t mask)
{
    for (unsigned i = 0; i < who.size(); i++)
        if (mask >> i & 1) {
            who[i].signals |= uint16_t(1u << slot);
            wake(m, cluster, i);
        }
}

void Hws::word(Machine &m, unsigned cluster, const Message &msg)
{
    for (unsigned i = 0; i < who.size(); i++)
        if (msg.mask >> i & 1) {
            Who &w = who[i];
            if (w.queued[msg.slot] == kDepth)
                m.fault(m.cores[msg.core],
                        text("HWS: word for cluster %u core %u slot %u, which holds %u unread words already", cluster,
                             i, msg.slot, kDepth));
            w.words[msg.slot][w.queued[msg.slot]++] = msg.data;
            wake(m, cluster, i);
        }
}

void Hws::arrival(Machine &m, unsigned cluster, unsigned slot, int core, int from)
{
    if (core >= 0)
        slots[slot].arrived |= 1u << core;
    else
        slots[slot].arrived_clusters |= uint64_t(1) << from;
    complete(m, cluster, slot);
}

void Hws::complete(Machine &m, unsigned cluster, unsigned slot)
{
    Slot &g = slots[slot];
    if (!g.armed || (!g.cores && !g.clusters) || (g.arrived & g.cores) != g.cores ||
        (g.arrived_clusters & g.clusters) != g.clusters)
        return;
    gathers++;
    g.arrived &= ~g.cores;
    g.arrived_clusters &= ~g.clusters;
    Message *msg = m.make();
    msg->slot = uint8_t(slot);
    msg->core = uint16_t(cluster);
    if (g.notify & kNotifyParent) {
        msg->what = Message::What::arrival;
        send(m, cluster, g.notify >> 16, msg);
    } else if (g.notify & kNotifyAll) {
        msg->what = Message::What::release;
        send(m, cluster, cluster, msg);
    } else {
        msg->what = Message::What::signal;
        msg->mask = 1u << (g.notify & kNotifyCore);
        send(m, cluster, cluster, msg);
    }
}

void Hws::release(Machine &m, unsigned cluster, unsigned slot)
{
    Slot &g = slots[slot];
    for (unsigned k = 0; k < m.config.platform_clusters; k++)
        if (g.clusters >> k & 1) {
            Message *msg = m.make();
            msg->what = Message::What::release;
            msg->slot = uint8_t(slot);
            send(m, cluster, k, msg);
        }
    signal(m, cluster, slot, g.cores);
}

} // namespace mc
