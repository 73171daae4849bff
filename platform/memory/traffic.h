// What is under way on the network: requests to other clusters' TCDM, to L2 and to main memory, and their answers.
//
// A request goes from its cluster's port over the network to the memory's port, is served there, and comes back the
// same way. Requests from other clusters enter a cluster in the order in which they came: while the first one meets a
// taken bank, the others wait behind it. L2 and main memory serve one at a time, 8 bytes after the other.
#pragma once
#include "event/event.h"
#include "memory/memory.h"
#include "noc/noc.h"
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
};

class Traffic final : public Agent
{
  public:
    Traffic(const Config &config, Clock &clock, Memory &memory);

    // Sends a request from a cluster, whose address, bytes, kind and home are set. `when`: a later cycle.
    void send(Request &r, unsigned cluster);
    void send_in(Request &r, unsigned cluster, uint64_t when);
    void happen(Event &e) override;

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
