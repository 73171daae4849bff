#include "noc/noc.h"
#include <algorithm>
#include <cstdlib>

namespace mc
{

Noc::Noc(const Config &c)
    : width(c.mesh_width()), latency(unsigned(c.noc_latency)), hop(unsigned(c.noc_hop)),
      occupancy(unsigned(c.noc_occupancy)), flit(unsigned(c.noc_flit)), free(2 * 64 * 10)
{
}

unsigned Noc::hops(unsigned a, unsigned b) const
{
    return unsigned(std::abs(int(a % width) - int(b % width)) + std::abs(int(a / width) - int(b / width)));
}

uint64_t Noc::pass(const Packet &p, unsigned port, uint64_t now)
{
    uint64_t &f = free[(size_t(p.answer) * 64 + p.at) * 10 + port];
    uint64_t start = std::max(now, f);
    waited += start - now;
    f = start + uint64_t(p.flits) * occupancy;
    return start;
}

uint64_t Noc::inject(Packet &p, uint64_t now)
{
    p.at = p.from;
    sent_packets++;
    sent_flits += p.flits;
    return std::max(pass(p, 7 + unsigned(p.sender), now) + latency, now + 1);
}

uint64_t Noc::route(Packet &p, uint64_t now, bool &delivered)
{
    unsigned x = p.at % width, tx = p.to % width;
    delivered = p.at == p.to;
    if (delivered)
        return pass(p, 4 + unsigned(p.receiver), now) + uint64_t(p.flits) * occupancy;
    unsigned port = x < tx ? 0 : x > tx ? 1 : p.at < p.to ? 2 : 3;
    uint64_t start = pass(p, port, now);
    static const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
    p.at = uint16_t(int(p.at) + dx[port] + dy[port] * int(width));
    return start + hop;
}

} // namespace mc
