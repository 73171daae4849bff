// What watches a run (watched.h): a timeline for Perfetto, and folded stacks for a flame graph.
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
    // DMA engine, in cycles. What was under way before begin() is shown from there on.
    Watch(Machine &m, const Elf &elf, FILE *trace, FILE *profile);
    void begin() override;
    void before(Core &c, uint64_t t) override;
    void after(Core &c, const Op &op, uint64_t t) override;
    void end() override; // closes what is open and the files' last lines

  private:
    struct Node {
        int function, parent;
        uint64_t cycles = 0;
        std::map<int, int> callees;
    };
    struct State {
        int node = 0;
        std::vector<uint64_t> entered; // when, for each function on the way to `node`
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
    uint64_t from = 0;

    std::string name(int function) const;
    void event(const char *format, ...) __attribute__((format(printf, 2, 3)));
    void enter(State &s, int function, uint64_t t);
    void leave(Core &c, State &s, uint64_t t);
    void slice(const Core &c, uint64_t since, uint64_t t, const char *name, const char *more); // of the core's track
    int function(uint32_t pc);
};

} // namespace mc
