#!/usr/bin/python3
"""Threads that are made and joined, switched and kept waiting: ours beside massivethreads and Argobots, in one table.

  bench/threads_table.py --peer massivethreads=/opt/mt/lib/libmyth.so --peer argobots=/opt/abt/lib/libabt.so

A peer is its shared object, built elsewhere; also by PSTHREADS_PEERS="massivethreads=LIBRARY argobots=LIBRARY". Nothing
of theirs is needed to build this. Every row runs under every library in turns, ROUNDS times; a value is the median of
the rounds, nanoseconds. Each library is asked for one worker and for two. psthreads thrice: psthread_create and
psthread_enqueue, the same where threads share their kernel thread's thread-local storage (PSTHREADS_TLS=never), and
psthread_spawn. The last row is bytes in memory for a ready thread, of a million. Behind it stands the processor time
of the whole process outside of the kernel, of which other work on the machine takes nothing away; the least of the
rounds."""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness

ROWS = {"thousand": "1000 made, then joined", "one": "one made and joined", "fib": "fib, a thread a call",
        "yield": "yield", "barrier": "barrier of 64"}
# What is said to the program, and in which environment.
OURS = {"psthreads": ("psthreads", {}), "no blocks": ("psthreads", {"PSTHREADS_TLS": "never"}),
        "spawn": ("psthreads-spawn", {})}
KNOWN = ("massivethreads", "argobots")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=LIBRARY", help=" or ".join(KNOWN))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", default="1,2", help="numbers of workers, with commas between (default: 1,2)")
    parser.add_argument("--rows", default=",".join(ROWS), help="only these (default: all)")
    parser.add_argument("--json", type=Path, help="writes every value there")
    a = parser.parse_args()
    a.peer = a.peer or os.environ.get("PSTHREADS_PEERS", "").split()
    for peer in a.peer:
        name, _, library = peer.partition("=")
        if name not in KNOWN or not library:
            parser.error(f"--peer {peer}: want NAME=LIBRARY, NAME one of {', '.join(KNOWN)}")
        if not Path(library).is_file():
            parser.error(f"--peer {peer}: there is no such file")
    try:
        a.workers = [int(w) for w in a.workers.split(",")]
    except ValueError:
        parser.error(f"--workers {a.workers}: want numbers with commas between")
    a.rows = a.rows.split(",")
    for row in a.rows:
        if row not in ROWS:
            parser.error(f"--rows {row}: want some of {', '.join(ROWS)}")
    if a.rounds < 1 or min(a.workers) < 1:
        parser.error("--rounds and --workers: want at least 1")
    return a


def run(command, environment):
    """The two values that it prints; None where it fails, with its reason on standard error."""
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        harness.say(f"{' '.join(map(str, command))}: not finished in 60 s")
        return None
    if done.returncode:
        harness.say(f"{' '.join(map(str, command))}: exit status {done.returncode}: {done.stderr.strip()}")
        return None
    return [json.loads(line)["median"] for line in done.stdout.splitlines()[:2]]


def bytes_of_a_thread(build):
    done = subprocess.run([build / "bench" / "psthreads_memory"], capture_output=True, text=True, timeout=120)
    for line in done.stdout.splitlines():
        value = json.loads(line)
        if value["bench"] == "a ready psthread":
            return value["median"]
    return None


def print_table(a, values, names, value_of):
    print(f"{'':24}" + "".join(f"{name:>18}" for name in names))
    for row in a.rows:
        cells = []
        for name in names:
            found = [values.get(row, {}).get(str(w), {}).get(name) for w in a.workers]
            cells.append(" / ".join(f"{value_of(v):.0f}" if v else "-" for v in found))
        print(f"{ROWS[row]:24}" + "".join(f"{cell:>18}" for cell in cells))


def main():
    a = read_arguments()
    program = a.build / "bench" / "threads_table"
    if not program.is_file():
        sys.exit(f"{program}: not there; build it first (make)")
    libraries = OURS | {peer.partition("=")[0]: (peer, {}) for peer in a.peer}
    names = list(libraries)
    values = {}
    for this_round in range(a.rounds):
        for row in a.rows:
            for workers in a.workers:
                shift = this_round % len(names)
                for name in names[shift:] + names[:shift]:
                    if name == "spawn" and row in ("yield", "barrier"):
                        continue  # nothing is spawned there but at the start
                    library, environment = libraries[name]
                    value = run([program, library, str(workers), row], environment)
                    if value is not None:
                        values.setdefault(row, {}).setdefault(str(workers), {}).setdefault(name, []).append(value)
        harness.say(f"round {this_round + 1} of {a.rounds}")
    each = bytes_of_a_thread(a.build)
    print(f"ns, medians of {a.rounds} interleaved runs; workers: {' / '.join(map(str, a.workers))}")
    print_table(a, values, names, lambda found: statistics.median(wall for wall, _ in found))
    if each is not None:
        print(f"{'a ready thread, bytes':24}{each:>18.0f}")
    print(f"\nns of processor time, the least of {a.rounds}")
    print_table(a, values, names, lambda found: min(used for _, used in found))
    if a.json:
        partial = a.json.with_name(a.json.name + ".part")
        partial.write_text(json.dumps({"rounds": a.rounds, "ns": values, "bytes": each}, indent=1) + "\n")
        partial.replace(a.json)


if __name__ == "__main__":
    main()
