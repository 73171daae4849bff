// One core: registers, counters, and how it stands with the kernel that runs it.
#pragma once
#include "isa/op.h"
#include "noc/noc.h"
#include <cstdint>
#include <string>

namespace mc
{

struct Code; // decoded code of one memory

// Why a core does not run.
enum class Wait : uint8_t { none, memory, stores, refill, hws_signal, hws_word, hws_any, wfi, dma_queue, stopped };

// What a core counts. The cycles of a core are its instructions plus all its stalls plus the cycles asleep.
#define MC_COUNTERS(X)                                                           \
    X(instructions, "instructions")                                              \
    X(load_use, "cycles before an instruction that needs the value just loaded") \
    X(taken, "taken branches")                                                   \
    X(jumps, "jumps")                                                            \
    X(long_ops, "cycles of multiplications and divisions beyond the first")      \
    X(float_ops, "cycles of float operations beyond the first")                  \
    X(tcdm, "accesses to the own cluster's TCDM")                                \
    X(conflicts, "cycles in which a bank was taken")                             \
    X(remote, "accesses over the NoC")                                           \
    X(remote_stall, "cycles in which such an access was under way")              \
    X(misses, "lines fetched into the instruction cache")                        \
    X(miss_stall, "cycles in which a line was under way")                        \
    X(hws_stall, "cycles asleep for the synchroniser (waits, wfi)")              \
    X(dma_stall, "cycles before a full DMA queue")

struct Counters {
#define X(name, text) uint64_t name = 0;
    MC_COUNTERS(X)
#undef X
    template <class A> void archive(A &a)
    {
#define X(name, text) a(name);
        MC_COUNTERS(X)
#undef X
    }
};

struct alignas(64) Core {
    uint32_t x[33] = {}; // x[32] takes what is written to x0
    uint8_t fflags = 0, frm = 0;
    uint16_t id = 0, cluster = 0, local = 0;
    Op *op = nullptr;             // the next instruction, or the one under way
    const void *entry = nullptr;  // run-ahead: where its next event begins
    const void *native = nullptr; // the same for translated code
    uint64_t *column = nullptr;   // its word of the wheel's slot 0, and its bit there
    uint64_t bit = 0;
    uint8_t *tcdm = nullptr;
    uint64_t *banks = nullptr;
    uint32_t *tags = nullptr;
    Code *code = nullptr;
    uint32_t tcdm_base = 0;
    uint32_t stack_limit = 0;
    uint64_t at = 0; // the cycle of its next event; while it waits: when the wait began
    Counters n;
    uint32_t f[32] = {};
    Wait wait = Wait::none;
    uint8_t wait_slot = 0;
    bool resumed = false; // lock step: the access under way is complete, only its instruction's end is left
    bool event =
        false; // lock step: what comes next is an event (in the run-ahead kernel the core stands in the wheel with it)
    enum class Pending : uint8_t { none, stack, fetch } pending = Pending::none; // a fault of the instruction before
    uint64_t bound = 512; // where the next checkpoint is an event
    uint32_t wait_address = 0;
    uint64_t since = 0;
    uint32_t reservation = 1; // an odd address is none
    uint32_t posted = 0;      // stores under way that it does not wait for, all to one receiver:
    End posted_to{};
    uint16_t posted_node = 0;
    uint32_t region = 0;
    uint32_t csr_mstatus = 0x6000, csr_mie = 0, csr_mtvec = 0, csr_mscratch = 0, csr_mepc = 0, csr_mcause = 0,
             csr_mtval = 0;

    // All but the instruction (op, code), what never changes, and what the kernels make anew.
    template <class A> void archive(A &a)
    {
        a(x, f, fflags, frm, stack_limit, at, n, wait, wait_slot, resumed, pending, wait_address, since, reservation);
        a(posted, posted_to, posted_node, region);
        a(csr_mstatus, csr_mie, csr_mtvec, csr_mscratch, csr_mepc, csr_mcause, csr_mtval);
    }
};

// An access: its size, what it stores, and what its result does to the core.
inline unsigned access_size(Kind k)
{
    return k == Kind::lb || k == Kind::lbu || k == Kind::sb   ? 1
           : k == Kind::lh || k == Kind::lhu || k == Kind::sh ? 2
                                                              : 4;
}
inline uint32_t operand(const Core &c, const Op &op) { return op.kind == Kind::fsw ? c.f[op.rs2] : c.x[op.rs2]; }
void write_result(Core &c, const Op &op, uint32_t value);

std::string waits_for(const Core &c); // in words; empty: it waits for nothing

} // namespace mc
