// What is under way on the network: requests to other clusters' TCDM, to L2 and to main memory, and their answers.
//
// A request goes from its cluster's port over the network to the memory's port, is served there, and comes back the
// same way. Requests from other clusters enter a cluster in the order in which they came: while the first one meets a
// taken bank, the others wait behind it. L2 and main memory serve one at a time, 8 bytes after the other.
#pragma once
#include "base/archive.h"
#include "event/event.h"
#include "memory/memory.h"
#include "noc/noc.h"
#include <algorithm>
#include <deque>
#include <vector>

namespace mc
{

// What all requests have; each kind adds what it needs.
struct Request : Event {
    enum class What : uint8_t { access, line, fetch, put };
    What what;
    enum class Step : uint8_t { inject, route, queue, serve } step{};
    Packet packet;
    Agent *home = nullptr; // gets the request back when its answer is there
    uint32_t address = 0, bytes = 0;
    template <class A> void archive(A &a) { a(what, step, packet, address, bytes); }

  protected:
    explicit Request(What w) : what(w) {}
};

// A load, a store or an atomic operation of a core.
struct Access : Request {
    Access() : Request(What::access) {}
    Core *core = nullptr;
    const Op *op = nullptr;
    uint32_t data = 0;   // what is stored; then what is loaded
    bool posted = false; // a store that its core does not wait for
};

// A line of a core's instruction cache.
struct Line : Request {
    Line() : Request(What::line) {}
    Core *core = nullptr;
};

// Bytes that are fetched from `address`, or put there.
struct Bytes : Request {
    Bytes() : Request(What::fetch) {}
    uint32_t done = 0; // bytes of the beats so far
    uint8_t buffer[256];
    template <class A> void archive(A &a)
    {
        Request::archive(a);
        a(done);
        a.bytes(buffer, std::min(size_t(bytes), sizeof buffer));
    }
};

class Traffic final : public Agent
{
  public:
    Traffic(const Config &config, Clock &clock, Memory &memory);

    // Sends a request from a cluster, whose address, bytes, kind and home are set. `when`: a later cycle.
    void send(Request &r, unsigned cluster);
    void send_in(Request &r, unsigned cluster, uint64_t when);
    void happen(Event &e) override;

    template <class A> void archive(A &a) { a(*noc, port_conflicts, l2_free, memory_free); }
    // The ports' queues of a checkpoint, as places in its list of events.
    template <class A> void archive_ports(A &a, const std::vector<Event *> &all)
    {
        for (auto &port : ports) {
            std::vector<uint32_t> places;
            for (Request *r : port)
                places.push_back(uint32_t(std::find(all.begin(), all.end(), r) - all.begin()));
            a(places);
            port.clear();
            for (uint32_t i : places)
                port.push_back(i < all.size() ? static_cast<Request *>(all[i])
                                              : throw CheckpointError("a port has no such request"));
        }
    }
    // Requests that wait behind the first one of a port, in no slot of the wheel.
    void waiting(std::vector<Event *> &to) const
    {
        for (auto &port : ports)
            for (size_t i = 1; i < port.size(); i++)
                to.push_back(port[i]);
    }

    const std::unique_ptr<Noc> noc;
    uint64_t port_conflicts = 0; // cycles in which a bank was taken, of ports and DMA

  private:
    const Config &config;
    Clock &clock;
    Memory &memory;
    std::vector<std::deque<Request *>> ports; // of each cluster; the first request is served
    uint64_t l2_free = 0, memory_free = 0;    // the cycle in which each can begin the next request

    void address(Request &r, unsigned cluster) const;
    void queue(Request &r);
    void serve_in_cluster(Request &r);
    void serve_in_memory(Request &r);
    void answer(Request &r, uint64_t when);
};

} // namespace mc
