// The network: when a packet is where. Two kinds (noc.crossbar), and one network for requests, one for answers.
//
// A packet passes resources one after the other: its sender's port into the network, what the kind has inside, the
// receiver's port out of it. Each resource keeps a packet `flits * noc.occupancy` cycles and serves packets in the
// order in which they arrive. Cut-through: the head goes on `noc.latency` (into the network) or `noc.hop` cycles after
// the resource was free; the receiver has the packet with its last flit.
// A packet of at most 4 bytes of data is one flit; more data take further flits of `noc.flit` bytes.
#pragma once
#include "base/config.h"
#include "base/map.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace mc
{

enum class End : uint8_t { cluster, l2, memory };

struct Packet {
    uint16_t at = 0, from = 0, to = 0; // nodes, one a cluster; L2 and memory are ends at one of them
    End sender = End::cluster, receiver = End::cluster;
    bool answer = false;
    uint8_t flits = 1;
    template <class A> void archive(A &a) { a(at, from, to, sender, receiver, answer, flits); }
};

class Noc
{
  public:
    static std::unique_ptr<Noc> make(const Config &config);
    virtual ~Noc() = default;
    // A packet at its sender's port in cycle `now`: the cycle (later than now) of its head's first step inside.
    uint64_t inject(Packet &p, uint64_t now);
    // Its head at p.at: the cycle of its next step; `delivered` if that is the receiver's.
    virtual uint64_t route(Packet &p, uint64_t now, bool &delivered) = 0;
    virtual unsigned hops(unsigned a, unsigned b) const = 0; // from a node to another one
    unsigned flits(unsigned bytes) const { return bytes <= 4 ? 1 : 1 + (bytes + flit - 1) / flit; }
    uint64_t sent_flits = 0, sent_packets = 0, waited = 0;
    template <class A> void archive(A &a) { a(sent_flits, sent_packets, waited, free); }

  protected:
    Noc(const Config &config, unsigned links_of_node);
    static constexpr unsigned kOut = 0, kIn = 3, kLinks = 6; // resources of a node: ports by End; links
    // The resource of the packet's network at p.at: the cycle from which on it has the packet.
    uint64_t pass(const Packet &p, unsigned resource, uint64_t now);
    uint64_t keeps(const Packet &p) const { return uint64_t(p.flits) * occupancy; }
    const unsigned latency, hop, occupancy, flit;

  private:
    static constexpr unsigned kNodes = map::kMaxClusters; // a mesh has routers where its square has no clusters, too
    const unsigned resources;
    std::vector<uint64_t> free; // [network][node][resource]
};

// Routers in a square, one at each node, with a link to each neighbour; first along the row, then along the column.
// Alone, f flits over h hops take  latency + h * hop + f * occupancy  cycles one way.
class Mesh final : public Noc
{
  public:
    explicit Mesh(const Config &config);
    uint64_t route(Packet &p, uint64_t now, bool &delivered) override;
    unsigned hops(unsigned a, unsigned b) const override;

  private:
    const unsigned width;
};

// One switch between all ends: packets meet at ports only. Alone, f flits take  latency + hop + f * occupancy.
class Crossbar final : public Noc
{
  public:
    explicit Crossbar(const Config &config) : Noc(config, 0) {}
    uint64_t route(Packet &p, uint64_t now, bool &delivered) override;
    unsigned hops(unsigned a, unsigned b) const override { return a != b; }
};

} // namespace mc
