#!/bin/sh
# static_test.sh PART SOURCES BUILD WORK-FOLDER - programs linked statically, with libgomp.a and libomp.a of BUILD. Each
# check prints a line where it does not hold. The linker must have nothing to say, warnings included.
set -u
part=$1 src=$2 build=$3 work=$4
dropin=$build/lib/dropin
failed=0
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
unset OMP_NUM_THREADS LD_PRELOAD LD_LIBRARY_PATH
export PSTHREADS_NUM_VPS=2

fail() {
    echo "FAILED: $*"
    failed=1
}

# built COMPILER SOURCE OPTIONS...: ./program
built() {
    compiler=$1 source=$2
    shift 2
    if $compiler -O1 -w -fopenmp "$@" -I"$src/tests" -L"$dropin" "$source" -o program -lm >said 2>&1 &&
        [ ! -s said ]; then
        return 0
    fi
    fail "$compiler $* $source: $(cat said)"
    return 1
}

# ran ARGUMENTS...: the program ends well, on our runtime
ran() {
    PSTHREADS_VERBOSE=1 ./program "$@" >out 2>&1 || fail "$source $*: status $?: $(tail -n 3 out)"
    grep -q "^psthreads .* runs this process: .*(linked into the program)$" out || fail "$source: not our runtime"
}

case $part in
kinds)
    export OMP_MAX_ACTIVE_LEVELS=2
    for kind in -static "-static-pie -fPIE"; do
        # shellcheck disable=SC2086 # options
        built gcc "$src/tests/static/program.c" $kind && ran
        # shellcheck disable=SC2086
        built g++ "$src/tests/static/program.cc" $kind && ran
    done
    if command -v gfortran >/dev/null; then
        built gfortran "$src/tests/static/program.f90" -static && ran
    fi
    for clang in clang-19 clang; do
        if echo '#include <omp.h>' | $clang -fopenmp=libomp -E - >out 2>&1 && grep -q 'clang.*omp.h' out; then
            built $clang "$src/tests/static/program.c" -fopenmp=libomp -static && ran
            break
        fi
    done
    ;;
doctor)
    export OMP_MAX_ACTIVE_LEVELS=2
    built gcc "$src/tests/static/program.c" -static && strip program
    "$build/bin/psrun" doctor ./program >out || fail "doctor: status $?"
    grep -q "nothing to replace: psthreads .*, static, libgomp's ABI, is linked into it" out ||
        fail "doctor: $(cat out)"
    "$build/bin/psrun" ./program || fail "psrun: status $?"
    gcc -O1 -fopenmp -static -I"$src/tests" "$src/tests/static/program.c" -o foreign 2>said # its linker warns
    "$build/bin/psrun" doctor ./foreign >out && fail "doctor of a foreign runtime: status 0"
    grep -q "is linked statically and has an OpenMP runtime inside" out || fail "doctor: $(cat out)"
    ;;
names) # none but those of symbols.txt, and two that compilers make in every object
    for abi in libgomp libomp; do
        nm --defined-only --extern-only --format=posix "$dropin/$abi.a" | sed -n 's/ [A-Za-z] .*//p' |
            grep -v -x -e DW.ref.__gcc_personality_v0 -e _.stapsdt.base | sort >shown
        sort "$build/symbols/static.txt" | comm -13 - shown >others
        [ ! -s others ] || fail "$abi.a shows more: $(cat others)"
        for name in GOMP_parallel __kmpc_fork_call omp_init_lock pthread_kill; do
            grep -q -x $name shown || fail "$abi.a does not show $name"
        done
    done
    ;;
omp)
    for name in parallel locks task_fib nested fork; do
        built gcc "$src/tests/omp/$name.c" -static && OMP_NUM_THREADS=4 ran
    done
    built gcc "$src/tests/omp/env_list.c" -static && OMP_NUM_THREADS=3,2,4 ran
    ;;
guarantees)
    for name in 1_threadprivate 1_mutex_kinds 1_key_destructors 9_signal_masks 9_thread_ids; do
        built gcc "$src/tests/guarantees/$name.c" -static && OMP_NUM_THREADS=8 ran
    done
    built gcc "$src/tests/guarantees/9_mutexes.c" -static && OMP_NUM_THREADS=8 ran computing
    ;;
esac
exit $failed
