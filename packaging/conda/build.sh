#!/bin/bash
# Run by conda-build, which sets $PREFIX, $CPU_COUNT and the compilers' variables.
set -eu
# shellcheck disable=SC2086 # a list of options
cmake -S . -B build-conda -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DPS_TESTS=OFF -DPS_BENCH=OFF
cmake --build build-conda -j "${CPU_COUNT:-1}" --target product
cmake --install build-conda
