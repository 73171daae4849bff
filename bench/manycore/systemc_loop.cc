// The technique of cycle-accurate SystemC simulators such as the paper's (manycore-nested-2016, section 2): a thread
// for each of 64 cores, which executes an instruction and waits for its cycles. Only the loop: an instruction set of
// four, no decoder, no caches, no banks, no network. What it reaches is more than a simulator built on it can.
//
// systemc_loop N: N instructions a core; prints the number of instructions.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace
{

constexpr unsigned kCores = 64;
uint32_t memory[1024];

struct Instruction {
    enum { load, multiply, add, branch } kind;
    unsigned to, from;
    int32_t value;
};
// word x5 = x4[x1]; x6 = x5 * x6; x1 += 4; back
const Instruction program[] = {{Instruction::load, 5, 1, 0},
                               {Instruction::multiply, 6, 5, 0},
                               {Instruction::add, 1, 1, 4},
                               {Instruction::branch, 0, 0, -3}};

struct CoreModel : sc_core::sc_module {
    uint64_t count, ended = 0;
    uint32_t x[32] = {};

    CoreModel(const sc_core::sc_module_name &name, uint64_t n) : sc_module(name), count(n)
    {
        SC_HAS_PROCESS(CoreModel);
        SC_THREAD(run);
    }
    void run()
    {
        const sc_core::sc_time cycle(1, sc_core::SC_NS);
        unsigned pc = 0;
        while (ended < count) {
            const Instruction &i = program[pc];
            switch (i.kind) {
            case Instruction::load:
                x[i.to] = memory[x[i.from] / 4 % 1024];
                break;
            case Instruction::multiply:
                x[i.to] *= x[i.from];
                break;
            case Instruction::add:
                x[i.to] = x[i.from] + uint32_t(i.value);
                break;
            default:
                pc = unsigned(int(pc) + i.value - 1);
            }
            pc++;
            ended++;
            wait(cycle);
        }
    }
};

} // namespace

int sc_main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], nullptr, 10) : 10000, all = 0;
    std::vector<std::unique_ptr<CoreModel>> cores;
    for (unsigned i = 0; i < kCores; i++)
        cores.push_back(std::make_unique<CoreModel>(("core" + std::to_string(i)).c_str(), n));
    sc_core::sc_start();
    for (auto &c : cores)
        all += c->ended;
    std::cout << all << "\n";
    return 0;
}
