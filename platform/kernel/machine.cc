#include "kernel/machine.h"
#include "base/text.h"
#include <algorithm>
#include <sys/mman.h>

namespace mc
{
namespace
{

// Zeroed memory that costs nothing until it is touched.
uint8_t *pages(size_t bytes)
{
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        throw ConfigError(text("no %zu bytes for the simulated memory", bytes));
    return static_cast<uint8_t *>(p);
}

} // namespace

Machine::Machine(const Config &given)
    : config(given), last(given.run_limit ? given.run_limit : ~uint64_t(0)), cores(config.all_cores()),
      l2(pages(config.l2_size), [](uint8_t *) {}), main(pages(config.memory_size), [](uint8_t *) {}),
      wheel(unsigned(config.platform_clusters + 3) / 4), noc(config)
{
    unsigned clusters = unsigned(config.platform_clusters), per = unsigned(config.platform_cores);
    line_shift = unsigned(std::countr_zero(config.icache_line));
    way_shift = unsigned(config.icache_ways - 1);
    set_mask = unsigned(config.icache_size / config.icache_line / config.icache_ways) - 1;
    bank_mask = unsigned(config.tcdm_banks) - 1;
    unsigned tags = (set_mask + 1) << way_shift;
    tags_store.assign(size_t(tags) * cores.size(), ~0u);
    stamps_store.assign(size_t(64) * clusters, 0);
    ports.resize(clusters);
    costs = {{1, uint8_t(config.core_mul), uint8_t(config.core_mulh), uint8_t(config.core_div), uint8_t(config.core_fp),
              uint8_t(config.core_fdiv)}};
    for (unsigned k = 0; k < clusters; k++) {
        tcdm.push_back(std::make_unique<uint8_t[]>(config.tcdm_size));
        hws.emplace_back(per);
        dma.emplace_back(per);
    }
    for (unsigned i = 0; i < cores.size(); i++) {
        Core &c = cores[i];
        c.id = uint16_t(i);
        c.cluster = uint16_t(i / per);
        c.local = uint16_t(i % per);
        c.tcdm = tcdm[c.cluster].get();
        c.tcdm_base = map::kCluster + c.cluster * map::kStride;
        c.banks = &stamps_store[size_t(64) * c.cluster];
        c.tags = &tags_store[size_t(tags) * i];
        unsigned bit = c.cluster * 16u + c.local;
        c.column = wheel.cores(0) + bit / 64;
        c.bit = uint64_t(1) << (bit % 64);
    }
    const uint32_t words[] = {0x4d43504c, // "MCPL"
                              clusters,
                              per,
                              uint32_t(config.tcdm_size),
                              uint32_t(config.l2_size),
                              uint32_t(config.memory_size),
                              uint32_t(config.tcdm_banks),
                              config.mesh_width()};
    std::copy(std::begin(words), std::end(words), description);
    now = 1; // a bank's stamp of cycle 0 is "never"
}

Machine::~Machine()
{
    munmap(l2.get(), config.l2_size);
    munmap(main.get(), config.memory_size);
    for (Message *m : all_messages)
        delete m;
}

bool Machine::put_arguments(const std::vector<std::string> &list)
{
    size_t bytes = 4 * (list.size() + 1);
    for (const std::string &s : list)
        bytes += s.size() + 1;
    bytes = (bytes + 15) & ~size_t(15);
    if (bytes > 65536)
        return false;
    boot_argc = uint32_t(list.size());
    boot_argv = uint32_t(map::kMain + config.memory_size - bytes);
    uint8_t *p = main.get() + config.memory_size - bytes;
    uint32_t text_at = boot_argv + 4 * (boot_argc + 1);
    for (size_t i = 0; i < list.size(); i++) {
        std::memcpy(p + 4 * i, &text_at, 4);
        std::memcpy(p + (text_at - boot_argv), list[i].c_str(), list[i].size() + 1);
        text_at += uint32_t(list[i].size() + 1);
        arguments += (i ? " " : "") + list[i];
    }
    return true;
}

void Machine::add_code(uint32_t low, uint32_t size)
{
    executable.push_back({low, size});
    uint32_t base = low & ~0xffffu;
    for (Code &c : codes)
        if ((c.low >= map::kMain) == (low >= map::kMain)) {
            uint32_t end = std::max(c.low + c.size, low + size);
            c.low = std::min(c.low, base);
            c.size = end - c.low;
            return;
        }
    codes.push_back({base, low + size - base, {}, nullptr});
}

void Machine::prepare_code()
{
    for (Code &c : codes) {
        c.size = (c.size + 1) & ~1u;
        c.ops.resize(c.size / 2 + 2);
        for (size_t i = 0; i < c.ops.size(); i++)
            c.ops[i].line = uint32_t((c.low + i * 2) >> line_shift);
        c.bytes = at(c.low, c.size, 0);
        if (!c.bytes) { // the last bytes of the memory: no whole 64 KB
            c.bytes = at(c.low, 2, 0);
        }
    }
}

void Machine::start(uint32_t entry)
{
    for (Core &c : cores) {
        c.code = code_of(entry);
        c.op = &c.code->ops[(entry - c.code->low) / 2];
        c.x[10] = boot_argc;
        c.x[11] = boot_argv;
        c.at = now;
        if (!lock_step)
            wheel.add_core(c.cluster * 16u + c.local, now);
    }
}

void Machine::prepare(Code &code, Op &op)
{
    uint32_t offset = uint32_t(&op - code.ops.data()) * 2, pc = code.low + offset;
    auto halfword = [&](uint32_t o) -> uint32_t {
        return o + 2 <= code.size ? uint32_t(code.bytes[o] | code.bytes[o + 1] << 8) : 0;
    };
    auto decode_at = [&](uint32_t o) { return decode(halfword(o) | halfword(o + 2) << 16, code.low + o); };
    const void *native = op.native;
    uint32_t line = op.line;
    uint8_t heat = op.heat;
    Op::State state = op.state;
    op = decode_at(offset);
    if (op.kind == Kind::fence && config.noc_posted)
        op.kind = Kind::drain;
    op.native = is_shared(op.kind) && native == no_block ? no_event : native;
    op.line = line;
    op.heat = heat;
    op.state = state;
    op.cost = op.kind == Kind::csr ? 1 : costs.of[op.cls];
    uint32_t after = pc + op.length * 2u;
    op.flags = uint8_t(((after >> line_shift) != (pc >> line_shift) ? kCrosses : 0) |
                       (op.length == 2 && ((pc + 2) >> line_shift) != (pc >> line_shift) ? kStraddles : 0));
    Op next = decode_at(offset + op.length * 2u);
    if (is_load(op.kind) || is_atomic(op.kind)) {
        if (op.kind == Kind::flw ? reads(next, op.rd, true) : op.rd != 32 && reads(next, op.rd, false)) {
            op.flags |= kUseNext;
            op.cost++;
        }
    } else if (op.rd == 2 && !is_shared(op.kind) && !is_jump(op.kind)) {
        bool to_float = (op.kind >= Kind::fadd && op.kind <= Kind::fmax) || op.kind == Kind::fmv_w_x ||
                        op.kind == Kind::fcvt_s_w || op.kind == Kind::fcvt_s_wu;
        if (!to_float && op.kind != Kind::fence && op.kind != Kind::fence_i)
            op.flags |= kWritesSp;
    }
    if (is_jump(op.kind) && op.kind != Kind::jalr && !code.holds(pc + uint32_t(op.imm) * 2))
        op.flags |= kFar;
}

void Machine::raise_pending(Core &c)
{
    if (c.pending == Core::Pending::stack)
        fault(c, text("stack pointer 0x%08x is below the stack's limit 0x%08x", c.x[2], c.stack_limit));
    if (c.wait_address & 1)
        fault(c, text("jump to the odd address 0x%08x", c.wait_address));
    fault(c, text("jump to 0x%08x, where there is no code", c.wait_address));
}

void Machine::deadlock()
{
    throw Fault{nullptr, "deadlock: every core waits, and nothing is under way that could wake one"};
}

void Machine::too_long()
{
    if (!last.load(std::memory_order_relaxed))
        throw Fault{nullptr, "interrupted"};
    now = config.run_limit + 1;
    throw Fault{nullptr, text("stopped after %llu cycles (run.limit)", (unsigned long long)config.run_limit)};
}

void Machine::empty_cache(Core &c) { std::fill(c.tags, c.tags + ((set_mask + 1) << way_shift), ~0u); }

std::string Machine::waits_for(const Core &c) const
{
    switch (c.wait) {
    case Wait::memory:
        return text("memory at 0x%08x", c.wait_address);
    case Wait::stores:
        return text("answers to %u stores", c.posted);
    case Wait::refill:
        return text("code at 0x%08x", c.wait_address);
    case Wait::hws_signal:
        return text("a signal in slot %u", c.wait_slot);
    case Wait::hws_word:
        return text("a word in slot %u", c.wait_slot);
    case Wait::hws_any:
        return "any of several signals or words";
    case Wait::wfi:
        return "any signal or word (wfi)";
    case Wait::dma_queue:
        return "room in the DMA queue";
    default:
        return "";
    }
}

} // namespace mc
