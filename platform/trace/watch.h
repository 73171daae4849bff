// What watches a run (lock-step kernel): a timeline for Perfetto, and folded stacks for a flame graph.
#pragma once
#include "kernel/machine.h"
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace mc
{

class Elf;

class Watch : public Hooks
{
  public:
    // Files that are written; null: not wanted. The timeline has a track a core (functions, sleep, regions) and one a
    // DMA engine, in cycles.
    Watch(Machine &m, const Elf &elf, FILE *trace, FILE *profile);
    void before(Core &c, uint64_t t) override;
    void after(Core &c, const Op &op, uint64_t t) override;
    void end(); // closes what is open and the files' last lines

  private:
    struct Node {
        int function, parent;
        uint64_t cycles = 0;
        std::map<int, int> callees;
    };
    struct State {
        int node = 0;
        uint64_t last = 0, asleep = 0;
        uint32_t region = 0;
        std::string region_name;
        enum { none, call, back } jump = none;
    };
    Machine &m;
    const Elf &elf;
    FILE *trace, *profile;
    std::vector<Node> nodes;
    std::vector<State> states;
    std::map<uint32_t, int> functions; // of a pc, once looked up
    bool first = true;

    std::string name(int function) const;
    void event(const char *format, ...) __attribute__((format(printf, 2, 3)));
    void enter(Core &c, State &s, int function, uint64_t t);
    void leave(Core &c, State &s, uint64_t t);
};

} // namespace mc
