// The memories' bytes, the banks of the clusters' scratchpads (TCDM), and what an access does to a word.
//
// The caller decides when it comes. It gets a word's bank for this cycle, or is told that the bank is taken.
#pragma once
#include "base/config.h"
#include "base/map.h"
#include "core/core.h"
#include "event/clock.h"
#include <memory>
#include <vector>

namespace mc
{

class Memory
{
  public:
    Memory(const Config &config, const Clock &clock, std::vector<Core> &cores);
    Memory(const Memory &) = delete;

    // The bytes at an address, null if there is no such memory (peripherals have none).
    uint8_t *at(uint32_t address, uint32_t bytes, unsigned cluster) const;
    bool in_tcdm(uint32_t address, unsigned cluster) const
    {
        return address - (map::kCluster + cluster * map::kStride) < config.tcdm_size;
    }

    // A core's access to a TCDM in this cycle; also by the address that tests and sets. False: its bank is taken.
    bool access(Core &c, Kind k, uint32_t address, uint32_t data, uint32_t &value);
    // Moves up to 8 bytes between a buffer and a TCDM. Returns how many: 0 if a bank is taken.
    uint32_t beat(uint32_t address, uint8_t *buffer, uint32_t bytes, bool store);
    // The operation itself at the bytes `p` of address `a`; what a load or an atomic returns.
    uint32_t perform(Core &c, Kind k, uint8_t *p, uint32_t a, uint32_t data);
    // After a store: reservations on these bytes are gone.
    void stored(uint32_t address, uint32_t bytes)
    {
        if (__builtin_expect(reservations, 0))
            drop_reservations(address, bytes);
    }

    template <class A> void archive(A &a)
    {
        a(reservations, stamps);
        for (auto &p : tcdm)
            a.pages(p.get(), config.tcdm_size);
        a.pages(l2.get(), config.l2_size);
        a.pages(main.get(), config.memory_size);
    }

    std::vector<std::unique_ptr<uint8_t[]>> tcdm;
    const unsigned bank_mask;
    unsigned reservations = 0; // cores that have one

  private:
    struct Pages {
        size_t bytes;
        void operator()(uint8_t *p) const;
    };
    static std::unique_ptr<uint8_t[], Pages> pages(size_t bytes);

    const Config &config;
    const Clock &clock;
    std::vector<Core> &cores;
    std::unique_ptr<uint8_t[], Pages> l2, main;
    std::vector<uint64_t> stamps; // of each cluster's banks: cycle << 20 | word << 1 | load

    uint64_t &stamp(uint32_t address)
    {
        uint32_t cluster = (address - map::kCluster) / map::kStride,
                 word = (address - map::kCluster) % map::kStride / 4;
        return stamps[size_t(64) * cluster + (word & bank_mask)];
    }
    void drop_reservations(uint32_t address, uint32_t bytes);
};

} // namespace mc
