#pragma once
#include "base/config.h"
#include <string>

namespace mc
{

// Sets what a TOML file says. Throws ConfigError with one line: file, line, what is wrong.
void read_config(Config &config, const std::string &path);

} // namespace mc
