# riscv64 Linux with Debian's cross compilers; tests run under qemu-user. See tools/check-ports.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++)
find_program(CMAKE_Fortran_COMPILER riscv64-linux-gnu-gfortran) # where there is none, its programs are left out
# by a variable, so that programs which the program starts find their libraries, too
set(CMAKE_CROSSCOMPILING_EMULATOR env QEMU_LD_PREFIX=/usr/riscv64-linux-gnu qemu-riscv64)
set(CMAKE_FIND_ROOT_PATH /usr/riscv64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Atomic operations on bytes are calls on this processor.
set(CMAKE_C_STANDARD_LIBRARIES -latomic)
set(CMAKE_CXX_STANDARD_LIBRARIES -latomic)
