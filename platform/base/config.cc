#include "base/config.h"
#include "base/text.h"
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <sstream>

namespace mc
{
namespace
{

struct Row {
    const char *section, *name;
    uint64_t Config::*value;
    uint64_t least, most;
    const char *text;
};

const Row rows[] = {
#define X(section, name, value, least, most, text) {#section, #name, &Config::section##_##name, least, most, text},
    MC_PARAMETERS(X)
#undef X
};

} // namespace

std::string Config::names(std::string_view section)
{
    std::string out;
    for (const Row &r : rows)
        if (section.empty() || section == r.section)
            out += (out.empty() ? "" : ", ") + (section.empty() ? std::string(r.section) + "." : "") + r.name;
    return out;
}

void Config::set(std::string_view key, int64_t v, std::string_view where)
{
    size_t dot = key.find('.');
    std::string_view section = key.substr(0, dot), name = dot == key.npos ? std::string_view() : key.substr(dot + 1);
    bool known = false;
    for (const Row &r : rows) {
        known = known || section == r.section;
        if (section != r.section || name != r.name)
            continue;
        if (v < 0 || uint64_t(v) < r.least || uint64_t(v) > r.most)
            throw ConfigError(text("%s.%s = %lld: allowed are %llu to %llu (%s)", r.section, r.name, (long long)v,
                                   (unsigned long long)r.least, (unsigned long long)r.most, r.text));
        this->*r.value = uint64_t(v);
        origins_[std::string(key)] = where;
        return;
    }
    throw ConfigError("no parameter '" + std::string(key) + "'; there are: " + names(known ? section : ""));
}

void Config::set(const std::string &a)
{
    size_t eq = a.find('=');
    if (eq == a.npos)
        throw ConfigError("'" + a + "': expected section.name=value");
    std::string value = a.substr(eq + 1);
    char *end;
    errno = 0;
    long long v = strtoll(value.c_str(), &end, 0);
    if (value.empty() || *end || errno)
        throw ConfigError("'" + a + "': '" + value + "' is no whole number");
    set(std::string_view(a).substr(0, eq), v);
}

void Config::check() const
{
    const struct {
        const char *name;
        uint64_t value;
    } powers[] = {{"icache.size", icache_size}, {"icache.line", icache_line}, {"icache.ways", icache_ways},
                  {"tcdm.size", tcdm_size},     {"tcdm.banks", tcdm_banks},   {"noc.flit", noc_flit},
                  {"l2.size", l2_size},         {"memory.size", memory_size}, {"dma.burst", dma_burst}};
    auto at = [&](const std::string &key) { // where it was set
        auto found = origins_.find(key);
        return (found == origins_.end() ? "" : found->second) + key;
    };
    for (auto &p : powers)
        if (!std::has_single_bit(p.value))
            throw ConfigError(at(p.name) + text(" = %llu: must be a power of two", (unsigned long long)p.value));
    if (icache_line * icache_ways > icache_size)
        throw ConfigError(at("icache.size") + text(" = %llu: smaller than one line of each way (%llu bytes)",
                                                   (unsigned long long)icache_size,
                                                   (unsigned long long)(icache_line * icache_ways)));
    if (icache_line == icache_size)
        throw ConfigError(at("icache.size") + text(" = %llu: one line; an instruction may need two at once",
                                                   (unsigned long long)icache_size));
    for (auto [key, node] : {std::pair("l2.node", l2_node), std::pair("memory.node", memory_node)})
        if (node >= platform_clusters)
            throw ConfigError(at(key) + text(" = %llu: the network has nodes 0 to %llu, one a cluster",
                                             (unsigned long long)node, (unsigned long long)platform_clusters - 1));
}

unsigned Config::mesh_width() const
{
    unsigned w = 1;
    while (uint64_t(w) * w < platform_clusters)
        w++;
    return w;
}

void Config::each(const std::function<void(const std::string &name, uint64_t value)> &f) const
{
    for (const Row &r : rows)
        f(std::string(r.section) + "." + r.name, this->*r.value);
}

std::string Config::table()
{
    std::ostringstream out;
    out << "| parameter | default | allowed | meaning |\n|---|---|---|---|\n";
    Config defaults;
    for (const Row &r : rows)
        out << "| " << r.section << "." << r.name << " | " << defaults.*r.value << " | " << r.least << " to " << r.most
            << " | " << r.text << " |\n";
    return out.str();
}

} // namespace mc
