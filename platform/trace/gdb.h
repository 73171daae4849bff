// gdb's remote protocol: a thread a core (thread n is core n - 1), breakpoints, step, registers, memory. Everything
// stops together.
#pragma once
#include "kernel/machine.h"
#include <set>
#include <string>

namespace mc
{

class Gdb : public Hooks
{
  public:
    Gdb(Machine &m, int port); // waits for gdb on the local machine; ConfigError if the port cannot be had
    ~Gdb() override;
    void before(Core &c, uint64_t t) override;
    void ended(int code);  // the program is over
    void faulted(Core *c); // it failed: gdb may look, the next resume ends it

  private:
    Machine &m;
    int fd = -1;
    std::set<uint32_t> breakpoints;
    unsigned current = 0; // the core that gdb looks at
    int stepping = -1;    // this core stops at its next instruction
    bool waiting_start = true, gone = false;
    unsigned polled = 0;
    std::string in;

    bool fill();          // reads more; false: gdb is gone
    std::string packet(); // the next one; empty: gdb is gone
    void send(const std::string &s);
    void stop(unsigned core, int signal);
    void serve(); // until gdb resumes
    std::string registers(const Core &c);
    void set_register(Core &c, unsigned n, uint32_t v);
};

} // namespace mc
