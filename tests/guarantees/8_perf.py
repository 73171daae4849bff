#!/usr/bin/python3
"""perf unwinds user-level threads: every call chain from a member's function ends at an outermost frame, the program's
or a context's entry, and none in the middle of nowhere. Usage: 8_perf.py PROGRAM; skipped (77) where perf is missing or
not allowed."""
import os
import shutil
import subprocess
import sys
import tempfile

OUTERMOST = ("cpu_first", "_start")


def main():
    perf = shutil.which("perf")
    if not perf:
        print("skipped: no perf")
        return 77
    environment = dict(os.environ, OMP_MAX_ACTIVE_LEVELS="2")
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "perf.data")
        command = [perf, "record", "-q", "-N", "-F", "500", "-e", "cpu-clock", "--call-graph", "dwarf,16384", "-o",
                   data]
        recorded = subprocess.run(command + [sys.argv[1]], env=environment, capture_output=True, text=True)
        if recorded.returncode:
            print("skipped: perf cannot record here:", recorded.stderr.strip()[:200])
            return 77
        # perf's own tools must not run on the runtime under test; asked for inlined functions it leaves an addr2line
        # behind now and then.
        environment.pop("LD_LIBRARY_PATH", None)
        command = [perf, "script", "--no-inline", "-i", data, "-F", "ip,sym"]
        script = subprocess.run(command, env=environment, capture_output=True, text=True)
    chains = [block.split("\n") for block in script.stdout.strip().split("\n\n")]
    ends, bad = {}, []
    for chain in chains:
        symbols = [line.split(maxsplit=1)[1].split("+")[0] for line in chain if len(line.split()) > 1]
        if "innermost" not in symbols:
            continue
        ends[symbols[-1]] = ends.get(symbols[-1], 0) + 1
        if symbols[-1] not in OUTERMOST:
            bad.append(symbols)
    print(sum(ends.values()), "chains, ending at", ends)
    for symbols in bad[:3]:
        print("does not end at an outermost frame:", " < ".join(symbols))
    if not ends:
        print("no sample in a member's function")
        return 1
    return 1 if bad else 0


sys.exit(main())
