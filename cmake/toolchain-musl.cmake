# This machine's processor with musl instead of glibc, by Debian's musl-tools. There is no C++: GCC's
# library for it is glibc's. To CMake it is a cross build, so tests/shim stands in for cmocka. See tools/check-ports.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_CXX_COMPILER "")
