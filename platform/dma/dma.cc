#include "dma/dma.h"
#include "base/text.h"
#include "kernel/machine.h"
#include <algorithm>

namespace mc
{

using namespace dma;

uint32_t Dma::load(Machine &m, Core &c, uint32_t o)
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
        m.fault(c, text("DMA: register 0x%x cannot be read", o));
    }
}

bool Dma::store(Machine &m, Core &c, uint32_t o, uint32_t v)
{
    Who &w = who[c.local];
    if (o <= kDestinationStride) {
        w.reg[o / 4] = v;
        return true;
    }
    if (o != kStart)
        m.fault(c, text("DMA: register 0x%x cannot be written", o));
    if (queue.size() == kQueue) {
        waiting.push_back(c.id);
        c.wait = Wait::dma_queue;
        return false;
    }
    Transfer t{w.reg[0], w.reg[1], w.reg[2], w.reg[3], w.reg[4], w.reg[5], c.id, uint8_t(v), started + 1, m.now, 0, 0};
    if (v > 32 || (v >= 16 && v != 32))
        m.fault(c, text("DMA: completion slot %u (0 to 15, or 32 for none)", v));
    if (!t.bytes || !t.rows)
        m.fault(c, "DMA: transfer of no bytes");
    if ((t.source | t.destination | t.bytes | (t.rows > 1 ? t.source_stride | t.destination_stride : 0)) & 3)
        m.fault(c, "DMA: addresses, bytes and strides must be multiples of 4");
    uint32_t own = map::kCluster + c.cluster * map::kStride;
    bool local[2] = {};
    for (int side = 0; side < 2; side++) {
        uint32_t &first = side ? t.destination : t.source, stride = side ? t.destination_stride : t.source_stride;
        if (first - map::kAlias < m.config.tcdm_size)
            first = first - map::kAlias + own;
        local[side] = first - own < m.config.tcdm_size;
        for (uint32_t r = 0; r < t.rows; r++) {
            uint32_t a = first + r * stride;
            if (!m.at(a, t.bytes, c.cluster))
                m.fault(c, text("DMA: %s 0x%08x, %u bytes (row %u): over the end of what is there",
                                side ? "destination" : "source", a, t.bytes, r));
            if (side)
                for (const Range &x : m.executable)
                    if (a < x.low + x.size && x.low < a + t.bytes)
                        m.fault(c, text("DMA: destination 0x%08x is code", a));
        }
    }
    if (!local[0] && !local[1])
        m.fault(c, "DMA: neither source nor destination is in the own cluster's TCDM");
    w.id = ++started;
    queue.push_back(t);
    if (queue.size() == 1) {
        Message *msg = m.make();
        msg->what = Message::What::transfer;
        msg->cluster = c.cluster;
        m.schedule(msg, m.now + m.config.dma_setup);
    }
    return true;
}

void Dma::begin(Machine &m, unsigned cluster)
{
    row = column = 0;
    queue.front().began = m.now;
    issue(m, cluster);
}

// Starts bursts of the transfer at the queue's head, as many as may be under way.
void Dma::issue(Machine &m, unsigned cluster)
{
    const Transfer &t = queue.front();
    uint32_t own = map::kCluster + cluster * map::kStride;
    while (under_way < m.config.dma_outstanding && row < t.rows) {
        uint32_t n = std::min(t.bytes - column, uint32_t(m.config.dma_burst));
        Message *b = m.make();
        b->what = Message::What::burst;
        b->cluster = uint16_t(cluster);
        b->core = t.core;
        b->bytes = n;
        b->done = 0;
        b->address = t.source + row * t.source_stride + column;
        b->other = t.destination + row * t.destination_stride + column;
        b->buffer.resize(n);
        under_way++;
        if (b->address - own < m.config.tcdm_size) {
            b->writes = false;
            b->step = Message::Step::beat;
            b->packet.answer = false;
        } else {
            b->writes = true;
            b->step = Message::Step::inject;
            m.noc_request(*b, b->address, 1);
        }
        m.schedule(b, m.now + 1);
        column += n;
        if (column == t.bytes) {
            column = 0;
            row++;
        }
    }
}

void Dma::burst_done(Machine &m, unsigned cluster, Message *burst)
{
    bytes += burst->bytes;
    m.recycle(burst);
    under_way--;
    Transfer t = queue.front();
    if (row < t.rows) {
        issue(m, cluster);
        return;
    }
    if (under_way)
        return;
    queue.pop_front();
    done++;
    transfers++;
    busy += m.now - t.began;
    t.ended = m.now;
    if (keep_finished)
        finished.push_back(t);
    if (t.slot < hws::kSlots) {
        Message *msg = m.make();
        msg->what = Message::What::signal;
        msg->slot = t.slot;
        msg->mask = 1u << m.cores[t.core].local;
        msg->cluster = uint16_t(cluster);
        m.schedule(msg, m.now + m.config.hws_latency - 1);
    }
    if (!waiting.empty()) {
        Core &c = m.cores[waiting.front()];
        waiting.pop_front();
        c.n.dma_stall += m.now + 1 - c.since;
        m.resume(c, m.now + 1, false);
    }
    if (!queue.empty()) {
        Message *msg = m.make();
        msg->what = Message::What::transfer;
        msg->cluster = uint16_t(cluster);
        m.schedule(msg, m.now + m.config.dma_setup);
    }
}

} // namespace mc
