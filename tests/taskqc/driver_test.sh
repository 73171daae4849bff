#!/bin/bash
# driver_test.sh TASKQC FOLDER - psthreads-taskqc as make's CC: objects, dependences, links, exit statuses, files of
# several folders.
set -u
taskqc=$(realpath "$1")
folder=$2
rm -rf "$folder"
mkdir -p "$folder/part" "$folder/temporary" && cd "$folder" || exit 1
export TMPDIR=$PWD/temporary
failed=0
expect() { # WHAT CONDITION...
    local what=$1
    shift
    "$@" || { echo "$what: not so: $*"; failed=1; }
}

cat >main.c <<'END'
#include "part/sum.h"
#include <stdio.h>
int main(void)
{
    long total = 0;
#pragma omp parallel taskq reduction(+ : total)
    for (int i = 0; i < 10; i++) {
#pragma omp task
        total += sum(i);
    }
    printf("%ld\n", total);
    return 0;
}
END
cat >part/sum.c <<'END'
#include "sum.h"
#include "inner.h"
long sum(int n)
{
    long s = START;
#pragma omp taskq reduction(+ : s)
    for (int i = 0; i <= n; i++) {
#pragma omp task
        s += i;
    }
    return s;
}
END
echo 'long sum(int n);' >part/sum.h
echo '#define START 0L' >part/inner.h
echo 'int unused_here(void); int unused_here(void) { return 1; }' >plain.c
cat >Makefile <<'END'
CFLAGS = -O1 -g -Wall -Wextra -Werror -MMD
prog: main.o part/sum.o plain.o
	$(CC) $(LDFLAGS) $^ -o $@
-include main.d part/sum.d
END

make -s CC="$taskqc" || failed=1
expect "linked by make" test "$(./prog)" = 165
expect "the dependences name the source" sh -c "tr -d '\\\\\n' <main.d | grep -Eq 'main.o: +main.c +part/sum.h'"
expect "no temporary name in the dependences" sh -c '! grep -q taskqc- main.d part/sum.d'
touch part/inner.h
expect "make sees a header's change" sh -c "make -n CC='$taskqc' | grep -q sum.c"
make -s clean >/dev/null 2>&1
rm -f prog ./*.o part/*.o
make -s CC="$taskqc --openmp" || failed=1
expect "linked by make, OpenMP" test "$(./prog)" = 165
expect "no libpsthreads with OpenMP" sh -c '! ldd prog | grep -q psthreads'

mkdir elsewhere
(cd elsewhere && "$taskqc" -O1 -g ../main.c ../part/sum.c -o together) || failed=1
expect "two files at once, from elsewhere" test "$(elsewhere/together)" = 165
expect "debuggers find the source" sh -c \
    "gdb -batch -ex 'info line main' elsewhere/together 2>/dev/null | grep -q 'main.c' || ! command -v gdb >/dev/null"
(cd elsewhere && "$taskqc" -c ../main.c) || failed=1
expect "an object without -o" test -f elsewhere/main.o
echo '-O1 -DNAME="a b"' >arguments
"$taskqc" @arguments -c main.c -o from-file.o || failed=1
expect "arguments from a file" test -f from-file.o
"$taskqc" -E main.c -o main.i && expect "preprocessed" grep -q psthread_taskq_put main.i

"$taskqc" --translate main.c -o translated.c || failed=1
expect "translated" grep -q 'psthread_taskq_begin_parallel' translated.c
expect "it names the source's lines" grep -q '#line 6 "main.c"' translated.c
expect "compiled from there" "$taskqc" -Wall -Wextra -Werror -c translated.c -o translated.o
"$taskqc" --translate plain.c | cmp - plain.c || { echo "a file without directives is not as it was"; failed=1; }

# Wherever the compiler writes the dependences, and whatever the names are.
no_temporary_name() { ! grep -q taskqc- "$1" && grep -q "$2" "$1"; }
"$taskqc" -c main.c -MMD -MFjoined.d -o joined.o || failed=1
expect "-MFfile" no_temporary_name joined.d 'main\.c'
"$taskqc" -c main.c -Wp,-MMD,given.d -o given.o || failed=1
expect "-Wp,-MMD,file" no_temporary_name given.d 'main\.c'
"$taskqc" -MMD main.c part/sum.c -o together || failed=1
for d in together*.d; do
    expect "-MMD of a link: $d" no_temporary_name "$d" 'main\.c\|sum\.c'
done
mkdir 'a folder' 'temporary/with a $'
cp main.c 'a folder/main file.c'
TMPDIR="$PWD/temporary/with a \$" "$taskqc" -I. -MMD -c 'a folder/main file.c' -o spaced.o || failed=1
expect "blanks in names" no_temporary_name spaced.d 'a\\ folder/main\\ file\.c'
rmdir 'temporary/with a $' || failed=1

# Other standards, line ends, a mark for UTF-8, no end of the last line.
cat >old.c <<'END'
int main(void)
{
    int i, x[3];
#pragma omp parallel taskq private(i)
    for (i = 0; i < 3; i++) {
#pragma omp task captureprivate(i)
        x[i] = i;
    }
    return x[2] != 2;
}
END
for standard in -ansi -std=c99 -std=c11 -std=gnu17; do
    "$taskqc" $standard -Wall -Werror old.c -o old || failed=1
    expect "$standard" ./old
done
{ printf '\357\273\277'; sed 's/$/\r/' old.c | head -c -2; } >marked.c
for mode in '' --openmp; do
    "$taskqc" $mode -Wall -Werror marked.c -o marked || failed=1
    expect "other line ends $mode" ./marked
done

# What the compiler says, and its exit status, come through; so does -Werror's line.
printf '%s\n' 'int main(void)' '{' '    int x = 0;' '#pragma omp parallel taskq' '    {' '#pragma omp task' \
    '        { int unused; x = 1; }' '    }' '    return x;' '}' >bad.c
said=$("$taskqc" -Wall -Werror -c bad.c 2>&1)
expect "the compiler's exit status" test $? -ne 0
expect "the compiler's message is about the source" grep -q '^bad.c:7:.*unused' <<<"$said"
expect "no object" test ! -e bad.o
"$taskqc" --translate nothing.c >/dev/null 2>said
expect "no such file" test $? -eq 1
expect "it is named" grep -q 'nothing.c: No such file' said
"$taskqc" --translate main.c -o no/such/folder.c 2>said
expect "cannot be written" test $? -eq 1
expect "that is said" grep -q 'no/such/folder.c: ' said
mkfifo pipe
exec 9<>pipe
"$taskqc" --translate main.c -o pipe || failed=1
expect "a pipe stays one" test -p pipe
expect "it gets the translation" timeout 10 grep -q -m 1 psthread_taskq /dev/fd/9
ln -s pointed.c link.c
echo >pointed.c
"$taskqc" --translate main.c -o link.c || failed=1
expect "a link stays one, and its file gets it" test -L link.c -a -s pointed.c
expect "nothing is left in the temporary folder" rmdir temporary
mkdir -p temporary

for other in clang-19 clang; do
    command -v $other >/dev/null || continue
    "$taskqc" --cc=$other -O1 -Wall -Wextra -Werror main.c part/sum.c -o by-clang || failed=1
    expect "made by $other" test "$(./by-clang)" = 165
    break
done
exit $failed
