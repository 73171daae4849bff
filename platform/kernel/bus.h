// A core's way out: its loads, stores and atomic operations, and the lines that its instruction cache misses.
//
// An access to the own cluster happens at once, in a bank or a register of a peripheral. One to elsewhere becomes a
// request on the network, and the core waits for the answer, which comes back here.
#pragma once
#include "core/icache.h"
#include "dma/dma.h"
#include "event/pool.h"
#include "hws/hws.h"
#include "memory/traffic.h"
#include <functional>

namespace mc
{

class Bus final : public Agent
{
  public:
    Bus(const Config &config, Clock &clock, std::vector<Core> &cores, const Icache &icache, const Codes &codes,
        Memory &memory, Traffic &traffic, std::deque<Hws> &hws, std::deque<Dma> &dma);

    enum class Outcome { done, retry, blocked };
    // The event of a shared instruction in this cycle. done: the result is in the registers, the instruction takes
    // op.cost cycles. retry: a bank was taken, again next cycle. blocked: the core waits; Clock::resume() comes.
    Outcome access(Core &c, const Op &op);
    void refill(Core &c, uint32_t line); // the core waits; it goes on with the same instruction
    void happen(Event &e) override;      // an answer is here

    template <class A> void archive(A &a) { a(histogram); }
    Line &line(size_t core) { return lines[core]; }
    // An access of a core; null: a new one.
    template <class A> Event &archive_event(A &a, Event *e, std::vector<Core> &cores, Codes &code)
    {
        Access &access = e ? static_cast<Access &>(*e) : accesses.make();
        uint16_t core = access.core ? access.core->id : uint16_t(0);
        Op *op = const_cast<Op *>(access.op);
        if (!e)
            op = nullptr;
        access.home = this;
        access.archive(a);
        a(core, access.data, access.posted);
        code.archive_op(a, op);
        if (core >= cores.size())
            throw CheckpointError("an access is nobody's");
        access.core = &cores[core];
        access.op = op;
        return access;
    }

    std::function<bool(Core &)> semihost;       // an ebreak; false: it is no semihosting call. Throws Exit
    std::function<void(Core &, uint32_t)> mark; // a write of the CSR kStats
    uint64_t histogram[16] = {};                // remote accesses by cycles: bucket i holds those below 2^i
    uint32_t description[8];                    // the words at map::kSystem

  private:
    const Config &config;
    Clock &clock;
    const Icache &icache;
    const Codes &codes;
    Memory &memory;
    Traffic &traffic;
    std::deque<Hws> &hws;
    std::deque<Dma> &dma;
    Pool<Access> accesses;
    std::vector<Line> lines; // of each core: the one that it waits for

    Outcome local(Core &c, const Op &op, uint32_t address);
    Outcome peripheral(Core &c, const Op &op, uint32_t offset);
    Outcome remote(Core &c, const Op &op, uint32_t address);
    Outcome system(Core &c, const Op &op, uint32_t address);
    Outcome loaded(Core &c, const Op &op, uint32_t value);
    bool passes_posted(const Core &c, Kind k, uint32_t address) const;
    void posted_done(Core &c);
};

} // namespace mc
