// Runs an ELF file on the cluster of cluster.sv: cluster PROGRAM.elf. The program is calibrate.c, or needs no more than
// it: code and constants from 0x20000000, variables in the TCDM, semihosting's SYS_WRITE0 and SYS_EXIT.
//
// cluster.sv and this file are Verilator's input together with the RTL of cv32e40p (rtl, without the FPU) and of
// cluster_interconnect (rtl/low_latency_interco); bench/results/manycore-calibration.txt has the versions.
#include "Vcluster.h"
#include "Vcluster___024root.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <vector>

namespace
{

constexpr unsigned cores = 16;
constexpr unsigned long long most = 200'000'000; // cycles

// What the cores run first, and what a trap runs: an ebreak of semihosting is handed to this program.
constexpr uint32_t start_at = 0x2003f000, trap_at = 0x2003f100;
constexpr uint32_t start[] = {
    0x32001073, // csrw mcountinhibit, zero
    0x32345073, // csrwi mhpmevent3, 8: jumps that wait for their register
    0x32485073, // csrwi mhpmevent4, 16: cycles without an instruction at hand
    0x200002b7, // lui t0, 0x20000
    0x00028067, // jr t0
};
constexpr uint32_t trap[] = {
    0x400002b7, // lui t0, 0x40000: stores there are seen by this program
    0x34202373, // csrr t1, mcause
    0x0062a423, // sw t1, 8(t0)
    0x34102373, // csrr t1, mepc
    0x0062a623, // sw t1, 12(t0)
    0x00b2a223, // sw a1, 4(t0): the parameter
    0x00a2a023, // sw a0, 0(t0): the operation
    0x00430313, // addi t1, t1, 4
    0x34131073, // csrw mepc, t1
    0x30200073, // mret
};

[[noreturn]] void end_with(int status, const char *format, auto... values)
{
    std::fprintf(stderr, format, values...);
    std::exit(status);
}

uint32_t &word(Vcluster &v, uint32_t address)
{
    if (address >> 28 == 2)
        return v.rootp->cluster__DOT__code[address >> 2 & 0xffff];
    if (address >> 28 < 2)
        return v.rootp->cluster__DOT__tcdm[address >> 2 & 0xffff];
    end_with(70, "cluster: no memory at 0x%08x\n", address);
}

void load(Vcluster &v, const char *path)
{
    std::ifstream f(path, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(f)), {});
    Elf32_Ehdr header;
    if (bytes.size() < sizeof header || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
        end_with(64, "cluster: %s is no ELF file\n", path);
    std::memcpy(&header, bytes.data(), sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf32_Phdr part;
        std::memcpy(&part, &bytes.at(header.e_phoff + i * sizeof part), sizeof part);
        for (uint32_t k = 0; part.p_type == PT_LOAD && k < part.p_filesz; k++) {
            uint32_t address = part.p_vaddr + k, shift = address % 4 * 8, &w = word(v, address);
            w = (w & ~(0xffu << shift)) | uint32_t(uint8_t(bytes.at(part.p_offset + k))) << shift;
        }
    }
}

// A store of a core's trap: the cause at 8, the place at 12, the parameter at 4, the operation at 0.
void host_store(Vcluster &v, unsigned core, uint32_t address, uint32_t data)
{
    static uint32_t cause[cores], parameter[cores];
    if (address % 16 == 8) {
        cause[core] = data;
    } else if (address % 16 == 12 && cause[core] != 3) {
        end_with(70, "cluster: core %u: exception %u at 0x%08x\n", core, cause[core], data);
    } else if (address % 16 == 4) {
        parameter[core] = data;
    } else if (address % 16 == 0 && data == 0x18) {
        std::exit(0);
    } else if (address % 16 == 0) {
        for (uint32_t p = parameter[core];; p++) {
            int c = word(v, p) >> p % 4 * 8 & 0xff;
            if (!c)
                break;
            std::putchar(c);
        }
        std::fflush(stdout);
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2)
        end_with(64, "usage: cluster PROGRAM.elf\n");
    Vcluster v;
    load(v, argv[1]);
    for (uint32_t i = 0; i < sizeof start / 4; i++)
        word(v, start_at + 4 * i) = start[i];
    for (uint32_t i = 0; i < sizeof trap / 4; i++)
        word(v, trap_at + 4 * i) = trap[i];
    v.rst_ni = 0;
    for (unsigned long long cycle = 0; cycle < most; cycle++) {
        v.clk_i = 0;
        v.rst_ni = cycle >= 5;
        v.eval();
        for (unsigned i = 0; i < cores && v.host_o; i++)
            if (v.host_o >> i & 1)
                host_store(v, i, v.host_addr_o[i], v.host_data_o[i]);
        v.clk_i = 1;
        v.eval();
    }
    end_with(70, "cluster: stopped after %llu cycles\n", most);
}
