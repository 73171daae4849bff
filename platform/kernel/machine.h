// The machine: its parts, put together, and the two kernels that run it.
//
// Both kernels call the same functions of the parts, in the same order, with the cycle in which it happens; what
// differs between them is only how they find out what happens next.
#pragma once
#include "core/code.h"
#include "core/icache.h"
#include "core/stop.h"
#include "dma/dma.h"
#include "hws/hws.h"
#include "kernel/bus.h"
#include "memory/traffic.h"
#include <deque>
#include <string>
#include <vector>

namespace mc
{

struct Machine {
    explicit Machine(const Config &config);
    Machine(const Machine &) = delete;

    const Config config;
    std::vector<Core> cores;
    Clock clock;
    Icache icache;
    Codes codes;
    Memory memory;
    Traffic traffic;
    std::deque<Hws> hws; // of each cluster, as are the DMA engines
    std::deque<Dma> dma;
    Bus bus;

    // Before the run: code is added, then prepared once.
    void add_code(uint32_t low, uint32_t size) { codes.add(low, size); }
    void prepare_code();
    bool put_arguments(const std::vector<std::string> &arguments); // false: there are too many
    void start(uint32_t entry);                                    // all cores at `entry`, a0 = argc, a1 = argv
    std::string arguments;                                         // for semihosting's SYS_GET_CMDLINE

    // For loaders, semihosting, debuggers.
    uint8_t *at(uint32_t address, uint32_t bytes, unsigned cluster) { return memory.at(address, bytes, cluster); }
    Code *code_of(uint32_t pc) { return codes.of(pc); }
    uint32_t pc(const Core &c) const { return address_of(c); }

    // How the run-ahead kernel runs; no counter depends on it.
    bool translate = true;
    unsigned hot = 8; // how often code is met before it is translated

  private:
    uint32_t boot_argc = 0, boot_argv = 0;
    Hws::Shared hws_shared;
    Dma::Shared dma_shared;
};

struct Hooks; // what watches: trace, profile, log

// The two kernels. They run until the program ends (Exit) or fails (Fault). Then they bring the other cores to the end
// of what these do before their next shared event, at most to the next multiple of 512 cycles. So both leave the same
// counters. They return where Clock::run_until() says; then either one may go on.
void run_ahead(Machine &m);
void run_lock_step(Machine &m, Hooks *hooks);
// Lock step: brings all cores as far as the run-ahead kernel would have brought them.
void catch_up(Machine &m);

struct Hooks {
    virtual ~Hooks() = default;
    virtual void begin() {}                             // before the first cycle that is watched
    virtual void end() {}                               // after the last one, or where the run ends without any
    virtual void before(Core &, uint64_t) {}            // an instruction is about to begin
    virtual void after(Core &, const Op &, uint64_t) {} // it ended or sleeps; the core's op is the next one
};

} // namespace mc
