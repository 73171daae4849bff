#include "program/elf.h"
#include "base/input.h"
#include "base/text.h"
#include "kernel/machine.h"
#include <algorithm>
#include <cstring>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

namespace mc
{
namespace
{

template <class T> T get(const std::vector<uint8_t> &f, uint64_t at)
{
    T t;
    std::memcpy(&t, f.data() + at, sizeof t);
    return t;
}

} // namespace

Elf::Elf(const std::string &path) : path_(path)
{
    if (!read_file(path, file_))
        throw ElfError(path + ": cannot be opened: " + std::strerror(errno));
    auto no = [&](const char *why) { return ElfError(path + ": " + why); };
    if (file_.size() < sizeof(Elf32_Ehdr) || std::memcmp(file_.data(), ELFMAG, SELFMAG) != 0)
        throw no("is no ELF file");
    if (file_[EI_CLASS] != ELFCLASS32 || file_[EI_DATA] != ELFDATA2LSB)
        throw no("is no 32-bit little-endian ELF file");
    auto h = get<Elf32_Ehdr>(file_, 0);
    if (h.e_machine != EM_RISCV)
        throw no("is not for RISC-V");
    if (h.e_type != ET_EXEC)
        throw no("is no linked program (position-independent and relocatable files cannot be run)");
    if ((h.e_flags & 0x6) == 4 || (h.e_flags & 8))
        throw no("wants registers that the cores do not have (double floats, or RV32E)");
    if (h.e_phentsize != sizeof(Elf32_Phdr) || h.e_phoff + uint64_t(h.e_phnum) * sizeof(Elf32_Phdr) > file_.size())
        throw no("is truncated (program headers)");
    entry_ = h.e_entry;
    bool enters = false;
    for (unsigned i = 0; i < h.e_phnum; i++) {
        auto p = get<Elf32_Phdr>(file_, h.e_phoff + i * sizeof(Elf32_Phdr));
        if (p.p_type != PT_LOAD || !p.p_memsz)
            continue;
        if (uint64_t(p.p_offset) + p.p_filesz > file_.size() || p.p_filesz > p.p_memsz)
            throw no("is truncated (a segment's bytes are not there)");
        segments_.push_back({p.p_vaddr, p.p_paddr, p.p_filesz, p.p_memsz, p.p_flags, p.p_offset});
        enters = enters || ((p.p_flags & PF_X) && entry_ - p.p_vaddr < p.p_memsz);
    }
    if (!enters || (entry_ & 1))
        throw no("starts where it has no code");
    read_symbols();
}

void Elf::read_symbols()
{
    auto h = get<Elf32_Ehdr>(file_, 0);
    if (!h.e_shoff || h.e_shentsize != sizeof(Elf32_Shdr) ||
        h.e_shoff + uint64_t(h.e_shnum) * sizeof(Elf32_Shdr) > file_.size())
        return;
    auto section = [&](unsigned i) { return get<Elf32_Shdr>(file_, h.e_shoff + i * sizeof(Elf32_Shdr)); };
    for (unsigned i = 0; i < h.e_shnum; i++) {
        auto s = section(i);
        if (s.sh_type != SHT_SYMTAB || s.sh_link >= h.e_shnum || uint64_t(s.sh_offset) + s.sh_size > file_.size())
            continue;
        auto names = section(s.sh_link);
        if (uint64_t(names.sh_offset) + names.sh_size > file_.size())
            continue;
        for (uint32_t at = 0; at + sizeof(Elf32_Sym) <= s.sh_size; at += sizeof(Elf32_Sym)) {
            auto y = get<Elf32_Sym>(file_, s.sh_offset + at);
            const char *n = reinterpret_cast<const char *>(file_.data()) + names.sh_offset + y.st_name;
            std::string name(n, y.st_name < names.sh_size ? strnlen(n, names.sh_size - y.st_name) : 0);
            if (name == "__stack_size")
                stack_size_ = y.st_value;
            if (name == "__tcdm0_end")
                data_end_ = y.st_value;
            unsigned type = ELF32_ST_TYPE(y.st_info);
            if ((type != STT_FUNC && type != STT_NOTYPE) || y.st_shndx == SHN_UNDEF || y.st_shndx >= h.e_shnum)
                continue;
            if (!(section(y.st_shndx).sh_flags & SHF_EXECINSTR))
                continue;
            if (name.empty() || name[0] == '$' || name.starts_with(".L"))
                continue;
            symbols_.push_back({y.st_value, y.st_size, name});
        }
    }
    std::stable_sort(symbols_.begin(), symbols_.end(), [](auto &a, auto &b) {
        return a.address < b.address || (a.address == b.address && a.size > b.size);
    });
    symbols_.erase(
        std::unique(symbols_.begin(), symbols_.end(), [](auto &a, auto &b) { return a.address == b.address; }),
        symbols_.end());
}

// The stacks stand at the top of each TCDM (platform/board/crt0.S).
void Elf::check_stacks(const Config &config) const
{
    uint64_t data = data_end_ - map::kCluster, stacks = uint64_t(stack_size_) * config.platform_cores;
    if (data_end_ && data + stacks > config.tcdm_size)
        throw ElfError(text("%s: %llu bytes of data and %llu stacks of %u bytes do not fit into a TCDM of %llu bytes "
                            "(tcdm.size)",
                            path_.c_str(), (unsigned long long)data, (unsigned long long)config.platform_cores,
                            stack_size_, (unsigned long long)config.tcdm_size));
}

void Elf::load(Machine &m) const
{
    check_stacks(m.config);
    for (const Segment &s : segments_) {
        // what is linked for the alias is one copy; crt0 gives it to every cluster
        uint8_t *p = m.at(s.load, s.memory, 0), *run = m.at(s.address, s.memory, 0);
        if (!p || !run)
            throw ElfError(text("%s: a segment of %u bytes at 0x%08x does not fit into the platform's memories",
                                path_.c_str(), s.memory, p ? s.address : s.load));
        if ((s.flags & PF_X) && s.address < map::kL2)
            throw ElfError(text("%s: code at 0x%08x; code stands in L2 or main memory", path_.c_str(), s.address));
        std::memcpy(p, file_.data() + s.offset, s.bytes);
        if (s.flags & PF_X)
            m.add_code(s.address, s.memory);
    }
    m.prepare_code();
}

int Elf::function(uint32_t pc) const
{
    auto next =
        std::upper_bound(symbols_.begin(), symbols_.end(), pc, [](uint32_t a, auto &s) { return a < s.address; });
    if (next == symbols_.begin())
        return -1;
    auto &s = next[-1];
    return s.size && pc - s.address >= s.size ? -1 : int(next - symbols_.begin()) - 1;
}

std::string Elf::line(uint32_t pc) const
{
    std::string out;
    int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    Dwarf *d = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : nullptr;
    if (d) {
        Dwarf_Off at = 0, next;
        size_t header;
        while (out.empty() && dwarf_nextcu(d, at, &next, &header, nullptr, nullptr, nullptr) == 0) {
            Dwarf_Die die;
            Dwarf_Lines *lines;
            size_t n;
            if (dwarf_offdie(d, at + header, &die) && dwarf_getsrclines(&die, &lines, &n) == 0) {
                for (size_t i = 0; i + 1 < n; i++) {
                    Dwarf_Line *a = dwarf_onesrcline(lines, i), *b = dwarf_onesrcline(lines, i + 1);
                    Dwarf_Addr low, high;
                    bool end = false;
                    int number = 0;
                    dwarf_lineaddr(a, &low);
                    dwarf_lineaddr(b, &high);
                    dwarf_lineendsequence(a, &end);
                    if (end || !low || pc < low || pc >= high) // at 0: of code that the linker has discarded
                        continue;
                    const char *name = dwarf_linesrc(a, nullptr, nullptr);
                    dwarf_lineno(a, &number);
                    if (name) {
                        const char *slash = std::strrchr(name, '/');
                        out = text("%s:%d", slash ? slash + 1 : name, number);
                    }
                    break;
                }
            }
            at = next;
        }
        dwarf_end(d);
    }
    if (fd >= 0)
        close(fd);
    return out;
}

std::string Elf::place(uint32_t pc) const
{
    int f = function(pc);
    std::string out = f < 0 ? "?" : name(f) + text("+0x%x", pc - symbols_[size_t(f)].address), l = line(pc);
    return l.empty() ? out : out + " (" + l + ")";
}

} // namespace mc
