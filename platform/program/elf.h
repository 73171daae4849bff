// The program's file: loading it, its symbols, its source lines.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace mc
{

struct Machine;
struct Config;

struct ElfError : std::runtime_error {
    using runtime_error::runtime_error;
};

class Elf
{
  public:
    explicit Elf(const std::string &path); // reads and checks; ElfError says what is wrong with the file
    void load(Machine &m) const;           // ElfError where a segment does not fit into the platform's memories
    uint32_t entry() const { return entry_; }
    const std::string &path() const { return path_; }
    // "function+0x12 (FILE:34)", as much of it as is known.
    std::string place(uint32_t pc) const;
    // The function at `pc`, an index into names(); -1: none.
    int function(uint32_t pc) const;
    const std::string &name(int function) const { return symbols_[size_t(function)].name; }

  private:
    struct Segment {
        uint32_t address, load, bytes, memory, flags, offset;
    };
    struct Symbol {
        uint32_t address, size;
        std::string name;
    };
    std::string path_;
    std::vector<uint8_t> file_;
    std::vector<Segment> segments_;
    std::vector<Symbol> symbols_; // by address
    uint32_t entry_ = 0;
    uint32_t stack_size_ = 0, data_end_ = 0; // of a core; of what stands in cluster 0's TCDM. 0: the board has none
    void read_symbols();
    std::string line(uint32_t pc) const;
    void check_stacks(const Config &config) const;
};

} // namespace mc
