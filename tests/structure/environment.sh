#!/bin/bash
# environment.sh BUILD: the tests of BUILD do not see what the caller exports for OpenMP programs, but see what they ask
# for themselves.
set -eu
include=$(grep -h '^include(.*environment.cmake' "$1/tests/CTestTestfile.cmake") || { \
    echo "FAILED: the tests keep the caller's environment"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/CTestTestfile.cmake" <<END
$include
add_test(seen env)
set_tests_properties(seen PROPERTIES ENVIRONMENT "OMP_NUM_THREADS=3")
END
cd "$work"
seen=$(OMP_CANCELLATION=true GOMP_SPINCOUNT='' KMP_BLOCKTIME=1 PSTHREADS_TLS=never OMP_NUM_THREADS=4 ctest -V |
    grep -oE '^1: (OMP|GOMP|KMP|PSTHREADS)_.*' | sort -u)
[ "$seen" = "1: OMP_NUM_THREADS=3" ] || { echo "FAILED: a test sees"; echo "$seen"; exit 1; }
