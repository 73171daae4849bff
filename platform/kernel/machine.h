// The machine: cores, memories, network, DMA, synchronisers, and every access to what they share.
//
// Both kernels call the same functions here, in the same order, with the cycle in which it happens; what differs
// between them is only how they
// find out what happens next. Functions that end the run throw (Exit, Fault); the core's registers and counters are
// then those of that cycle.
#pragma once
#include "base/config.h"
#include "core/core.h"
#include "dma/dma.h"
#include "hws/hws.h"
#include "kernel/wheel.h"
#include "memory/map.h"
#include "noc/noc.h"
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace mc
{

// The decoded code of one memory. Code does not change after loading: a store into it is a fault.
struct Code {
    uint32_t low = 0, size = 0; // low is a multiple of 64 KB, so a line's set is that of its number here
    std::vector<Op> ops;        // one for each halfword, and one more
    const uint8_t *bytes = nullptr;
    bool holds(uint32_t pc) const { return pc - low < size; }
};

struct Range {
    uint32_t low, size;
    bool holds(uint32_t a, uint32_t n) const { return a - low < size && n <= size - (a - low); }
};

// A message under way: an access of a core, a line, a burst of the DMA, or word of a synchroniser.
struct Message {
    enum class What : uint8_t { access, refill, burst, transfer, signal, word, arrival, release };
    enum class Step : uint8_t { inject, route, serve, beat, done };
    Message *next = nullptr;
    uint64_t when = 0;
    What what{};
    Step step{};
    uint16_t core = 0, cluster = 0;
    Packet packet;
    const Op *op = nullptr;
    uint32_t address = 0, data = 0, bytes = 0;
    // bursts
    uint32_t other = 0, done = 0;
    bool writes = false; // the beats under way store into the TCDM
    bool queued = false; // at a cluster's port
    bool posted = false; // a store that its core does not wait for
    // synchroniser
    uint8_t slot = 0;
    uint32_t mask = 0;
    std::vector<uint8_t> buffer;
};

struct Exit {
    int code;
};
struct Fault {
    Core *core; // null: of no single one
    std::string text;
};

struct Hooks; // what watches: trace, profile

class Machine
{
  public:
    explicit Machine(const Config &config);
    ~Machine();
    Machine(const Machine &) = delete;

    const Config config;
    std::atomic<uint64_t> last; // the last cycle (run.limit); 0: an interrupt ends the run
    std::vector<Core> cores;
    std::vector<std::unique_ptr<uint8_t[]>> tcdm;
    std::unique_ptr<uint8_t[], void (*)(uint8_t *)> l2, main;
    std::vector<Code> codes;
    std::vector<Range> executable;
    Wheel wheel;
    Noc noc;
    std::vector<Hws> hws;
    std::vector<Dma> dma;
    uint64_t now = 0;
    bool lock_step = false;
    std::string arguments;       // for semihosting's SYS_GET_CMDLINE
    uint64_t histogram[16] = {}; // remote accesses by cycles: bucket i holds those below 2^i
    uint64_t port_conflicts = 0, tcdm_atomics = 0;

    // The bytes at an address, null if there is no such memory (peripherals have none); for loaders, semihosting,
    // debuggers.
    uint8_t *at(uint32_t address, uint32_t bytes, unsigned cluster);
    void start(uint32_t entry); // all cores at `entry`, a0 = argc, a1 = argv
    bool put_arguments(const std::vector<std::string> &arguments);
    void add_code(uint32_t low, uint32_t size); // executable bytes; call prepare_code() after the last
    void prepare_code();

    // Decodes the op at its place in `code`.
    void prepare(Code &code, Op &op);
    Code *code_of(uint32_t pc)
    {
        for (Code &c : codes)
            if (c.holds(pc))
                return &c;
        return nullptr;
    }
    uint32_t pc(const Core &c) const
    {
        return c.code ? c.code->low + uint32_t(c.op - c.code->ops.data()) * 2 : c.wait_address;
    }
    [[noreturn]] void raise_pending(Core &c); // the fault that the instruction before has left
    static uint64_t bound_after(uint64_t cycle) { return (cycle / 512 + 1) * 512; }
    [[noreturn]] void deadlock();
    [[noreturn]] void too_long();

    // Instruction cache: is line `line` (numbered over all memory) there? Makes it the most recent one.
    bool cached(Core &c, uint32_t line)
    {
        uint32_t *t = &c.tags[(line & set_mask) << way_shift];
        if (t[0] == line)
            return true;
        if (way_shift && t[1] == line) {
            std::swap(t[0], t[1]);
            return true;
        }
        return false;
    }
    void refill(Core &c, uint32_t line); // the core waits; it goes on with the same instruction
    void empty_cache(Core &c);
    unsigned line_shift, set_mask, way_shift;

    enum class Outcome { done, retry, blocked };
    // The event of a shared instruction in cycle `now`. done: the result is in the registers, the instruction takes
    // op.cost cycles.
    // retry: a bank was taken, again next cycle. blocked: the core waits; resume() comes.
    Outcome access(Core &c, const Op &op);
    // A bank of cluster `cluster` for one word in this cycle. False: taken by something else.
    bool bank(uint64_t *stamps, uint32_t word, bool load)
    {
        uint64_t &s = stamps[word & bank_mask], mine = now << 20 | uint64_t(word) << 1 | load;
        if (s >= now << 20)
            return load && s == mine;
        s = mine;
        return true;
    }
    // The core goes on in cycle `when` (later than now): with the instruction after the one under way (complete), or
    // with the same once more.
    void resume(Core &c, uint64_t when, bool complete);
    void messages(); // those of this cycle
    void schedule(Message *m, uint64_t when) { wheel.add(m, when); }
    void noc_request(Message &m, uint32_t address, unsigned flits); // the packet to the memory of `address`
    Message *make();
    void recycle(Message *m);
    [[noreturn]] void fault(Core &c, std::string text) { throw Fault{&c, std::move(text)}; }
    void stored(uint32_t address, uint32_t bytes); // reservations on these bytes are gone
    std::string waits_for(const Core &c) const;
    int (*semihost)(Machine &, Core &, void *context) = nullptr; // 0: no semihosting call, else 1; throws Exit
    void *semihost_context = nullptr;
    const void *next_entry = nullptr, *again_entry = nullptr; // run-ahead: labels
    // stubs of the translator: goes on at Core::entry; what stands for a block or event that is not translated
    const void *native_entry = nullptr, *no_block = nullptr, *no_event = nullptr;
    bool translate = true;
    unsigned hot = 8; // how often code is met before it is translated
    unsigned reservations = 0;
    uint32_t description[8]; // the words at map::kSystem
    unsigned bank_mask;

  private:
    friend class Hws;
    friend class Dma;
    std::vector<uint64_t> stamps_store;
    std::vector<uint32_t> tags_store;
    std::vector<std::deque<Message *>>
        ports; // requests from other clusters, in the order in which they came; the first one is served
    std::vector<Message *> free_messages, all_messages;
    uint64_t l2_free = 0, memory_free = 0;
    Costs costs;
    uint32_t boot_argc = 0, boot_argv = 0;

    Outcome remote(Core &c, const Op &op, uint32_t address);
    bool passes_posted(const Core &c, Kind k, uint32_t address) const;
    Outcome system(Core &c, const Op &op, uint32_t address);
    uint32_t operand(const Core &c, const Op &op) const;
    uint32_t perform(Core &c, Kind k, uint8_t *p, uint32_t address, uint32_t data);
    void write_result(Core &c, const Op &op, uint32_t value);
    void step(Message *m);
    void serve(Message *m);
    void leave_port(Message *m, unsigned cluster);
    void deliver(Message *m);
    bool beat(Message *m, unsigned cluster, uint32_t address, bool store);
};

inline unsigned access_size(Kind k)
{
    return k == Kind::lb || k == Kind::lbu || k == Kind::sb   ? 1
           : k == Kind::lh || k == Kind::lhu || k == Kind::sh ? 2
                                                              : 4;
}

// The two kernels. They run until the program ends (Exit) or fails (Fault). Then they bring the other cores to the end
// of what these do before their next shared event, at most to the next multiple of 512 cycles. So both leave the same
// counters.
void run_ahead(Machine &m);
void run_lock_step(Machine &m, Hooks *hooks);

struct Hooks {
    virtual ~Hooks() = default;
    virtual void before(Core &, uint64_t) {}            // an instruction is about to begin
    virtual void after(Core &, const Op &, uint64_t) {} // it ended or sleeps; the core's op is the next one
};

} // namespace mc
