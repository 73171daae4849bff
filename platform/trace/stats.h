// What a run counts: of each core and of the whole chip, as a whole or in the regions that the program marks (the CSR
// 0x7c2, mc_stats_begin() and others).
#pragma once
#include "core/core.h"
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace mc
{
struct Machine;

struct Counts {
    struct Cluster {
        uint64_t signals = 0, words = 0, gathers = 0, transfers = 0, bytes = 0, busy = 0;
        template <class A> void archive(A &a) { a(signals, words, gathers, transfers, bytes, busy); }
    };
    struct OfCore {
        uint64_t cycles = 0;
        Counters n; // with the wait under way
        template <class A> void archive(A &a) { a(cycles, n); }
    };
    uint64_t cycles = 0, flits = 0, packets = 0, noc_waited = 0, port_conflicts = 0, histogram[16] = {};
    std::vector<Cluster> clusters;
    std::vector<OfCore> cores;

    Counts() = default;
    explicit Counts(const Machine &m);              // from the run's start to now
    void add(const Counts &to, const Counts &from); // what was counted in between
    template <class A> void archive(A &a)
    {
        a(cycles, flits, packets, noc_waited, port_conflicts, histogram, clusters, cores);
    }
};

class Regions
{
  public:
    struct Region {
        Counts counts, began;
        uint64_t times = 0;
        bool open = false;
        template <class A> void archive(A &a) { a(counts, began, times, open); }
    };
    explicit Regions(Machine &m);
    void end();                                                       // the run's end is that of open regions
    const std::map<unsigned, Region> &all() const { return regions; } // by number
    template <class A> void archive(A &a)
    {
        std::vector<unsigned> numbers;
        for (const auto &[number, r] : regions)
            numbers.push_back(number);
        a(numbers);
        for (unsigned number : numbers)
            a(regions[number]);
    }

  private:
    Machine &m;
    std::map<unsigned, Region> regions;
    void mark(Core &c, uint32_t word);
};

// As a table for people: of each region, of the whole run where there is none.
void print_stats(const Machine &m, const Regions &regions, double seconds, FILE *to);
// The same for programs: JSON. Without times of the host, so that two kernels print the same.
void print_json(const Machine &m, const Regions &regions, const std::vector<std::string> &program, FILE *to);
} // namespace mc
