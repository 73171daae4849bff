#include "dma/dma.h"
#include "base/text.h"
#include "core/stop.h"
#include <algorithm>

namespace mc
{

using namespace dma;

Dma::Dma(Shared &s, Hws &synchroniser, unsigned k)
    : shared(s), clock(s.clock), hws(synchroniser), cluster(k), who(s.config.platform_cores)
{
}

uint32_t Dma::load(Core &c, uint32_t o)
{
    if (o <= kDestinationStride)
        return who[c.local].reg[o / 4];
    switch (o) {
    case kId:
        return who[c.local].id;
    case kDone:
        return done;
    case kFree:
        return kQueue - uint32_t(queue.size());
    default:
        fault(c, text("DMA: register 0x%x cannot be read", o));
    }
}

bool Dma::store(Core &c, uint32_t o, uint32_t v)
{
    Who &w = who[c.local];
    if (o <= kDestinationStride) {
        w.reg[o / 4] = v;
        return true;
    }
    if (o != kStart)
        fault(c, text("DMA: register 0x%x cannot be written", o));
    if (queue.size() == kQueue) {
        waiting.push_back(c.id);
        c.wait = Wait::dma_queue;
        return false;
    }
    Transfer t{w.reg[0], w.reg[1],   w.reg[2],    w.reg[3],  w.reg[4], w.reg[5],
               c.id,     uint8_t(v), started + 1, clock.now, 0,        0};
    if (v > 32 || (v >= 16 && v != 32))
        fault(c, text("DMA: completion slot %u (0 to 15, or 32 for none)", v));
    check(c, t);
    w.id = ++started;
    queue.push_back(t);
    if (queue.size() == 1)
        set_up();
    return true;
}

// Faults, unless the engine can do it. Addresses by the alias become those of the cluster.
void Dma::check(Core &c, Transfer &t) const
{
    if (!t.bytes || !t.rows)
        fault(c, "DMA: transfer of no bytes");
    if ((t.source | t.destination | t.bytes | (t.rows > 1 ? t.source_stride | t.destination_stride : 0)) & 3)
        fault(c, "DMA: addresses, bytes and strides must be multiples of 4");
    uint32_t own = map::kCluster + cluster * map::kStride;
    bool local[2] = {};
    for (int side = 0; side < 2; side++) {
        uint32_t &first = side ? t.destination : t.source, stride = side ? t.destination_stride : t.source_stride;
        if (first - map::kAlias < shared.config.tcdm_size)
            first = first - map::kAlias + own;
        local[side] = first - own < shared.config.tcdm_size;
        for (uint32_t r = 0; r < t.rows; r++) {
            uint32_t a = first + r * stride;
            if (!shared.memory.at(a, t.bytes, cluster))
                fault(c, text("DMA: %s 0x%08x, %u bytes (row %u): over the end of what is there",
                              side ? "destination" : "source", a, t.bytes, r));
            if (side && shared.codes.overlaps(a, t.bytes))
                fault(c, text("DMA: destination 0x%08x is code", a));
        }
    }
    if (!local[0] && !local[1])
        fault(c, "DMA: neither source nor destination is in the own cluster's TCDM");
}

void Dma::set_up() { clock.schedule(setup, *this, clock.now + shared.config.dma_setup); }

void Dma::happen(Event &e)
{
    if (&e == &setup) {
        row = column = 0;
        queue.front().began = clock.now;
        return issue();
    }
    Burst &b = static_cast<Burst &>(e);
    switch (b.way) {
    case Burst::Way::fetch: // they are here
        b.way = Burst::Way::write;
        b.done = 0;
        return beat(b);
    case Burst::Way::read:
    case Burst::Way::write:
        return beat(b);
    case Burst::Way::put: // they are there
        return burst_done(b);
    }
}

// Starts bursts of the transfer at the queue's head, as many as may be under way.
void Dma::issue()
{
    const Transfer &t = queue.front();
    while (under_way < shared.config.dma_outstanding && row < t.rows) {
        Burst &b = bursts.make();
        b.bytes = std::min(t.bytes - column, uint32_t(shared.config.dma_burst));
        b.done = 0;
        b.home = this;
        b.address = t.source + row * t.source_stride + column;
        b.destination = t.destination + row * t.destination_stride + column;
        under_way++;
        if (shared.memory.in_tcdm(b.address, cluster)) {
            b.way = Burst::Way::read;
            clock.schedule(b, *this, clock.now + 1);
        } else {
            b.way = Burst::Way::fetch;
            b.what = Request::What::fetch;
            shared.traffic.send_in(b, cluster, clock.now + 1);
        }
        column += b.bytes;
        if (column == t.bytes) {
            column = 0;
            row++;
        }
    }
}

// A beat of a burst between its buffer and the TCDM, as soon as the engine's side of it and the banks are free.
void Dma::beat(Burst &b)
{
    if (port_free > clock.now)
        return clock.schedule(b, *this, port_free);
    bool writes = b.way == Burst::Way::write;
    uint32_t moved =
        shared.memory.beat((writes ? b.destination : b.address) + b.done, b.buffer + b.done, b.bytes - b.done, writes);
    b.done += moved;
    if (moved)
        port_free = clock.now + 1;
    else
        shared.traffic.port_conflicts++;
    if (b.done < b.bytes)
        return clock.schedule(b, *this, clock.now + 1);
    if (writes)
        return burst_done(b);
    b.done = 0;
    if (shared.memory.in_tcdm(b.destination, cluster)) {
        b.way = Burst::Way::write;
        return clock.schedule(b, *this, clock.now + 1);
    }
    b.way = Burst::Way::put;
    b.what = Request::What::put;
    b.address = b.destination;
    shared.traffic.send_in(b, cluster, clock.now + 1);
}

void Dma::burst_done(Burst &b)
{
    bytes += b.bytes;
    bursts.recycle(b);
    under_way--;
    Transfer t = queue.front();
    if (row < t.rows)
        return issue();
    if (under_way)
        return;
    queue.pop_front();
    done++;
    transfers++;
    busy += clock.now - t.began;
    t.ended = clock.now;
    if (keep_finished)
        finished.push_back(t);
    if (t.slot < hws::kSlots)
        hws.signal_later(t.slot, 1u << shared.cores[t.core].local);
    if (!waiting.empty()) {
        Core &c = shared.cores[waiting.front()];
        waiting.pop_front();
        c.n.dma_stall += clock.now + 1 - c.since;
        clock.resume(c, clock.now + 1, false);
    }
    if (!queue.empty())
        set_up();
}

} // namespace mc
