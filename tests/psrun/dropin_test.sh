#!/bin/sh
# dropin_test.sh PSRUN WORK-FOLDER SOURCE-FOLDER CC - psrun with the real runtime: that it, and no other, is what
# programs get.
set -u
psrun=$1 work=$2 src=$3 cc=$4
failed=0 checks=0
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
unset LD_PRELOAD LD_LIBRARY_PATH PSTHREADS_EE PSTHREADS_VERBOSE
for v in $(env | sed -n 's/^\(OMP_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
$cc -fopenmp -O2 -o program "$src/program.c" || exit 1
$cc -fopenmp -O2 -o maps "$src/maps.c" || exit 1

check() { # NAME STATUS PATTERN COMMAND...
    what=$1 status=$2 pattern=$3
    shift 3
    out=$("$@" 2>&1 </dev/null)
    got=$?
    checks=$((checks + 1))
    if [ $got -eq "$status" ] && printf '%s\n' "$out" | grep -q -e "$pattern"; then
        echo "ok   $what"
    else
        echo "FAIL $what: status $got (wanted $status), wanted a line '$pattern' in: $out"
        failed=$((failed + 1))
    fi
}

check "without psrun it is libgomp" 0 '^runtimes: libgomp.so.1' ./maps
for ee in psthreads pthreads; do
    check "$ee: ours and no other" 0 '^runtimes: libgomp-psthreads.so$' "$psrun" --ee $ee ./maps
    check "$ee: threads of a region" 0 '^threads: 3 of 3$' "$psrun" --ee $ee -n 3 ./maps
    check "$ee: threads of nested regions" 0 '^nested: 12 of 12$' "$psrun" --ee $ee -n 3,4 ./maps
    check "$ee: exit status" 42 '' "$psrun" --ee $ee ./program 42
    check "$ee: signal" 143 '' sh -c '"$1" --ee "$2" ./program kill; exit $?' sh "$psrun" $ee
    check "$ee: doctor" 0 'verdict *yes' "$psrun" --ee $ee doctor ./maps
done
lib=$(cd "$(dirname "$psrun")/../lib" && pwd)
mkdir -p same other
cp -P "$lib"/dropin/*.so* same && cp -P "$lib"/dropin-pthreads/*.so* other
check "--dropin: the scheduler's" 0 'entities: psthreads$' "$psrun" --verbose --dropin "$lib/dropin" ./maps
check "--dropin: kernel threads" 0 'entities: pthreads$' "$psrun" --verbose --dropin "$lib/dropin-pthreads" ./maps
check "--dropin: what --ee says is not asked" 0 'entities: pthreads$' "$psrun" --verbose --ee psthreads --dropin \
    "$lib/dropin-pthreads" ./maps
check "--dropin: a copy of the scheduler's" 0 'entities: psthreads$' "$psrun" --verbose --dropin same ./maps
check "--dropin: a copy of another" 0 'entities: unknown$' "$psrun" --verbose --dropin other ./maps
check "--dropin: doctor" 0 'dropin-pthreads/libgomp.so.1 (entities: pthreads)' "$psrun" --dropin \
    "$lib/dropin-pthreads" doctor ./maps
printf '#include <omp.h>\nint main(void) { return omp_in_parallel(); }\n' >undefined.c
$cc -fopenmp -nostartfiles -Wl,-e,main -o undefined undefined.c || exit 1 # its table of exported symbols is empty
check "doctor sees what a program asks for that exports nothing" 0 'entry points *1 in use' "$psrun" doctor ./undefined
echo "int main(void) { return 0; }" >silent.c && $cc -o silent silent.c -ldl || exit 1
version=$("$psrun" --version | sed 's/.* //')
check "verbose: who runs it" 0 \
    "^psthreads $version runs this process: 3 vps, replaced: libgomp.so.1 (.*/dropin/libgomp.so.1)\$" \
    env PSTHREADS_NUM_VPS=3 PSTHREADS_VERBOSE=1 "$psrun" ./maps
check "verbose: once" 0 '^1$' sh -c 'PSTHREADS_VERBOSE=1 "$1" ./maps 2>&1 | grep -c "runs this process"' sh "$psrun"
check "verbose: nothing to run" 0 "^psthreads $version is in this process, which has no OpenMP thread" env \
    PSTHREADS_VERBOSE=1 "$psrun" sh -c "exec ./silent"
if command -v valgrind >/dev/null; then
    check "below valgrind" 0 '^runtimes: libgomp-psthreads.so$' valgrind -q --trace-children=yes "$psrun" ./maps
fi
# a program that gets its runtime through a library and so names the C library first: the library's sched_yield is ours
# as well
cat >waits.c <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
void wait_a_bit(void)
{
    Dl_info where;
    dladdr((void *)sched_yield, &where);
#pragma omp parallel num_threads(2)
    sched_yield();
    printf("%d threads, sched_yield of %s\n", omp_get_max_threads(), where.dli_fname);
}
EOF
echo 'void wait_a_bit(void); int main(void) { wait_a_bit(); return 0; }' >waiter.c
$cc -fopenmp -shared -fPIC -o libwaits.so waits.c && $cc -o waiter waiter.c ./libwaits.so || exit 1
check "sched_yield of a library's library" 0 '^2 threads, sched_yield of .*dropin' "$psrun" -n 2 ./waiter
check "doctor says that it is preloaded" 0 'LD_PRELOAD, so that calls about a thread are ours' "$psrun" doctor ./waiter
check "a program linked to libgomp needs no LD_PRELOAD" 1 '' sh -c '"$1" --verbose ./maps 2>&1 | grep LD_PRELOAD' \
    sh "$psrun"
# a library that asks weakly whether it runs in an OpenMP program: what is preloaded for others is not there for it;
# where its program is one, it is
cat >weak.c <<'EOF'
#include <stdio.h>
int omp_in_parallel(void) __attribute__((weak));
int omp_get_max_threads(void) __attribute__((weak));
void ask(void)
{
    int in_parallel = omp_in_parallel ? omp_in_parallel() : 0;
    printf("in parallel: %d, threads: %d\n", in_parallel, omp_get_max_threads ? omp_get_max_threads() : 1);
}
EOF
cat >asked.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *runtime = dlopen(argv[1], RTLD_NOW), *library = dlopen("./libweak.so", RTLD_NOW);
    void (*region)(void (*)(void)) = runtime ? (void (*)(void (*)(void)))dlsym(runtime, "region") : NULL;
    void (*ask)(void) = library ? (void (*)(void))dlsym(library, "ask") : NULL;
    if (argc > 3 || !region || !ask)
        return 9;
    region(ask);
    return 0;
}
EOF
cat >region.c <<'EOF'
#include <omp.h>
#include <stdio.h>
void region(void (*f)(void))
{
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        printf("the program itself: %d\n", omp_in_parallel());
#pragma omp master
        f();
    }
}
EOF
$cc -shared -fPIC -o libweak.so weak.c && $cc -fopenmp -shared -fPIC -o libregion.so region.c && $cc -o asked asked.c \
    -ldl || exit 1
$cc -fopenmp -shared -fPIC -o libweak_linked.so weak.c -Wl,--no-as-needed -lgomp && sed 's/libweak/libweak_linked/' \
    asked.c >asked_linked.c && $cc -o asked_linked asked_linked.c -ldl || exit 1
check "a weak reference without psrun" 0 '^in parallel: 0, threads: 1$' ./asked ./libregion.so
check "a weak reference below the preload" 0 '^in parallel: 0, threads: 1$' "$psrun" -n 3 ./asked ./libregion.so
check "a strong one beside it" 0 '^the program itself: 1$' "$psrun" -n 3 ./asked ./libregion.so
check "a weak one of who is linked to a runtime" 0 '^in parallel: 1, threads: 3$' "$psrun" -n 3 ./asked_linked \
    ./libregion.so
# an interpreter without OpenMP that loads the runtime later, by its usual name
python=$(command -v /usr/bin/python3)
if [ -n "$python" ]; then
    load='import ctypes; ctypes.CDLL("libgomp.so.1"); maps = open("/proc/self/maps")
print({l.split("/")[-1].strip() for l in maps if "gomp" in l})'
    check "python3 loads libgomp.so.1" 0 "^{'libgomp-psthreads.so'}$" "$psrun" "$python" -c "$load"
fi
# a renamed copy of libgomp, as wheels have, that is loaded later: it is said at the end whose entry points are found
libgomp=$($cc -print-file-name=libgomp.so.1)
if [ -n "$python" ] && [ -r "$libgomp" ]; then
    cp -L "$libgomp" libgomp-a34b.so.1
    load='import ctypes; ctypes.CDLL("./libgomp-a34b.so.1")'
    check "a renamed copy beside us" 0 'libgomp-a34b.so.1 is loaded too; not used' "$psrun" --verbose "$python" \
        -c "$load"
    check "a renamed copy before us" 0 'libgomp-a34b.so.1 is loaded too; its entry points are found before' \
        env PSTHREADS_VERBOSE=1 \
        LD_PRELOAD="./libgomp-a34b.so.1 $("$psrun" env | sed -n 's/^LD_PRELOAD=//p' | cut -d: -f1)" "$python" -c ''
    check "nothing is said unasked" 0 '^nothing$' sh -c '"$@" 2>&1 | grep loaded || echo nothing' sh "$psrun" \
        "$python" -c "$load"
fi
echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
