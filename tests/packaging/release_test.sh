#!/bin/bash
# release_test.sh BUILD - packaging/release: the archive is the last commit's; the same libraries as before pass; a
# symbol that is lost ends it, and so does a folder that is none.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
release=$here/../../packaging/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "release: $*"; exit 1; }
git -C "$here" rev-parse HEAD >/dev/null 2>&1 || skip "this source tree is no git repository"
command -v abidiff >/dev/null || skip "there is no abidiff (tools/install-deps release)"

"$release" "$build" "$work/out" "$build" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
(cd "$work/out" && sha256sum --check --quiet SHA256SUMS)
git -C "$here" ls-tree -r --full-tree --name-only HEAD | sort >"$work/files"
tar -tzf "$work"/out/psthreads-*.tar.gz | grep -v '/$' | cut -d/ -f2- | sort | cmp "$work/files" - ||
    fail "the archive has other files than the commit"
test -s "$work/out/notes.md"

mkdir -p "$work/before/lib/dropin"
cp "$build/lib/dropin/libgomp.so.1" "$work/before/lib/dropin"
echo 'int psthread_lost(void) { return 0; }' >"$work/lost.c"
cc -shared -fPIC "$work/lost.c" -o "$work/before/lib/libpsthreads.so" -Wl,-soname,libpsthreads.so.0
if "$release" "$build" "$work/out" "$work/before" >/dev/null 2>"$work/said"; then
    fail "a symbol was lost, and nothing said"
fi
grep -q "libpsthreads.so is not compatible with the one of $work/before" "$work/said" || fail "$(cat "$work/said")"
grep -q psthread_lost "$work/out/abi-libpsthreads.so.txt" || fail "the report does not name the symbol"
if "$release" "$build" "$work/out" "$work/out" 2>"$work/said" || ! grep -q "no build folder" "$work/said"; then
    fail "a folder that is no build folder: $(cat "$work/said")"
fi
echo "release: all good"
