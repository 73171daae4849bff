#!/usr/bin/python3
"""Processes that share the processors (docs/sharing.md), beside libgomp and beside themselves without sharing.

  bench/sharing.py [--build FOLDER] [--rounds N] [--seconds S] [--rows REGEX]     writes BUILD/bench/results/sharing.txt

Where oneTBB was there at build time, there are rows with its program fib_tbb beside ours, which does not share.

Round by round: each row under each runtime in turns. Shown are medians, and the ratio to libgomp. A row's figure is
work by time, of all its processes together, or the time of a region. "Work by processor time" tells more than work by
time where other programs run on the machine."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEMBERS = 4
RUNTIMES = ("libgomp", "off", "on")
TBB, TBB_ONE = "fib_tbb", "fib_tbb, one thread"
# name; which figure of the last process counts, whether those of all are added; processes: weight and arguments behind
# SECONDS, or TBB and its argument. Figures: 0 regions a second, 1 by processor time, 2 us a region, 3 TBB's ns a task.
FOUR = [(1, f"{MEMBERS} 4 1000 0 0")] * 4
ALTERNATE = [(1, "2 0 20000 10000 0")] * 2
BESIDE, BESIDE_ONE = [(TBB, "28"), (1, "2 4 1000 0 0")], [(TBB_ONE, "28"), (1, "2 4 1000 0 0")]
BATCH, LATENCY = (1, "2 0 20000 0 0"), (8, "2 0 1000 0 3000")
ROWS = [
    ("4 processes x 4 threads, barriers: regions/s", 0, True, FOUR),
    ("the same, by processor time", 1, False, FOUR),
    ("the same work one after another: regions/s", 0, True, FOUR[:1]),
    ("2 processes, parallel and sequential in turns: regions/s", 0, True, ALTERNATE),
    ("the same, by processor time", 1, False, ALTERNATE),
    ("1 ms regions alone: us", 2, False, [LATENCY]),
    ("1 ms regions with weight 8 beside a batch process: us", 2, False, [BATCH, LATENCY]),
    ("1 process alone: regions/s", 0, True, [(1, "2 4 1000 0 0")]),
    ("1 process beside oneTBB: regions/s", 0, False, BESIDE),
    ("oneTBB beside it: ns a task", 3, False, BESIDE),
    ("1 process beside oneTBB with one thread: regions/s", 0, False, BESIDE_ONE),
    ("oneTBB with one thread beside it: ns a task", 3, False, BESIDE_ONE),
]


def run(program, build, runtime, seconds, processes):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "PSTHREADS_"))}
    before = [] if runtime == "libgomp" else [build / "bin" / "psrun"]
    started = []
    one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]  # oneTBB has a thread for each processor that it may use
    beside = [[*(one if weight == TBB_ONE else []), build / "bench" / TBB, argument]
              for weight, argument in processes if weight in (TBB, TBB_ONE)]
    for weight, arguments in processes:
        if weight in (TBB, TBB_ONE):
            continue
        environment["PSTHREADS_SHARE"] = str(weight) if runtime == "on" else "off"
        started.append(subprocess.Popen([*before, program, str(seconds), *arguments.split()], env=dict(environment),
                                        stdout=subprocess.PIPE, text=True))
    foreign = []
    while beside and started[-1].poll() is None:  # again and again
        for command in beside:
            out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            foreign.append(json.loads(out)["median"])
    results = [[float(n) for n in process.communicate()[0].split()] for process in started]
    if any(process.returncode for process in started):
        sys.exit(f"sharing.py: a process failed under {runtime}")
    if foreign:
        results[-1].append(statistics.median(foreign))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--rows", default="", help="regular expression: only rows whose name matches")
    wish = parser.parse_args()
    out = wish.build / "bench" / "results"
    out.mkdir(parents=True, exist_ok=True)
    program = wish.build / "bench" / "sharing"
    subprocess.run([wish.cc, "-O2", "-fopenmp", ROOT / "bench" / "sharing.c", "-o", program], check=True)
    found_rows = [row for row in ROWS if (wish.build / "bench" / TBB).exists() or row[3] not in (BESIDE, BESIDE_ONE)]
    found_rows = [row for row in found_rows if re.search(wish.rows, row[0])]
    values = {}
    for _ in range(wish.rounds):
        for processes in [list(p) for p in dict.fromkeys(tuple(row[3]) for row in found_rows)]:
            for runtime in RUNTIMES:
                found = run(program, wish.build, runtime, wish.seconds, processes)
                for name, figure, added, of in found_rows:
                    if of == processes:
                        value = sum(f[figure] for f in found) if added else found[-1][figure]
                        values.setdefault((name, of[0], figure, runtime), []).append(value)
    lines = [f"{len(os.sched_getaffinity(0))} processors, medians of {wish.rounds} rounds of {wish.seconds:g} s; "
             f"load {os.getloadavg()[0]:.1f}", "",
             f"{'':58}" + "".join(f"{r:>10}" for r in RUNTIMES) + "   off/libgomp   on/libgomp"]
    for name, figure, _, of in found_rows:
        median = [statistics.median(values[name, of[0], figure, runtime]) for runtime in RUNTIMES]
        lines.append(f"{name:58}" + "".join(f"{m:10.1f}" for m in median) +
                     "".join(f"{m / median[0]:13.2f}" for m in median[1:]))
    (out / "sharing.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
