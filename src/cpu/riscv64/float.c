/* RISC-V, 64 bits: whether status flags of floating point are kept. cpu.h has the contract. */
#include "atomic.h"
#include "cpu.h"

#ifdef __riscv_flen
_Atomic bool cpu_riscv_keeps_flags;
#endif
