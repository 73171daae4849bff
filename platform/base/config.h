// The platform's parameters: each with its default, range and meaning in one place (MC_PARAMETERS).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mc
{

// X(section, name, default, least, most, meaning with unit)
#define MC_PARAMETERS(X)                                                                                          \
    X(platform, clusters, 4, 1, 64, "clusters")                                                                   \
    X(platform, cores, 16, 1, 16, "cores in a cluster")                                                           \
    X(core, branch, 2, 0, 16, "cycles that a taken branch costs beyond its own")                                  \
    X(core, jump, 1, 0, 16, "cycles that a jump costs beyond its own")                                            \
    X(core, mul, 1, 1, 60, "cycles of mul")                                                                       \
    X(core, mulh, 5, 1, 60, "cycles of mulh, mulhsu, mulhu")                                                      \
    X(core, div, 35, 1, 60, "cycles of div, divu, rem, remu")                                                     \
    X(core, fp, 2, 1, 60, "cycles of a float operation but division and root")                                    \
    X(core, fdiv, 12, 1, 60, "cycles of fdiv and fsqrt")                                                          \
    X(icache, size, 4096, 64, 65536, "bytes of a core's instruction cache, two lines or more (power of two)")     \
    X(icache, line, 16, 8, 64, "bytes of a line (power of two)")                                                  \
    X(icache, ways, 1, 1, 16, "lines of a set, of which the least recently used is replaced (power of two)")      \
    X(tcdm, size, 262144, 4096, 1048576, "bytes of a cluster's scratchpad (power of two)")                        \
    X(tcdm, banks, 32, 1, 64, "word-interleaved banks of a cluster (power of two)")                               \
    X(tcdm, atomic, 2, 1, 8, "cycles that an atomic operation keeps its bank")                                    \
    X(noc, crossbar, 0, 0, 1, "0: a mesh of routers; 1: a crossbar, any two ends one hop apart")                  \
    X(noc, latency, 8, 0, 200, "cycles from a network interface into the first router, or into the crossbar")     \
    X(noc, hop, 2, 1, 100, "cycles from a router to the next, or through the crossbar")                           \
    X(noc, occupancy, 1, 1, 32, "cycles that a flit keeps a port or a link")                                      \
    X(noc, flit, 8, 4, 64, "bytes of data in a flit (power of two)")                                              \
    X(noc, posted, 0, 0, 64, "stores over the NoC that a core may have under way while it goes on")               \
    X(l2, size, 1048576, 65536, 67108864, "bytes of on-chip L2 (power of two)")                                   \
    X(l2, latency, 4, 1, 200, "cycles from a request's start in L2 to its answer")                                \
    X(l2, occupancy, 1, 1, 32, "cycles of L2's port for 8 bytes")                                                 \
    X(l2, node, 0, 0, 63, "mesh node beside which L2 stands (crossbar: no effect)")                               \
    X(memory, size, 268435456, 1048576, 1073741824, "bytes of main memory (power of two)")                        \
    X(memory, latency, 60, 1, 900, "cycles from a request's start in the controller to its answer")               \
    X(memory, occupancy, 2, 1, 64, "cycles of the controller for 8 bytes")                                        \
    X(memory, node, 0, 0, 63, "mesh node beside which the memory controller stands (crossbar: no effect)")        \
    X(dma, setup, 4, 1, 200, "cycles from the command to the transfer's first burst")                             \
    X(dma, burst, 64, 8, 256, "bytes of a packet (power of two)")                                                 \
    X(dma, outstanding, 4, 1, 16, "bursts under way at once")                                                     \
    X(hws, latency, 3, 2, 100, "cycles from the store to the sleeping core's next instruction, inside a cluster") \
    X(hws, remote, 6, 1, 200, "cycles that a message to another cluster takes beside its hops")                   \
    X(hws, hop, 1, 0, 100, "cycles of such a message from a node to the next")                                    \
    X(run, limit, 0, 0, 9000000000000000000, "cycles after which the run is stopped (0: never)")

struct Config {
#define X(section, name, value, least, most, text) uint64_t section##_##name = value;
    MC_PARAMETERS(X)
#undef X
    // Sets "section.name". Throws ConfigError with one line that says what is allowed. `where`, a prefix of check()'s
    // lines: the place in a file.
    void set(std::string_view key, int64_t value, std::string_view where = "");
    void set(const std::string &assignment); // "section.name=value"
    void check() const;                      // what no single value says: powers of two, nodes of the mesh
    unsigned all_cores() const { return unsigned(platform_clusters * platform_cores); }
    unsigned mesh_width() const;
    static std::string table();                         // every parameter, Markdown
    static std::string names(std::string_view section); // of this section's parameters; of all if it is empty
    void each(const std::function<void(const std::string &name, uint64_t value)> &f) const;

  private:
    std::map<std::string, std::string> origins_; // where a file set a parameter: "path:line: "
};

struct ConfigError : std::runtime_error {
    using runtime_error::runtime_error;
};

} // namespace mc
