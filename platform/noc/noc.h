// The network: a 2D mesh, XY routing, one network for requests and one for answers.
//
// A packet passes resources one after the other: its sender's port into a router, a link for each hop, the receiver's
// port out of the last router.
// Each resource keeps a packet `flits * noc.occupancy` cycles and serves packets in the order in which they arrive.
// Cut-through: the head goes on `noc.latency` (into the first router) or `noc.hop` cycles after the resource was free;
// the receiver has the packet with its last flit.
// Alone, f flits over h hops take  latency + h * hop + f * occupancy  cycles one way.
// A packet of at most 4 bytes of data is one flit; more data take further flits of `noc.flit` bytes.
#pragma once
#include "base/config.h"
#include <cstdint>
#include <vector>

namespace mc
{

enum class End : uint8_t { cluster, l2, memory };

struct Packet {
    uint16_t at = 0, from = 0, to = 0; // mesh nodes
    End sender = End::cluster, receiver = End::cluster;
    bool answer = false;
    uint8_t flits = 1;
};

class Noc
{
  public:
    explicit Noc(const Config &config);
    // A packet at its sender's port in cycle `now`: the cycle (later than now) in which its head is in the first
    // router.
    uint64_t inject(Packet &p, uint64_t now);
    // Its head in router p.at: the cycle of its next step; `delivered` if that is the receiver's.
    uint64_t route(Packet &p, uint64_t now, bool &delivered);
    unsigned flits(unsigned bytes) const { return bytes <= 4 ? 1 : 1 + (bytes + flit - 1) / flit; }
    unsigned hops(unsigned a, unsigned b) const;
    uint64_t sent_flits = 0, sent_packets = 0, waited = 0;

  private:
    unsigned width, latency, hop, occupancy, flit;
    std::vector<uint64_t> free; // [network][node][port]: links E W S N, ports out 3, ports in 3
    uint64_t pass(const Packet &p, unsigned port, uint64_t now);
};

} // namespace mc
