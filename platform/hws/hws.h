// The hardware synchroniser of a cluster.
//
// Signals: one bit for each core and slot (16 slots); raising a raised one changes nothing. Words: a queue of four for
// each core and slot.
// Gather: a slot counts arrivals of the cores in a mask and of other clusters in a mask, then signals one core,
// releases all of them
// (a barrier), or arrives in its parent's slot. A core that waits sleeps: it makes no access until it is woken.
// A core that is not yet waiting finds the signal or word later; arrivals may come before the masks are set.
#pragma once
#include <cstdint>
#include <vector>

namespace mc
{

class Machine;
struct Core;
struct Op;
struct Message;

namespace hws
{
constexpr unsigned kSlots = 16, kDepth = 4;
enum : uint32_t { // offsets; [slot] * 4 below 0x280
    kSignal = 0x000,
    kMultiSignal = 0x040,
    kWord = 0x080,
    kWaitSignal = 0x0c0,
    kWaitWord = 0x100,
    kArrive = 0x140,
    kGatherCores = 0x180,
    kGatherClusters = 0x1c0, // low; kGatherClustersHigh for 32 and above
    kGatherClustersHigh = 0x200,
    kGatherNotify = 0x240,
    kTargetCores = 0x280,
    kTargetClusters = 0x284,
    kTargetClustersHigh = 0x288,
    kPending = 0x28c,
    kWaitAny = 0x290,
    kAnyMask = 0x294,
};
enum : uint32_t { kNotifyCore = 0xf, kNotifyAll = 0x100, kNotifyParent = 0x200 }; // parent's number in bits 16 to 21
} // namespace hws

class Hws
{
  public:
    explicit Hws(unsigned cores) : who(cores) {}
    // An access of a core of this cluster. False: the core sleeps.
    bool load(Machine &m, Core &c, uint32_t offset, uint32_t &value);
    void store(Machine &m, Core &c, uint32_t offset, uint32_t value);
    bool sleepy(Machine &m, Core &c); // wfi: true if nothing is pending
    // Messages arrive.
    void signal(Machine &m, unsigned cluster, unsigned slot, uint32_t mask);
    void word(Machine &m, unsigned cluster, const Message &msg);
    void arrival(Machine &m, unsigned cluster, unsigned slot, int core, int from);
    void release(Machine &m, unsigned cluster, unsigned slot);
    uint64_t signals = 0, words = 0, gathers = 0;

    struct Slot {
        uint32_t cores = 0, arrived = 0, notify = 0;
        uint64_t clusters = 0, arrived_clusters = 0;
        bool armed = false; // by the store of the cores' mask, which comes last
    };
    Slot slots[hws::kSlots];

  private:
    struct Who {
        uint16_t signals = 0;
        uint32_t target_cores = 0, any_mask = 0;
        uint64_t target_clusters = 0;
        uint8_t queued[hws::kSlots] = {};
        uint32_t words[hws::kSlots][hws::kDepth] = {};
    };
    std::vector<Who> who;

    uint32_t pending(const Who &w) const;
    void wake(Machine &m, unsigned cluster, unsigned local);
    void complete(Machine &m, unsigned cluster, unsigned slot);
    void send(Machine &m, unsigned from, unsigned to, Message *msg);
    void check_cores(Machine &m, Core &c, uint32_t mask);
    void check_clusters(Machine &m, Core &c, uint64_t mask);
};

} // namespace mc
