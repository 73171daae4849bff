#!/bin/sh
# namespace_test.sh PSRUN WORK-FOLDER SOURCE-FOLDER CC - psrun, and the runtime, where there is no /proc, no /sys and no
# /dev/shm: in a mount namespace in which something empty covers them. Skipped (77) where there are no namespaces.
set -u
psrun=$1 work=$2 src=$3 cc=$4
failed=0 checks=0
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
unset LD_PRELOAD LD_LIBRARY_PATH PSTHREADS_EE PSTHREADS_VERBOSE
for v in $(env | sed -n 's/^\(OMP_[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
cat >bare <<'EOF2'
#!/bin/sh
for folder in /sys /dev/shm /proc; do
    [ ! -d $folder ] || mount -t tmpfs none $folder || exit 77
done
exec "$@"
EOF2
chmod +x bare
for options in -m -rm none; do
    [ $options != none ] || { echo "skipped: no mount namespaces here"; exit 77; }
    unshare $options ./bare sh -c '! [ -e /proc/self ] && ! [ -e /sys/devices ]' 2>/dev/null && break
done
$cc -fopenmp -O2 -o regions "$src/regions.c" || exit 1

check() { # NAME COMMAND...
    what=$1
    shift
    out=$(unshare $options ./bare "$@" 2>&1 </dev/null)
    got=$?
    checks=$((checks + 1))
    if [ $got -eq 0 ] && [ "$out" = "regions: right" ]; then
        echo "ok   $what"
    else
        echo "FAIL $what: status $got: $out"
        failed=$((failed + 1))
    fi
}

for vps in 1 2 4; do
    for ee in psthreads pthreads; do
        check "$ee, $vps vps" env PSTHREADS_NUM_VPS=$vps "$psrun" --ee $ee -n 4 ./regions
    done
done
check "all processors" "$psrun" ./regions
check "places" env OMP_PLACES=cores OMP_PROC_BIND=close "$psrun" -n 4 ./regions
ln -s "$psrun" link
check "a link to psrun" ./link -n 4 ./regions
check "psrun in PATH" env "PATH=$(dirname "$psrun"):$PATH" psrun -n 4 ./regions
check "--dropin" "$psrun" --dropin "$(dirname "$psrun")/../lib/dropin" -n 4 ./regions
echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
