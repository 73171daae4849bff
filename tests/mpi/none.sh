#!/bin/sh
# none.sh CMAKE SOURCE C-COMPILER - cmake says where no MPI was found, and how to get one: its line was empty.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$1" -S "$2" -B "$folder" -DCMAKE_C_COMPILER="$3" -DPS_TESTS=OFF -DPS_BENCH=OFF -DPS_MPICC_openmpi=/bin/false \
  -DPS_MPICC_mpich=/bin/false >"$folder/said" 2>&1
grep -q -- '-- MPI: none .*tools/install-deps mpi' "$folder/said" && exit 0
cat "$folder/said"
exit 1
