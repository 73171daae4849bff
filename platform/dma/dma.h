// The DMA engine of a cluster: transfers between its TCDM and any memory, one after the other, cut into bursts of which
// several are under way.
//
// A core writes source, destination, bytes of a row and, for more than one row, rows and strides. The registers are its
// own, so cores do not disturb each other. Then it writes to kStart the slot of the synchroniser that shall be
// signalled at the end (32: none). Everything is a multiple of 4 bytes.
// The side in the TCDM takes 8 bytes a cycle and obeys the banks.
#pragma once
#include "core/code.h"
#include "event/pool.h"
#include "hws/hws.h"
#include "memory/traffic.h"
#include <deque>
#include <vector>

namespace mc
{

namespace dma
{
constexpr unsigned kQueue = 16;
enum : uint32_t {
    kSource = 0,
    kDestination = 4,
    kBytes = 8,
    kRows = 12,
    kSourceStride = 16,
    kDestinationStride = 20,
    kStart = 24,
    kId = 28,
    kDone = 32,
    kFree = 36
};
} // namespace dma

class Dma final : public Agent
{
  public:
    // What all engines of a machine share.
    struct Shared {
        const Config &config;
        Clock &clock;
        const Codes &codes;
        Memory &memory;
        Traffic &traffic;
        std::vector<Core> &cores;
    };
    Dma(Shared &shared, Hws &hws, unsigned cluster);
    uint32_t load(Core &c, uint32_t offset);
    bool store(Core &c, uint32_t offset, uint32_t value); // false: the queue is full, the core waits
    void happen(Event &e) override;
    uint64_t transfers = 0, bytes = 0, busy = 0;

    struct Transfer {
        uint32_t source, destination, bytes, rows, source_stride, destination_stride;
        uint16_t core;
        uint8_t slot;
        uint32_t id;
        uint64_t queued, began, ended;
        template <class A> void archive(A &a)
        {
            a(source, destination, bytes, rows, source_stride, destination_stride);
            a(core, slot, id, queued, began, ended);
        }
    };
    std::vector<Transfer> finished; // for the trace, which empties it
    bool keep_finished = false;

    template <class A> void archive(A &a)
    {
        a(transfers, bytes, busy, port_free, who, queue, waiting, row, column, under_way, started, done);
    }
    Event &set_up_event() { return setup; }
    // A burst of this engine; null: a new one.
    template <class A> Event &archive_event(A &a, Event *e)
    {
        Burst &b = e ? static_cast<Burst &>(*e) : bursts.make();
        b.home = this;
        a(b);
        return b;
    }

  private:
    struct Who {
        uint32_t reg[6] = {0, 0, 0, 1, 0, 0};
        uint32_t id = 0;
        template <class A> void archive(A &a) { a(reg, id); }
    };
    // A burst takes its bytes into the buffer, and then brings them to their place. Its beats in the TCDM are this
    // agent's events; the network's way of it is Traffic's.
    struct Burst : Bytes {
        enum class Way : uint8_t { fetch, read, write, put } way; // over the network; beats; beats; over the network
        uint32_t destination;
        template <class A> void archive(A &a)
        {
            Bytes::archive(a);
            a(way, destination);
        }
    };
    Shared &shared;
    Clock &clock;
    Hws &hws;
    const unsigned cluster;
    std::vector<Who> who;
    std::deque<Transfer> queue;
    std::deque<uint16_t> waiting; // cores before a full queue
    uint32_t row = 0, column = 0, under_way = 0, started = 0, done = 0;
    uint64_t port_free = 0; // the TCDM side: one beat a cycle
    Event setup;            // of the transfer at the queue's head
    Pool<Burst> bursts;

    void check(Core &c, Transfer &t) const;
    void set_up();
    void issue();
    void beat(Burst &b);
    void burst_done(Burst &b);
};

} // namespace mc
