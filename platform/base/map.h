// The address map. One address space for all cores; every address but the alias means the same to everybody.
#pragma once
#include <cstdint>

namespace mc::map
{

constexpr uint32_t kAlias = 0x08000000;   // the own cluster's 4 MB, whichever that is
constexpr uint32_t kCluster = 0x10000000; // cluster c at kCluster + c * kStride
constexpr uint32_t kStride = 0x00400000;
constexpr uint32_t kTcdm = 0x000000;       // in the cluster: the scratchpad, at most 1 MB
constexpr uint32_t kTestAndSet = 0x100000; // the same words; a load returns the word and sets it to 1
constexpr uint32_t kHws = 0x200000;        // hardware synchroniser
constexpr uint32_t kDma = 0x300000;        // DMA engine
constexpr uint32_t kPeripheralSize = 0x1000;
constexpr uint32_t kL2 = 0x20000000;     // at most 64 MB
constexpr uint32_t kSystem = 0x30000000; // read-only words that describe the platform
constexpr uint32_t kMain = 0x80000000;   // at most 1 GB
constexpr unsigned kMaxClusters = 64, kMaxCores = 16;

} // namespace mc::map
