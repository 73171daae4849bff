#include "cli/config_file.h"
#include "base/input.h"
#include "base/text.h"
#include <cstring>
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace mc
{

void read_config(Config &config, const std::string &path)
{
    std::vector<uint8_t> bytes;
    if (!read_file(path, bytes))
        throw ConfigError(path + ": cannot be read: " + std::strerror(errno));
    toml::table file;
    try {
        file = toml::parse(std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size()), path);
    } catch (const toml::parse_error &e) {
        throw ConfigError(
            text("%s:%u: %s", path.c_str(), unsigned(e.source().begin.line), std::string(e.description()).c_str()));
    }
    auto at = [&](const toml::node &n) { return path + ":" + std::to_string(n.source().begin.line) + ": "; };
    for (auto &&[section, node] : file) {
        std::string s(section.str());
        if (!node.is_table()) {
            std::string all = Config::names("");
            throw ConfigError(at(node) + "'" + s + "' stands outside of a section; there are: " + all);
        }
        for (auto &&[name, value] : *node.as_table()) {
            std::string key = s + "." + std::string(name.str());
            if (!value.is_integer())
                throw ConfigError(at(value) + key + " must be a whole number");
            try {
                config.set(key, **value.as_integer(), at(value));
            } catch (const ConfigError &e) {
                throw ConfigError(at(value) + e.what());
            }
        }
    }
}

} // namespace mc
