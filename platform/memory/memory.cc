#include "memory/memory.h"
#include "base/text.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace mc
{

// Zeroed memory that costs nothing until it is touched.
std::unique_ptr<uint8_t[], Memory::Pages> Memory::pages(size_t bytes)
{
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        throw ConfigError(text("no %zu bytes for the simulated memory", bytes));
    return {static_cast<uint8_t *>(p), Pages{bytes}};
}

void Memory::Pages::operator()(uint8_t *p) const { munmap(p, bytes); }

Memory::Memory(const Config &given, const Clock &c, std::vector<Core> &all)
    : bank_mask(unsigned(given.tcdm_banks) - 1), config(given), clock(c), cores(all), l2(pages(given.l2_size)),
      main(pages(given.memory_size)), stamps(size_t(64) * given.platform_clusters)
{
    for (uint64_t k = 0; k < config.platform_clusters; k++)
        tcdm.push_back(std::make_unique<uint8_t[]>(config.tcdm_size));
    for (Core &core : cores) {
        core.tcdm = tcdm[core.cluster].get();
        core.tcdm_base = map::kCluster + core.cluster * map::kStride;
        core.banks = &stamps[size_t(64) * core.cluster];
    }
}

uint8_t *Memory::at(uint32_t a, uint32_t n, unsigned cluster) const
{
    auto in = [&](uint32_t low, uint64_t size) { return a - low < size && n <= size - (a - low); };
    if (in(map::kL2, config.l2_size))
        return l2.get() + (a - map::kL2);
    if (in(map::kMain, config.memory_size))
        return main.get() + (a - map::kMain);
    uint32_t offset;
    if (a - map::kAlias < map::kStride) {
        offset = a - map::kAlias;
    } else if (a - map::kCluster < config.platform_clusters * map::kStride) {
        cluster = (a - map::kCluster) / map::kStride;
        offset = (a - map::kCluster) % map::kStride;
    } else {
        return nullptr;
    }
    if (offset >= map::kTestAndSet && offset < map::kHws)
        offset -= map::kTestAndSet;
    return offset < config.tcdm_size && n <= config.tcdm_size - offset ? tcdm[cluster].get() + offset : nullptr;
}

bool Memory::access(Core &c, Kind k, uint32_t a, uint32_t data, uint32_t &value)
{
    uint32_t cluster = (a - map::kCluster) / map::kStride, offset = (a - map::kCluster) % map::kStride;
    bool load = is_load(k) || k == Kind::lr, test_and_set = false;
    if (offset >= map::kTestAndSet) {
        offset -= map::kTestAndSet;
        a -= map::kTestAndSet;
        test_and_set = is_load(k);
        load = load && !test_and_set;
    }
    uint64_t &taken = stamp(a), mine = clock.now << 20 | uint64_t(offset / 4) << 1 | load;
    if (taken >= clock.now << 20) {
        if (!load || taken != mine) // loads of one word share their access
            return false;
    } else {
        taken = mine;
    }
    if (!is_store(k) && !load) // read, then written: the bank is taken for longer
        taken += (config.tcdm_atomic - 1) << 20;
    uint8_t *p = tcdm[cluster].get() + offset;
    value = perform(c, k, p, a, data);
    if (test_and_set) {
        uint32_t one = 1, size = access_size(k);
        std::memcpy(p, &one, size);
        stored(a, size);
    }
    return true;
}

uint32_t Memory::beat(uint32_t a, uint8_t *buffer, uint32_t bytes, bool store)
{
    uint32_t cluster = (a - map::kCluster) / map::kStride, offset = (a - map::kCluster) % map::kStride,
             n = std::min(bytes, bank_mask ? 8u : 4u); // a single bank: a word a cycle
    auto mine = [&](uint32_t word) { return clock.now << 20 | uint64_t(word) << 1; };
    if (stamp(a) >= clock.now << 20 || (n > 4 && stamp(a + 4) >= clock.now << 20))
        return 0;
    stamp(a) = mine(offset / 4);
    if (n > 4)
        stamp(a + 4) = mine(offset / 4 + 1);
    uint8_t *p = tcdm[cluster].get() + offset;
    if (store) {
        std::memcpy(p, buffer, n);
        stored(a, n);
    } else {
        std::memcpy(buffer, p, n);
    }
    return n;
}

void Memory::drop_reservations(uint32_t address, uint32_t bytes)
{
    for (Core &c : cores)
        if (!(c.reservation & 1) && c.reservation < address + bytes && address < c.reservation + 4) {
            c.reservation = 1;
            reservations--;
        }
}

uint32_t Memory::perform(Core &c, Kind k, uint8_t *p, uint32_t a, uint32_t data)
{
    uint32_t old = 0, size = access_size(k);
    if (k == Kind::sc) {
        bool mine = c.reservation == a;
        if (!(c.reservation & 1)) {
            c.reservation = 1;
            reservations--;
        }
        if (!mine)
            return 1;
        std::memcpy(p, &data, 4);
        stored(a, 4);
        return 0;
    }
    if (!is_store(k))
        std::memcpy(&old, p, size);
    if (is_load(k))
        return old;
    if (k == Kind::lr) {
        reservations += c.reservation & 1;
        c.reservation = a;
        return old;
    }
    uint32_t v = data;
    switch (k) {
    case Kind::amoadd:
        v = old + data;
        break;
    case Kind::amoxor:
        v = old ^ data;
        break;
    case Kind::amoand:
        v = old & data;
        break;
    case Kind::amoor:
        v = old | data;
        break;
    case Kind::amomin:
        v = int32_t(old) < int32_t(data) ? old : data;
        break;
    case Kind::amomax:
        v = int32_t(old) > int32_t(data) ? old : data;
        break;
    case Kind::amominu:
        v = std::min(old, data);
        break;
    case Kind::amomaxu:
        v = std::max(old, data);
        break;
    default:
        break;
    }
    std::memcpy(p, &v, size);
    stored(a, size);
    return old;
}

} // namespace mc
