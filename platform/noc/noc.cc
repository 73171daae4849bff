#include "noc/noc.h"
#include <algorithm>
#include <cstdlib>

namespace mc
{

std::unique_ptr<Noc> Noc::make(const Config &config)
{
    if (config.noc_crossbar)
        return std::make_unique<Crossbar>(config);
    return std::make_unique<Mesh>(config);
}

Noc::Noc(const Config &c, unsigned links)
    : latency(unsigned(c.noc_latency)), hop(unsigned(c.noc_hop)), occupancy(unsigned(c.noc_occupancy)),
      flit(unsigned(c.noc_flit)), resources(kLinks + links), free(size_t(2) * kNodes * resources)
{
}

uint64_t Noc::pass(const Packet &p, unsigned resource, uint64_t now)
{
    uint64_t &f = free[(size_t(p.answer) * kNodes + p.at) * resources + resource];
    uint64_t start = std::max(now, f);
    waited += start - now;
    f = start + keeps(p);
    return start;
}

uint64_t Noc::inject(Packet &p, uint64_t now)
{
    p.at = p.from;
    sent_packets++;
    sent_flits += p.flits;
    return std::max(pass(p, kIn + unsigned(p.sender), now) + latency, now + 1);
}

Mesh::Mesh(const Config &config) : Noc(config, 4), width(config.mesh_width()) {}

unsigned Mesh::hops(unsigned a, unsigned b) const
{
    return unsigned(std::abs(int(a % width) - int(b % width)) + std::abs(int(a / width) - int(b / width)));
}

uint64_t Mesh::route(Packet &p, uint64_t now, bool &delivered)
{
    unsigned x = p.at % width, tx = p.to % width;
    delivered = p.at == p.to;
    if (delivered)
        return pass(p, kOut + unsigned(p.receiver), now) + keeps(p);
    unsigned link = x < tx ? 0 : x > tx ? 1 : p.at < p.to ? 2 : 3;
    uint64_t start = pass(p, kLinks + link, now);
    static const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
    p.at = uint16_t(int(p.at) + dx[link] + dy[link] * int(width));
    return start + hop;
}

uint64_t Crossbar::route(Packet &p, uint64_t now, bool &delivered)
{
    p.at = p.to;
    delivered = true;
    return pass(p, kOut + unsigned(p.receiver), now) + hop + keeps(p);
}

} // namespace mc
