#!/bin/bash
# install_deps_test.sh INSTALL-DEPS WORK-FOLDER - what is installed stays, whatever a group asks for. dpkg and apt are
# scripts here that keep the list of installed packages in a file and know which packages exclude which: nothing of this
# machine is touched.
set -u
script=$(readlink -f "$1") work=$2
rm -rf "$work" && mkdir -p "$work/bin" && cd "$work" || exit 1
export STATE=$work/installed LOG=$work/log PATH=$work/bin:$PATH
failed=0 checks=0

fake() { cat >"bin/$1" && chmod +x "bin/$1"; }
fake id <<'EOF'
#!/bin/sh
echo 0
EOF
fake dpkg-query <<'EOF'
#!/bin/bash
shift 3
status=1
for pattern in "$@"; do
    while read -r p; do [[ $p == $pattern ]] && echo installed && status=0; done <"$STATE"
done
exit $status
EOF
fake apt-cache <<'EOF'
#!/bin/sh
case $2 in blocked-of*) ;; *) echo "$2 | 1 | here" ;; esac
EOF
# libomp-dev, libomp-19-dev and libomp-18-dev exclude one another, as in Debian
fake apt-get <<'EOF'
#!/bin/bash
echo "$*" >>"$LOG"
[ "$1" = update ] && exit 0
keep= new=()
for a in "${@:2}"; do
    case $a in --no-remove) keep=1 ;; -*) ;; *) new+=("$a") ;; esac
done
for p in "${new[@]}"; do
    [[ $p == libomp-*dev ]] || continue
    if grep -qE '^libomp-.*dev$' "$STATE" && ! grep -qx "$p" "$STATE"; then
        [ -z "$keep" ] || { echo "E: Packages need to be removed but remove is disabled." >&2; exit 100; }
        grep -vE '^libomp-.*dev$' "$STATE" >"$STATE.new"
        mv "$STATE.new" "$STATE"
    fi
done
printf '%s\n' "${new[@]}" >>"$STATE"
EOF

# check NAME INSTALLED-BEFORE MUST-BE-THERE MUST-NOT-BE-ASKED-FOR GROUP...
check() {
    local what=$1 before=$2 there=$3 not_asked=$4 p wrong=
    shift 4
    printf '%s\n' $before >"$STATE"
    : >"$LOG"
    "$script" "$@" >"$work/out" 2>&1 || wrong="exit status $?"
    for p in $before $there; do grep -qx "$p" "$STATE" || wrong="$wrong; $p is not installed"; done
    for p in $not_asked; do ! grep -qE "^install.* $p( |\$)" "$LOG" || wrong="$wrong; $p was asked for"; done
    checks=$((checks + 1))
    [ -z "$wrong" ] && echo "ok   $what" && return
    echo "FAIL $what: ${wrong#; }"
    sed 's/^/     /' "$work/out" "$LOG"
    failed=$((failed + 1))
}

check "an empty machine" "libc6" "gcc clang-19 libomp-dev valgrind" "" build check
check "the user's libomp stays" "libomp-19-dev" "g++ gdb clang-19" "libomp-dev" build check
check "another libomp stays" "libomp-18-dev libclang-rt-18-dev" "gdb" "libomp-dev" check
check "the user's clang serves" "clang-17" "gdb libomp-dev" "clang-19" check
check "any clang builds programs" "clang-16 libomp-16-dev" "gfortran" "clang libomp-dev" programs
check "all groups" "libomp-19-dev clang-19" "gcc debootstrap qemu-user" "libomp-dev clang" all
# a conflict that the groups do not know of: what is left is installed nevertheless
sed "s/libomp-dev|libomp-\*-dev/libomp-dev/" "$script" >"$work/unaware" && chmod +x "$work/unaware"
script=$work/unaware
check "an unknown conflict" "libomp-19-dev" "gdb valgrind" "" check
grep -q "cannot install 'libomp-dev'" out || { echo "FAIL the conflict is not said"; failed=$((failed + 1)); }
echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
