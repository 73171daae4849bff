#include "memory/traffic.h"
#include <algorithm>
#include <cstring>

namespace mc
{

Traffic::Traffic(const Config &given, Clock &c, Memory &m)
    : noc(Noc::make(given)), config(given), clock(c), memory(m), ports(given.platform_clusters)
{
}

// The packet to the memory of the request's address.
void Traffic::address(Request &r, unsigned cluster) const
{
    Packet &p = r.packet;
    p.from = uint16_t(cluster);
    p.sender = End::cluster;
    p.answer = false;
    p.flits = uint8_t(r.what == Request::What::put ? noc->flits(r.bytes) : 1);
    if (r.address >= map::kMain) {
        p.receiver = End::memory;
        p.to = uint16_t(config.memory_node);
    } else if (r.address >= map::kL2) {
        p.receiver = End::l2;
        p.to = uint16_t(config.l2_node);
    } else {
        p.receiver = End::cluster;
        p.to = uint16_t((r.address - map::kCluster) / map::kStride);
    }
}

void Traffic::send(Request &r, unsigned cluster)
{
    address(r, cluster);
    r.step = Request::Step::route;
    clock.schedule(r, *this, noc->inject(r.packet, clock.now));
}

void Traffic::send_in(Request &r, unsigned cluster, uint64_t when)
{
    address(r, cluster);
    r.step = Request::Step::inject;
    clock.schedule(r, *this, when);
}

void Traffic::happen(Event &e)
{
    using Step = Request::Step;
    Request &r = static_cast<Request &>(e);
    switch (r.step) {
    case Step::inject:
        r.step = Step::route;
        return clock.schedule(r, *this, noc->inject(r.packet, clock.now));
    case Step::route: {
        bool delivered;
        uint64_t when = noc->route(r.packet, clock.now, delivered);
        if (delivered && r.packet.answer)
            return clock.schedule(r, *r.home, when);
        if (delivered)
            r.step = r.packet.receiver == End::cluster ? Step::queue : Step::serve;
        return clock.schedule(r, *this, when);
    }
    case Step::queue:
        return queue(r);
    case Step::serve:
        return r.packet.receiver == End::cluster ? serve_in_cluster(r) : serve_in_memory(r);
    }
}

void Traffic::queue(Request &r)
{
    std::deque<Request *> &port = ports[r.packet.to];
    r.step = Request::Step::serve;
    port.push_back(&r);
    if (port.front() == &r)
        serve_in_cluster(r);
}

void Traffic::serve_in_cluster(Request &r)
{
    bool over;
    if (r.what == Request::What::access) {
        Access &a = static_cast<Access &>(r);
        over = memory.access(*a.core, a.op->kind, a.address, a.data, a.data);
        port_conflicts += !over;
    } else {
        Bytes &b = static_cast<Bytes &>(r);
        uint32_t moved =
            memory.beat(b.address + b.done, b.buffer + b.done, b.bytes - b.done, r.what == Request::What::put);
        port_conflicts += moved == 0;
        b.done += moved;
        over = b.done == b.bytes;
    }
    if (!over)
        return clock.schedule(r, *this, clock.now + 1);
    std::deque<Request *> &port = ports[r.packet.to];
    port.pop_front();
    if (!port.empty())
        clock.schedule(*port.front(), *this, clock.now + 1);
    answer(r, clock.now + 1);
}

void Traffic::serve_in_memory(Request &r)
{
    bool is_l2 = r.packet.receiver == End::l2;
    uint64_t &free = is_l2 ? l2_free : memory_free, beats = (r.bytes + 7) / 8,
             each = is_l2 ? config.l2_occupancy : config.memory_occupancy, start = std::max(clock.now, free);
    free = start + beats * each;
    uint8_t *p = memory.at(r.address, r.bytes, 0);
    switch (r.what) {
    case Request::What::access: {
        Access &a = static_cast<Access &>(r);
        a.data = memory.perform(*a.core, a.op->kind, p, a.address, a.data);
        break;
    }
    case Request::What::line:
        break;
    case Request::What::fetch:
        std::memcpy(static_cast<Bytes &>(r).buffer, p, r.bytes);
        break;
    case Request::What::put:
        std::memcpy(p, static_cast<Bytes &>(r).buffer, r.bytes);
        memory.stored(r.address, r.bytes);
        break;
    }
    answer(r, start + (is_l2 ? config.l2_latency : config.memory_latency) + (beats - 1) * each);
}

void Traffic::answer(Request &r, uint64_t when)
{
    Packet &p = r.packet;
    std::swap(p.from, p.to);
    std::swap(p.sender, p.receiver);
    p.answer = true;
    p.flits = uint8_t(r.what == Request::What::line || r.what == Request::What::fetch ? noc->flits(r.bytes) : 1);
    r.step = Request::Step::inject;
    clock.schedule(r, *this, when);
}

} // namespace mc
