// The hardware synchroniser of a cluster.
//
// Signals: one bit for each core and slot (16 slots); raising a raised one changes nothing. Words: a queue of four for
// each core and slot.
// Gather: a slot counts arrivals of the cores in a mask and of other clusters in a mask, then signals one core,
// releases all of them
// (a barrier), or arrives in its parent's slot. A core that waits sleeps: it makes no access until it is woken.
// A core that is not yet waiting finds the signal or word later; arrivals may come before the masks are set.
#pragma once
#include "event/clock.h"
#include "event/pool.h"
#include "noc/noc.h"
#include <deque>
#include <vector>

namespace mc
{

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

class Hws final : public Agent
{
  public:
    // What synchronisers say to each other, or to themselves a little later.
    struct Message : Event {
        enum class What : uint8_t { signal, word, arrival, release } what;
        uint8_t slot;
        uint16_t from;  // word: the core that sends it; arrival: the cluster
        uint32_t cores; // signal, word: the cores that get it, a bit each
        uint32_t data;  // word
        template <class A> void archive(A &a) { a(what, slot, from, cores, data); }
    };
    // What all synchronisers of a machine share.
    struct Shared {
        const Config &config;
        Clock &clock;
        const Noc &noc;
        std::vector<Core> &cores;
        std::deque<Hws> &all;
        Pool<Message> messages{};
    };
    Hws(Shared &shared, unsigned cluster);

    // An access of a core of this cluster. False: the core sleeps.
    bool load(Core &c, uint32_t offset, uint32_t &value);
    void store(Core &c, uint32_t offset, uint32_t value);
    bool sleepy(Core &c); // wfi: true if nothing is pending
    void signal_later(unsigned slot, uint32_t cores);
    void happen(Event &e) override;
    uint64_t signals = 0, words = 0, gathers = 0;

    struct Slot {
        uint32_t cores = 0, arrived = 0, notify = 0;
        uint64_t clusters = 0, arrived_clusters = 0;
        bool armed = false; // by the store of the cores' mask, which comes last
        template <class A> void archive(A &a) { a(cores, arrived, notify, clusters, arrived_clusters, armed); }
    };
    Slot slots[hws::kSlots];

    template <class A> void archive(A &a) { a(signals, words, gathers, slots, who); }
    // A message to this synchroniser; null: a new one.
    template <class A> Event &archive_event(A &a, Event *e)
    {
        Message &m = e ? static_cast<Message &>(*e) : shared.messages.make();
        a(m);
        return m;
    }

  private:
    struct Who {
        uint16_t signals = 0;
        uint32_t target_cores = 0, any_mask = 0;
        uint64_t target_clusters = 0;
        uint8_t queued[hws::kSlots] = {};
        uint32_t words[hws::kSlots][hws::kDepth] = {};
        template <class A> void archive(A &a) { a(signals, target_cores, any_mask, target_clusters, queued, words); }
    };
    Shared &shared;
    Clock &clock;
    const unsigned cluster;
    std::vector<Who> who;

    uint32_t pending(const Who &w) const;
    void wake(unsigned local);
    void send(unsigned to, const Message &message);
    void signal(unsigned slot, uint32_t cores);
    void word(const Message &message);
    void arrived(unsigned slot);
    void release(unsigned slot);
    void check_cores(Core &c, uint32_t mask) const;
    void check_clusters(Core &c, uint64_t mask) const;
};

} // namespace mc
