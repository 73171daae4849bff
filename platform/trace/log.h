// The instructions of the cycles that are watched (watched.h), a line each, as text: the cycle in which it began, the
// cycles that it took with its waits, core, pc, its bytes, the instruction, the register that it wrote. Lines come in
// the order in which the instructions end. One that has not ended stands at the end of the file, without cycles.
#pragma once
#include "kernel/machine.h"
#include <cstdio>
#include <vector>

namespace mc
{

class Log : public Hooks
{
  public:
    Log(Machine &machine, FILE *to) : m(machine), file(to), states(machine.cores.size()) {}
    void begin() override;
    void before(Core &c, uint64_t t) override;
    void after(Core &c, const Op &op, uint64_t t) override;
    void end() override;

  private:
    struct State {
        uint64_t began = 0;
        uint32_t pc = 0;
        bool under_way = false;
    };
    Machine &m;
    FILE *file;
    std::vector<State> states;

    void line(const Core &c, const Op &op, const char *cycles, bool ended);
};

} // namespace mc
