#include "hws/hws.h"
#include "base/text.h"
#include "core/stop.h"
#include <algorithm>

namespace mc
{

using namespace hws;

Hws::Hws(Shared &s, unsigned k) : shared(s), clock(s.clock), cluster(k), who(s.config.platform_cores) {}

uint32_t Hws::pending(const Who &w) const
{
    uint32_t p = w.signals;
    for (unsigned s = 0; s < kSlots; s++)
        p |= w.queued[s] ? 1u << (16 + s) : 0;
    return p;
}

void Hws::check_cores(Core &c, uint32_t mask) const
{
    if (mask >> who.size())
        fault(c, text("HWS: core mask 0x%x names cores that the cluster does not have (it has %zu)", mask, who.size()));
}

void Hws::check_clusters(Core &c, uint64_t mask) const
{
    uint64_t n = shared.config.platform_clusters;
    if (n < 64 && mask >> n)
        fault(c, text("HWS: cluster mask 0x%llx names clusters that do not exist (there are %llu)",
                      (unsigned long long)mask, (unsigned long long)n));
}

bool Hws::sleepy(Core &c)
{
    if (pending(who[c.local]))
        return false;
    c.wait = Wait::wfi;
    return true;
}

bool Hws::load(Core &c, uint32_t o, uint32_t &value)
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
        fault(c, text("HWS: register 0x%x cannot be read", o));
    return true;
}

void Hws::send(unsigned to, const Message &what)
{
    Message &message = shared.messages.make();
    message = what;
    uint64_t when = clock.now + shared.config.hws_latency - 1;
    if (to != cluster)
        when += shared.config.hws_remote + shared.config.hws_hop * shared.noc.hops(cluster, to);
    clock.schedule(message, shared.all[to], when);
}

void Hws::signal_later(unsigned slot, uint32_t cores)
{
    send(cluster, {{}, Message::What::signal, uint8_t(slot), 0, cores, 0});
}

void Hws::store(Core &c, uint32_t o, uint32_t v)
{
    Who &w = who[c.local];
    unsigned s = (o / 4) & 15, n = unsigned(shared.config.platform_clusters);
    auto all = [&](const Message &message) {
        uint64_t to = w.target_clusters ? w.target_clusters : uint64_t(1) << cluster;
        for (unsigned k = 0; k < n; k++)
            if (to >> k & 1)
                send(k, message);
    };
    if (o < kMultiSignal) {
        check_cores(c, v);
        signals++;
        signal_later(s, v);
    } else if (o < kWord) {
        check_cores(c, v);
        signals++;
        all({{}, Message::What::signal, uint8_t(s), 0, v, 0});
    } else if (o < kWaitSignal) {
        if (!w.target_cores)
            fault(c, "HWS: a word without target cores");
        words++;
        all({{}, Message::What::word, uint8_t(s), c.id, w.target_cores, v});
    } else if (o >= kArrive && o < kGatherCores) {
        Slot &g = slots[s];
        if (g.arrived >> c.local & 1)
            fault(c, text("HWS: core arrives twice in slot %u", s));
        if (g.cores && !(g.cores >> c.local & 1))
            fault(c, text("HWS: core arrives in slot %u, whose mask 0x%x does not name it", s, g.cores));
        g.arrived |= 1u << c.local;
        arrived(s);
    } else if (o >= kGatherCores && o < kGatherClusters) {
        check_cores(c, v);
        slots[s].cores = v;
        slots[s].armed = true;
        arrived(s);
    } else if (o >= kGatherClusters && o < kGatherClustersHigh) {
        slots[s].clusters = (slots[s].clusters & ~0xffffffffull) | v;
        check_clusters(c, slots[s].clusters);
    } else if (o >= kGatherClustersHigh && o < kGatherNotify) {
        slots[s].clusters = (slots[s].clusters & 0xffffffff) | uint64_t(v) << 32;
        check_clusters(c, slots[s].clusters);
    } else if (o >= kGatherNotify && o < kTargetCores) {
        if (v & ~(kNotifyCore | kNotifyAll | kNotifyParent | 63u << 16))
            fault(c, text("HWS: notify value 0x%x has unknown bits", v));
        check_cores(c, 1u << (v & kNotifyCore));
        check_clusters(c, uint64_t(1) << (v >> 16));
        slots[s].notify = v;
    } else if (o == kTargetCores) {
        check_cores(c, v);
        w.target_cores = v;
    } else if (o == kTargetClusters) {
        check_clusters(c, v);
        w.target_clusters = (w.target_clusters & ~0xffffffffull) | v;
    } else if (o == kTargetClustersHigh) {
        check_clusters(c, uint64_t(v) << 32);
        w.target_clusters = (w.target_clusters & 0xffffffff) | uint64_t(v) << 32;
    } else if (o == kAnyMask) {
        w.any_mask = v;
    } else {
        fault(c, text("HWS: register 0x%x cannot be written", o));
    }
}

// A sleeping core for which there is now what it waits for goes on.
void Hws::wake(unsigned local)
{
    Core &c = shared.cores[cluster * who.size() + local];
    if (c.wait == Wait::wfi) {
        c.n.hws_stall += clock.now - c.since;
        clock.resume(c, clock.now + 1, true);
        return;
    }
    if (c.wait != Wait::hws_signal && c.wait != Wait::hws_word && c.wait != Wait::hws_any)
        return;
    Wait w = c.wait;
    uint32_t offset = w == Wait::hws_any ? uint32_t(kWaitAny)
                                         : (w == Wait::hws_signal ? kWaitSignal : kWaitWord) + 4u * c.wait_slot,
             value = 0;
    if (!load(c, offset, value))
        return;
    write_result(c, *c.op, value);
    c.n.hws_stall += clock.now - c.since;
    clock.resume(c, clock.now + 1, true);
}

void Hws::happen(Event &e)
{
    Message &message = static_cast<Message &>(e);
    switch (message.what) {
    case Message::What::signal:
        signal(message.slot, message.cores);
        break;
    case Message::What::word:
        word(message);
        break;
    case Message::What::arrival:
        slots[message.slot].arrived_clusters |= uint64_t(1) << message.from;
        arrived(message.slot);
        break;
    case Message::What::release:
        release(message.slot);
        break;
    }
    shared.messages.recycle(message);
}

void Hws::signal(unsigned slot, uint32_t cores)
{
    for (unsigned i = 0; i < who.size(); i++)
        if (cores >> i & 1) {
            who[i].signals |= uint16_t(1u << slot);
            wake(i);
        }
}

void Hws::word(const Message &message)
{
    unsigned slot = message.slot;
    for (unsigned i = 0; i < who.size(); i++)
        if (message.cores >> i & 1) {
            Who &w = who[i];
            if (w.queued[slot] == kDepth)
                fault(shared.cores[message.from],
                      text("HWS: word for cluster %u core %u slot %u, which holds %u unread words already", cluster, i,
                           slot, kDepth));
            w.words[slot][w.queued[slot]++] = message.data;
            wake(i);
        }
}

// A core or a cluster has come, or the masks are set: are all there?
void Hws::arrived(unsigned slot)
{
    Slot &g = slots[slot];
    if (!g.armed || (!g.cores && !g.clusters) || (g.arrived & g.cores) != g.cores ||
        (g.arrived_clusters & g.clusters) != g.clusters)
        return;
    gathers++;
    g.arrived &= ~g.cores;
    g.arrived_clusters &= ~g.clusters;
    if (g.notify & kNotifyParent)
        send(g.notify >> 16, {{}, Message::What::arrival, uint8_t(slot), uint16_t(cluster), 0, 0});
    else if (g.notify & kNotifyAll)
        send(cluster, {{}, Message::What::release, uint8_t(slot), 0, 0, 0});
    else
        signal_later(slot, 1u << (g.notify & kNotifyCore));
}

void Hws::release(unsigned slot)
{
    Slot &g = slots[slot];
    for (unsigned k = 0; k < shared.config.platform_clusters; k++)
        if (g.clusters >> k & 1)
            send(k, {{}, Message::What::release, uint8_t(slot), 0, 0, 0});
    signal(slot, g.cores);
}

} // namespace mc
