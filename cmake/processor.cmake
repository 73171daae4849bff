# The processor that the build is for:
#   PS_ISA           its name here: a folder's of src/cpu and src/abi/kmpc, unless the port is another one (PS_CPU)
#   PS_GLIBC         the C library is glibc
#   PS_GLIBC_FIRST   the version with which it began on the processor; empty: not known, or another C library's, and
#                    nothing is interposed
set(PS_ISA ${CMAKE_SYSTEM_PROCESSOR})
if(PS_ISA MATCHES "^(amd64|AMD64)$")
  set(PS_ISA x86_64)
elseif(PS_ISA STREQUAL arm64)
  set(PS_ISA aarch64)
endif()
set(first_x86_64 2.2.5)
set(first_aarch64 2.17)
set(first_riscv64 2.27)
include(CheckSymbolExists)
check_symbol_exists(__GLIBC__ features.h PS_GLIBC)
if(PS_GLIBC)
  set(PS_GLIBC_FIRST ${first_${PS_ISA}})
endif()
