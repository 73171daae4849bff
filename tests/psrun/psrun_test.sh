#!/bin/sh
# psrun_test.sh PSRUN WORK-FOLDER SOURCE-FOLDER CC - everything psrun promises, against runtimes that say their own
# name. Each check prints one line; the exit status says whether all held.
set -u
psrun=$1 work=$2 src=$3 cc=$4
failed=0 checks=0

rm -rf "$work"
mkdir -p "$work/bin" "$work/lib/dropin" "$work/lib/dropin-pthreads" "$work/wheel/libs" "$work/with blank"
cp "$psrun" "$work/bin/psrun"
psrun=$work/bin/psrun
cd "$work" || exit 1
# a psrun built with AddressSanitizer takes offence at LD_PRELOAD otherwise
export ASAN_OPTIONS=verify_asan_link_order=0
unset LD_PRELOAD LD_LIBRARY_PATH OMP_NUM_THREADS PSTHREADS_EE PSTHREADS_POOLS PSTHREADS_VERBOSE

runtime() { # FILE SONAME NAME MAP [FLAGS]
    out=$1 soname=$2 name=$3 map=$4
    shift 4
    $cc -shared -fPIC -o "$out" "$src/fake_runtime.c" -DFAKE_NAME="\"$name\"" -Wl,-soname,"$soname" \
        -Wl,--version-script="$src/$map" "$@" || exit 1
}
runtime lib/dropin/libgomp-ours.so libgomp.so.1 ours fake_runtime.map
ln -s libgomp-ours.so lib/dropin/libgomp.so.1
ln -s libgomp-ours.so lib/dropin/libomp.so.5
runtime lib/dropin-pthreads/libgomp.so.1 libgomp.so.1 ours-pthreads fake_runtime.map
runtime wheel/libs/libgomp.so.1 libgomp.so.1 bundled fake_runtime.map
runtime wheel/libs/libgomp-a34b.so.1 libgomp-a34b.so.1 renamed fake_runtime.map
runtime wheel/libs/libgomp-extra.so.1 libgomp-extra.so.1 extra fake_runtime_extra.map -DFAKE_EXTRA
rpath='-Wl,--disable-new-dtags,-rpath,$ORIGIN/wheel/libs'
runpath='-Wl,--enable-new-dtags,-rpath,$ORIGIN/wheel/libs'
$cc -fopenmp -c -fPIC -o program.o "$src/program.c" || exit 1
$cc -fopenmp -c -fPIC -o extra.o -DWANT_EXTRA "$src/program.c" || exit 1
$cc -fopenmp -c -fPIC -o plugin.o "$src/plugin.c" || exit 1
$cc -o plain program.o -fopenmp || exit 1
$cc -o children "$src/children.c" -fopenmp && $cc -o children_runpath "$src/children.c" -fopenmp "$runpath" || exit 1
$cc -o by_rpath program.o wheel/libs/libgomp.so.1 "$rpath" || exit 1
$cc -o by_runpath program.o wheel/libs/libgomp.so.1 "$runpath" || exit 1
$cc -o by_other_name program.o wheel/libs/libgomp-a34b.so.1 "$rpath" || exit 1
$cc -o wants_extra extra.o wheel/libs/libgomp-extra.so.1 "$rpath" || exit 1
$cc -shared -o wheel/plugin.so plugin.o wheel/libs/libgomp-a34b.so.1 -Wl,--disable-new-dtags,-rpath,'$ORIGIN/libs' || \
    exit 1
$cc -o host "$src/host.c" -ldl || exit 1
echo 'int main(void) { return 3; }' >serial.c
$cc -o serial serial.c && $cc -static -o static serial.c || exit 1
$cc -o inside program.o -static-libgcc -Wl,-Bstatic -lgomp -Wl,-Bdynamic -lpthread -ldl 2>/dev/null
echo 'void __asan_init(void) {} _Thread_local int of_the_sanitizer;' >asan.c
echo '_Thread_local int of_the_program;' >tls.c
$cc -shared -fPIC -o libasan.so.99 asan.c -Wl,-soname,libasan.so.99 || exit 1
asan='-Wl,--no-as-needed libasan.so.99 -Wl,-rpath,$ORIGIN'
$cc -o sanitized program.o -fopenmp $asan || exit 1
$cc -o sanitized_tls program.o tls.c -fopenmp $asan || exit 1
$cc -o plain_tls program.o tls.c -fopenmp || exit 1
echo 'void __safestack_init(void) {} _Thread_local void *__safestack_unsafe_stack_ptr;' >safestack.c
$cc -o safestack program.o safestack.c -fopenmp -rdynamic || exit 1
printf '#!/bin/sh\nexec "%s/plain" "$@"\n' "$work" >script && chmod +x script
printf 'exec "%s/plain" "$@"\n' "$work" >bare && chmod +x bare
printf 'a\000b\n' >binary && chmod +x binary
printf '\177ELFxxxxx' >broken && chmod +x broken
printf 'int x;\n' >data
cp -r lib "with blank/" && mkdir "with blank/bin" && cp bin/psrun "with blank/bin/"

# check NAME STATUS PATTERN COMMAND...: the status, and a line of stdout or stderr that matches (none where "-")
check() {
    what=$1 status=$2 pattern=$3
    shift 3
    out=$("$@" 2>&1 </dev/null)
    got=$?
    checks=$((checks + 1))
    if [ $got -ne "$status" ]; then
        echo "FAIL $what: status $got, wanted $status; output: $out"
    elif [ "$pattern" = - ] && [ -n "$out" ]; then
        echo "FAIL $what: wanted no output, got: $out"
    elif [ "$pattern" != - ] && ! printf '%s\n' "$out" | grep -q -e "$pattern"; then
        echo "FAIL $what: no line matches '$pattern' in: $out"
    else
        echo "ok   $what"
        return
    fi
    failed=$((failed + 1))
}
# the fakes do say their names without psrun; else the checks below would prove nothing
check "bundled runtime without psrun" 0 '^runtime: bundled$' ./by_rpath
check "renamed runtime without psrun" 0 '^runtime: renamed$' ./by_other_name
check "plugin without psrun" 0 '^runtime: renamed$' ./host wheel/plugin.so

check "by name" 0 '^runtime: ours$' "$psrun" ./plain
check "exit status" 42 '^runtime: ours$' "$psrun" ./plain 42
check "signal" 143 '^runtime: ours$' sh -c '"$1" ./plain kill; exit $?' sh "$psrun"
check "RUNPATH comes after us" 0 '^runtime: ours$' "$psrun" ./by_runpath
check "RPATH comes before LD_LIBRARY_PATH" 0 '^runtime: ours$' "$psrun" ./by_rpath
check "renamed copy" 0 '^runtime: ours$' "$psrun" ./by_other_name
check "renamed copy, loaded later" 0 '^runtime: ours$' "$psrun" ./host wheel/plugin.so
check "script" 5 '^runtime: ours$' "$psrun" ./script 5
check "started by another program" 6 '^runtime: ours$' "$psrun" env A=b ./plain 6
check "psrun in psrun" 0 '^runtime: ours-pthreads$' "$psrun" "$psrun" --ee pthreads ./by_other_name
check "psrun in psrun, with a sanitizer" 0 '^runtime: ours-pthreads$' "$psrun" "$psrun" ./sanitized_tls
check "psrun in psrun, the outer one was told" 0 '^runtime: ours-pthreads$' "$psrun" --ee pthreads "$psrun" ./plain
check "nested preload" 0 '^runtime: ours-pthreads$' "$psrun" env A=b "$psrun" --ee pthreads ./by_other_name
check "program from PATH" 0 '^runtime: ours$' env PATH="$work:$PATH" "$psrun" plain
check "arguments are the program's" 9 '^runtime: ours$' "$psrun" ./plain 9 --help -n
check "no LD_PRELOAD where names suffice" 0 '^LD_PRELOAD=(not set)$' "$psrun" ./plain env LD_PRELOAD
check "LD_PRELOAD of others stays" 0 'LD_PRELOAD=.*dropin/libgomp.so.1:libm.so.6' env LD_PRELOAD=libm.so.6 "$psrun" \
    ./by_other_name env LD_PRELOAD
check "LD_LIBRARY_PATH of others stays" 0 'LD_LIBRARY_PATH=.*/dropin:/opt/x$' env LD_LIBRARY_PATH=/opt/x "$psrun" \
    ./plain env LD_LIBRARY_PATH
check "LD_LIBRARY_PATH with the current folder in it" 0 '/dropin:\.:/opt/x:\.$' env LD_LIBRARY_PATH=:/opt/x: "$psrun" \
    ./plain env LD_LIBRARY_PATH
check "LD_LIBRARY_PATH that is empty" 0 '/dropin$' env LD_LIBRARY_PATH= "$psrun" ./plain env LD_LIBRARY_PATH
check "standard input and output are closed" 7 - sh -c '"$1" ./plain 7 <&- >&-' sh "$psrun"
check "standard input and error are closed" 7 '^runtime: ours$' sh -c '"$1" ./by_rpath 7 <&- 2>&-' sh "$psrun"
check "all three are closed" 7 - sh -c '"$1" ./by_rpath 7 <&- >&- 2>&-' sh "$psrun"
if [ -r /etc/ld.so.cache ]; then
    check "a plain search: the loader is not asked" 0 '^children: none$' "$psrun" ./children
    check "the same below another psrun" 0 '^children: none$' "$psrun" env A=b "$psrun" ./children
fi
mkdir -p 'a (0x) folder/wheel/libs' && cp by_rpath 'a (0x) folder/' && cp wheel/libs/* 'a (0x) folder/wheel/libs/' || \
    exit 1
check "a folder with what ends the loader's lines" 0 '^runtime: ours$' "$psrun" './a (0x) folder/by_rpath'
mkfifo pipe && chmod +x pipe && printf '#!./pipe\n' >by_pipe && chmod +x by_pipe || exit 1
check "a script whose interpreter is a pipe" 126 'pipe' timeout 10 "$psrun" ./by_pipe
long=$(printf 'd/%.0s' $(seq 300))
check "a long name, and what is wrong with it" 127 'No such file or directory$' "$psrun" "./$long"
check "RUNPATH: the loader is asked" 0 '^children: some$' "$psrun" ./children_runpath
check "LD_LIBRARY_PATH of others: the loader is asked" 0 '^children: some$' env LD_LIBRARY_PATH=/opt/x "$psrun" \
    ./children
check "LD_PRELOAD of others: the loader is asked" 0 '^children: some$' env LD_PRELOAD=libm.so.6 "$psrun" ./children
check "variables of the loader: the loader is asked" 0 '^children: some$' env LD_BIND_NOW=1 "$psrun" ./children
check "--verbose: the loader is asked" 0 '^children: some$' "$psrun" -v ./children
check "LD_VERBOSE" 1 '^1$' sh -c 'LD_VERBOSE=1 "$1" doctor ./plain | grep -c "entry points)"; exit 1' sh "$psrun"
check "-n" 0 '^OMP_NUM_THREADS=3$' "$psrun" -n 3 ./plain env OMP_NUM_THREADS
check "-n list" 0 '^OMP_NUM_THREADS=4,2$' "$psrun" -n 4,2 ./plain env OMP_NUM_THREADS
check "--threads" 0 '^OMP_NUM_THREADS=5$' "$psrun" --threads=5 ./plain env OMP_NUM_THREADS
check "--ee" 0 '^runtime: ours-pthreads$' "$psrun" --ee pthreads ./plain
check "PSTHREADS_EE" 0 '^runtime: ours-pthreads$' env PSTHREADS_EE=pthreads "$psrun" ./plain
check "--ee before PSTHREADS_EE" 0 '^runtime: ours$' env PSTHREADS_EE=pthreads "$psrun" --ee psthreads ./plain
check "a sanitizer and thread-local variables" 0 '^runtime: ours-pthreads$' "$psrun" ./sanitized_tls
check "a sanitizer and thread-local variables: said" 0 'has a sanitizer.*kernel threads are used' "$psrun" \
    ./sanitized_tls
check "a sanitizer and thread-local variables, but --ee" 0 '^runtime: ours$' "$psrun" --ee psthreads ./sanitized_tls
check "a sanitizer alone" 0 '^runtime: ours$' "$psrun" ./sanitized
check "a second stack of each kernel thread (safe-stack)" 0 '^runtime: ours-pthreads$' "$psrun" ./safestack
check "thread-local variables alone" 0 '^runtime: ours$' "$psrun" ./plain_tls
check "PSTHREADS_EE wrong" 0 'PSTHREADS_EE=fibres: .*psthreads is used' env PSTHREADS_EE=fibres "$psrun" ./plain
check "PSTHREADS_EE and PSTHREADS_MPI set to nothing" 6 - env PSTHREADS_EE= PSTHREADS_MPI= "$psrun" sh -c 'exit 6'
check "--verbose names the runtime" 0 'psrun: runtime .*/lib/dropin/libgomp.so.1, entities: psthreads' "$psrun" \
    --verbose ./plain
check "--verbose names what is replaced" 0 'replaces libgomp-a34b.so.1' "$psrun" -v ./by_other_name
check "--verbose reaches the runtime" 0 '^PSTHREADS_VERBOSE=1$' "$psrun" -v ./plain env PSTHREADS_VERBOSE
check "--version" 0 '^psrun (psthreads) [0-9]' "$psrun" --version
check "--help" 0 'Exit status' "$psrun" --help

# The library that takes other libraries' thread pools: beside the runtime, where a pool may come later or is there.
mkdir lib/pools && echo 'int psthreads_pools_fake;' >pools.c
$cc -shared -fPIC -o lib/pools/libpsthreads-pools.so pools.c || exit 1
pool() { # FILE FUNCTION: a library that lets its caller run its parallel jobs, and a program linked to it
    echo "void $2(void) {} int main(void) { return 3; }" >pool.c
    $cc -shared -fPIC -o "lib$1.so" pool.c -Wl,-soname,"lib$1.so" && \
        $cc -o "uses_$1" serial.c -Wl,--no-as-needed "lib$1.so" -Wl,-rpath,'$ORIGIN' || exit 1
}
pool openblas64_ scipy_openblas_set_threads_callback_function64_
pool fftw3f_threads fftwf_threads_set_callback
pool old_openblas openblas_set_num_threads
$cc -o uses_both program.o -fopenmp -Wl,--no-as-needed libopenblas64_.so -Wl,-rpath,'$ORIGIN' || exit 1
both='^LD_PRELOAD=.*/dropin/libgomp.so.1:.*/lib/pools/libpsthreads-pools.so$'
check "pools: what may be loaded later" 0 "$both" "$psrun" env
check "pools: others stay behind" 0 '/libgomp.so.1:.*/libpsthreads-pools.so:libm.so.6$' env LD_PRELOAD=libm.so.6 \
    "$psrun" env
check "pools: below another psrun once" 0 "$both" "$psrun" "$psrun" env
check "pools: not for names" 0 '^LD_PRELOAD=(not set)$' "$psrun" ./plain env LD_PRELOAD
check "pools: for names, when asked for" 0 "$both" "$psrun" --pools fftw ./plain env LD_PRELOAD
check "pools: with OpenMP" 0 "$both" "$psrun" ./uses_both env LD_PRELOAD
check "pools: without OpenMP" 3 "psrun: LD_PRELOAD=.*libgomp.so.1:.*libpsthreads-pools.so$" "$psrun" -v \
    ./uses_openblas64_
check "pools: which library" 3 'psrun: libfftw3f_threads.so lets others run its parallel jobs' "$psrun" -v \
    ./uses_fftw3f_threads
check "pools: no library with such an interface" 3 'nothing to replace' "$psrun" -v ./uses_old_openblas
check "pools: started by a static program" 3 "psrun: LD_PRELOAD=.*libgomp.so.1:.*libpsthreads-pools.so$" "$psrun" -v \
    ./static
check "pools: user-level threads only" 0 '^LD_PRELOAD=[^:]*/libgomp.so.1$' "$psrun" --ee pthreads env
check "--pools none" 0 '^LD_PRELOAD=[^:]*/libgomp.so.1$' "$psrun" --pools none env
check "--pools none, with a library" 3 'nothing to replace' "$psrun" -v --pools none ./uses_openblas64_
check "PSTHREADS_POOLS=none" 0 '^LD_PRELOAD=[^:]*/libgomp.so.1$' env PSTHREADS_POOLS=none "$psrun" env
check "--pools before PSTHREADS_POOLS" 0 "$both" env PSTHREADS_POOLS=none "$psrun" --pools fftw env
check "--pools LIST" 0 '^PSTHREADS_POOLS=fftw,openblas$' "$psrun" --pools fftw,openblas env
check "PSTHREADS_POOLS is read by the library" 0 '^PSTHREADS_POOLS=mkl$' env PSTHREADS_POOLS=mkl "$psrun" env
for list in mkl tbb openblas, openblasx none,fftw ,; do
    check "--pools $list" 125 "^psrun: --pools $list: there are none, or a list of" "$psrun" --pools "$list" env
done
check "--pools without a word" 125 '^psrun: --pools : there are none, or a list of' "$psrun" --pools '' env

check "no program given" 125 'no program given' "$psrun"
check "unknown option" 125 'try psrun --help' "$psrun" --nothing ./plain
check "-n 0" 125 '-n 0: wanted' "$psrun" -n 0 ./plain
check "-n 4,,2" 125 '-n 4,,2: wanted' "$psrun" -n 4,,2 ./plain
check "-n word" 125 '-n many: wanted' "$psrun" -n many ./plain
check "--ee that is unknown" 125 'fibres: there are psthreads and pthreads' "$psrun" --ee fibres ./plain
check "folder with a blank" 125 'cannot be named to the loader' "$work/with blank/bin/psrun" ./plain
check "--dropin without a runtime" 125 'is not an OpenMP runtime' "$psrun" --dropin wheel ./plain
check "no such file" 127 'nothing_here: No such file' "$psrun" ./nothing_here
check "no such program" 127 'no such program in PATH' "$psrun" nothing_here
check "folder" 126 'is a folder' "$psrun" "$work"
check "folder: doctor says the same" 1 'is a folder' "$psrun" doctor "$work"
check "a device is none" 126 'is no regular file' "$psrun" /dev/null
check "a device: doctor says the same" 1 'is no regular file' "$psrun" doctor /dev/null
: >empty && chmod +x empty
check "an empty file is the shell's" 0 - "$psrun" ./empty
check "not executable" 126 'data: Permission denied' "$psrun" ./data
check "neither ELF nor script" 126 'neither an ELF program nor a script' "$psrun" ./binary
check "a script without a first line" 8 '^runtime: ours$' "$psrun" ./bare 8
check "broken ELF" 126 'broken' "$psrun" ./broken
check "static" 3 - "$psrun" ./static
check "static, -v" 3 'static: nothing to replace (no OpenMP): it is linked statically' "$psrun" -v ./static
check "no runtime, ever" 3 - "$psrun" ./serial
check "no runtime, ever, -v" 3 'serial: nothing to replace (no OpenMP): it can neither load' "$psrun" -v ./serial
check "a shell" 4 - "$psrun" sh -c 'exit 4'
$cc -static -o static_starter -x c - <<'EOF'
#include <unistd.h>
int main(void) { return execl("./by_other_name", "by_other_name", "7", (char *)0); }
EOF
check "started by a static program" 7 '^runtime: ours$' "$psrun" ./static_starter
check "shared library" 126 'is a shared library' "$psrun" ./wheel/libs/libgomp-a34b.so.1
check "missing entry point" 127 'GOMP_never_heard_of@GOMP_9.9' "$psrun" ./wants_extra
if [ -x inside ]; then
    check "runtime inside the program" 126 'linked into itself' "$psrun" ./inside
fi

check "doctor: by name" 0 'yes, by name (LD_LIBRARY_PATH)' "$psrun" doctor ./plain
check "doctor: a sanitizer and thread-local variables" 0 'entities: pthreads, since it has a sanitizer' "$psrun" \
    doctor ./sanitized_tls
check "doctor: RPATH" 0 'yes, by name (LD_PRELOAD' "$psrun" doctor ./by_rpath
check "doctor: renamed" 0 'yes, by interposition' "$psrun" doctor ./by_other_name
check "doctor: who needs it" 0 'needed by *by_other_name' "$psrun" doctor ./by_other_name
check "doctor: missing" 1 'missing *GOMP_never_heard_of@GOMP_9.9, wanted by wants_extra' "$psrun" doctor ./wants_extra
check "doctor: static" 0 'verdict *nothing to replace (no OpenMP): it is linked statically' "$psrun" doctor ./static
# a link elsewhere to a program that finds its runtime and its libraries by $ORIGIN: psrun and doctor look from the
# file, as the loader does
mkdir -p elsewhere/bin && ln -s ../../by_other_name elsewhere/bin/linked && ln -s linked elsewhere/bin/twice
ln -s ../../by_rpath elsewhere/bin/linked_rpath
check "a link" 0 '^runtime: ours$' "$psrun" elsewhere/bin/linked
check "a link to a link" 0 '^runtime: ours$' "$psrun" elsewhere/bin/twice
check "a link, RPATH" 0 '^runtime: ours$' "$psrun" elsewhere/bin/linked_rpath
check "a link from PATH" 0 '^runtime: ours$' env PATH="$work/elsewhere/bin:$PATH" "$psrun" twice
check "doctor: a link" 0 'yes, by interposition' "$psrun" doctor elsewhere/bin/linked
check "doctor: a link, all its files" 0 'file  *.*/wheel/libs/libgomp-a34b.so.1' "$psrun" doctor elsewhere/bin/twice
printf '#!%s/elsewhere/bin/twice 8\n' "$work" >linked_script && chmod +x linked_script
echo '#!/bin/sh' >deep0 && chmod +x deep0
for i in 1 2 3 4 5; do echo "#!$work/deep$((i - 1))" >deep$i && chmod +x deep$i; done
check "scripts that run one another, as deep as the kernel goes" 0 - "$psrun" ./deep4
check "scripts that run one another, deeper" 126 'deep5: scripts that run one another, more than 5 deep' "$psrun" \
    ./deep5
# first lines as the system reads them
printf '#!\nexit 5\n' >blank1 && printf '#! \t \nexit 5\n' >blank2 && chmod +x blank1 blank2
check "a first line without a name" 5 - "$psrun" ./blank1
check "a first line with blanks alone" 5 - "$psrun" ./blank2
printf '#!/bin/sh\r\nexit 5\n' >dos && chmod +x dos
check "a first line that ends as on DOS" 127 '^psrun: /bin/sh' "$psrun" ./dos
check "doctor: a first line that ends as on DOS" 1 'verdict *no: /bin/sh' "$psrun" doctor ./dos
printf '#!/%0300d\nexit 5\n' 0 >long_line && chmod +x long_line
check "a first line with a longer name than the system reads" 5 - "$psrun" ./long_line
printf '#!/bin/sh %0300d\nexit 5\n' 0 >long_argument && chmod +x long_argument
check "a first line with a longer argument" 2 "can't open\|cannot open" "$psrun" ./long_argument
printf '#!/bin/sh' >no_end && printf '#!' >nothing_else && chmod +x no_end nothing_else
check "a first line that does not end" 0 - "$psrun" ./no_end
check "nothing but the mark of a script" 126 '^psrun: ./nothing_else is neither' "$psrun" ./nothing_else
printf '#! ./by_other_name\t8\n' >relative && chmod +x relative
check "an interpreter in the current folder, after a blank" 8 '^runtime: ours$' "$psrun" ./relative
check "a script run by a link" 8 '^runtime: ours$' "$psrun" ./linked_script
if command -v valgrind >/dev/null; then
    check "below valgrind" 0 '^runtime: ours$' valgrind -q --trace-children=yes "$psrun" ./by_other_name
    check "below valgrind, by name" 0 '^runtime: ours$' valgrind -q --trace-children=yes "$psrun" ./plain
fi
check "doctor: library" 0 'a program that loads it' "$psrun" doctor wheel/plugin.so
check "doctor: nothing yet" 0 'none; ours is preloaded' "$psrun" doctor ./host
cp plain unexecutable && chmod -x unexecutable
check "doctor: not executable" 1 'verdict *no: ./unexecutable: Permission denied' "$psrun" doctor ./unexecutable
$cc -shared -fPIC -o libgone.so -x c - <serial.c -Wl,-soname,libgone.so && $cc -o loses program.o -fopenmp \
    -Wl,--no-as-needed -L. -lgone && rm libgone.so
check "doctor: a library that is not there" 1 'verdict *no: ./loses needs libgone.so, which is not found' "$psrun" \
    doctor ./loses
check "a library that is not there" 127 '^psrun: ./loses needs libgone.so, which is not found$' "$psrun" ./loses
check "a library that is not there, SIGCHLD ignored" 127 '^psrun: ./loses needs libgone.so, which is not found$' \
    sh -c 'trap "" CHLD; exec "$1" ./loses' sh "$psrun"
printf '#!/no/such/interpreter\n' >orphan && chmod +x orphan
check "doctor: interpreter that is not there" 1 'verdict *no: /no/such/interpreter: No such file' "$psrun" doctor \
    ./orphan
check "doctor: script" 0 'a script, run by /bin/sh' "$psrun" doctor ./script
check "doctor: no first line" 0 'a script, run by /bin/sh' "$psrun" doctor ./bare
check "doctor: neither ELF nor script" 1 'neither an ELF program nor a script' "$psrun" doctor ./binary
check "doctor: an empty file" 0 'verdict *yes: what it loads or starts later' "$psrun" doctor ./empty
printf '\177ELF\001\001\001\000\000\000\000\000\000\000\000\000\002\000\003\000%060d' 0 >of_32_bits && chmod +x \
    of_32_bits
check "doctor: 32 bits" 1 'is a program for ELF machine 3;' "$psrun" doctor ./of_32_bits
if command -v musl-gcc >/dev/null; then
    musl-gcc -o of_musl serial.c && check "doctor: musl" 0 "nothing to replace.*: it is linked to musl" "$psrun" \
        doctor ./of_musl && check "musl" 3 - "$psrun" ./of_musl
fi
if [ "$(id -u)" = 0 ]; then # another user's program, for whom root is another user
    cp plain of_another && chown 65534 of_another && chmod u+s of_another
    check "doctor: set-user-id" 1 "another user's rights" "$psrun" doctor ./of_another
    if command -v setpriv >/dev/null; then
        check "psrun with the rights of two users" 126 'two users' setpriv --ruid 65534 "$psrun" ./plain
    fi
fi
if command -v python3 >/dev/null; then # as a virtual environment has it
    mkdir -p venv/bin && ln -s "$(command -v python3)" venv/bin/python
    check "doctor: an environment's Python" 0 'verdict *yes' "$psrun" doctor venv/bin/python
fi
check "a program called doctor" 127 'doctor: no such program in PATH' env PATH=/nowhere "$psrun" -- doctor

# An MPI program where the layer over MPI is not built: said once for a job.
echo 'int MPI_Init(void) { return 0; }' >mpi.c
$cc -shared -fPIC -o libmpi.so.40 mpi.c -Wl,-soname,libmpi.so.40 || exit 1
$cc -o uses_mpi program.o -fopenmp -Wl,--no-as-needed libmpi.so.40 -Wl,-rpath,'$ORIGIN' || exit 1
check "MPI without the layer" 0 'uses_mpi uses Open MPI, and the layer over it is not built here' "$psrun" ./uses_mpi
check "MPI without the layer, another rank" 0 '^0$' sh -c \
    'OMPI_COMM_WORLD_RANK=1 "$1" ./uses_mpi 2>&1 | grep -c layer; exit 0' sh "$psrun"
check "MPI without the layer, not wanted" 0 '^0$' sh -c '"$1" --mpi=off ./uses_mpi 2>&1 | grep -c layer; exit 0' sh \
    "$psrun"
mkdir -p alone/bin && cp bin/psrun alone/bin/
check "psrun without a runtime beside it" 125 'say where it is (--dropin FOLDER)' alone/bin/psrun ./plain
check "psrun without a runtime beside it, told" 0 '^runtime: ours$' alone/bin/psrun --dropin lib/dropin ./plain

# What doctor says of a program, psrun does.
for program in ./* elsewhere/bin/*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    case $program in *host | *starter | *.so*) continue ;; esac # they want arguments, or are no programs
    "$psrun" doctor "$program" >doctor.out 2>&1
    says=$?
    out=$("$psrun" "$program" 7 2>&1 </dev/null)
    got=$? does=0
    [ $got -ge 125 ] && printf '%s\n' "$out" | grep -q '^psrun: ' && does=1
    check "doctor and psrun agree on $program" 0 - test $says -eq $does
done

echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
