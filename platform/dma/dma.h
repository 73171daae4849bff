// The DMA engine of a cluster: transfers between its TCDM and any memory, one after the other, cut into bursts of which
// several are under way.
//
// A core writes source, destination, bytes of a row and, for more than one row, rows and strides. The registers are its
// own, so cores do not disturb each other. Then it writes to kStart the slot of the synchroniser that shall be
// signalled at the end (32: none). Everything is a multiple of 4 bytes.
// The side in the TCDM takes 8 bytes a cycle and obeys the banks.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

namespace mc
{

class Machine;
struct Core;
struct Message;

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

class Dma
{
  public:
    explicit Dma(unsigned cores) : who(cores) {}
    uint32_t load(Machine &m, Core &c, uint32_t offset);
    bool store(Machine &m, Core &c, uint32_t offset, uint32_t value); // false: the queue is full, the core waits
    void begin(Machine &m, unsigned cluster); // the transfer at the queue's head, after its setup
    void burst_done(Machine &m, unsigned cluster, Message *burst);
    uint64_t transfers = 0, bytes = 0, busy = 0;
    uint64_t port_free = 0; // the TCDM side: one beat a cycle

    struct Transfer {
        uint32_t source, destination, bytes, rows, source_stride, destination_stride;
        uint16_t core;
        uint8_t slot;
        uint32_t id;
        uint64_t queued, began, ended;
    };
    std::vector<Transfer> finished; // for the trace, which empties it
    bool keep_finished = false;

  private:
    struct Who {
        uint32_t reg[6] = {0, 0, 0, 1, 0, 0};
        uint32_t id = 0;
    };
    std::vector<Who> who;
    std::deque<Transfer> queue;
    std::deque<uint16_t> waiting; // cores before a full queue
    uint32_t row = 0, column = 0, under_way = 0, started = 0, done = 0;
    void issue(Machine &m, unsigned cluster);
};

} // namespace mc
