#!/usr/bin/python3
"""A task in C++: psthread.hpp's async, spawn and task_group beside oneTBB's task_group and std::async, in one table.

Every row runs in every way in turns, ROUNDS times; a value is the median of the rounds. Processor time is the whole
process's, user and system, of which other work on the machine takes nothing away. A ratio is the median of the rounds'
ratios, with its 95 % interval (bootstrap over the rounds): how many times ours the peer takes. std::async has a kernel
thread for each task, so it has no row with a task for every call; the number of workers does not matter to it. oneTBB
is left out where it was not there at build time."""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
import verdict

ROWS = {"fib": "fib(24), a task a call", "leaf": "the same down to fib(12)", "thousand": "1000 begun, then waited for"}
WAYS = {"async": "async", "spawn": "spawn", "task_group": "task_group", "tbb": "oneTBB task_group",
        "std": "std::async"}
RATIOS = [("task_group", "tbb"), ("spawn", "tbb"), ("async", "std")]
NOT_THERE = 77


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--workers", default="1,2", help="numbers of workers, with commas between (default: 1,2)")
    a = parser.parse_args()
    try:
        a.workers = [int(w) for w in a.workers.split(",")]
    except ValueError:
        parser.error(f"--workers {a.workers}: want numbers with commas between")
    if a.rounds < 1 or min(a.workers) < 1:
        parser.error("--rounds and --workers: want at least 1")
    return a


def run(command):
    """(ns, ns of processor time, bytes); "not there"; None where it fails, with its reason on standard error."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        harness.say(f"{' '.join(map(str, command))}: not finished in 60 s")
        return None
    if done.returncode == NOT_THERE:
        return "not there"
    if done.returncode:
        harness.say(f"{' '.join(map(str, command))}: exit status {done.returncode}: {done.stderr.strip()}")
        return None
    return tuple(json.loads(line)["median"] for line in done.stdout.splitlines()[:3])


def measure(a, program):
    """{(row, workers): {way: {round: what run returns}}}"""
    values, ways = {}, list(WAYS)
    for this_round in range(a.rounds):
        for row in ROWS:
            for workers in a.workers:
                shift = this_round % len(ways)
                for way in ways[shift:] + ways[:shift]:
                    if way == "std" and row == "fib":
                        continue
                    value = run([program, way, str(workers), row])
                    if value == "not there":
                        harness.say("oneTBB was not there at build time (tools/install-deps bench)")
                        ways.remove(way)
                    elif value:
                        values.setdefault((row, workers), {}).setdefault(way, {})[this_round] = value
        harness.say(f"round {this_round + 1} of {a.rounds}")
    return values


def print_table(a, values, title, which, unit=1, digits=0):
    print(f"{title:28}" + "".join(f"{name:>20}" for name in WAYS.values()))
    for row, name in ROWS.items():
        cells = []
        for way in WAYS:
            found = [values.get((row, w), {}).get(way) for w in a.workers]
            cells.append(" / ".join(f"{statistics.median(r[which] for r in v.values()) / unit:.{digits}f}" if v else "-"
                                    for v in found))
        print(f"{name:28}" + "".join(f"{cell:>20}" for cell in cells))
    print()


def ratio_text(cell, ours, peer, which):
    found = verdict.ratio_interval(*({k: v[which] for k, v in cell.get(way, {}).items()} for way in (peer, ours)))
    return f"{found[0]:.2f} [{found[1]:.2f} {found[2]:.2f}]" if found else "-"


def print_ratios(a, values):
    print(f"{'how many times ours':62}{'workers':>8}{'time':>24}{'processor time':>24}")
    for ours, peer in RATIOS:
        for row, name in ROWS.items():
            for workers in a.workers:
                cell = values.get((row, workers), {})
                if ours in cell and peer in cell:
                    print(f"{WAYS[peer] + ' / ' + WAYS[ours]:34}{name:28}{workers:8}"
                          + "".join(f"{ratio_text(cell, ours, peer, which):>24}" for which in (0, 1)))


def main():
    a = read_arguments()
    program = a.build / "bench" / "cxx_tasks"
    if not program.is_file():
        sys.exit(f"{program}: not there; build it first (make)")
    print(harness.machine_line())
    print(f"bench/cxx_tasks.py; medians of {a.rounds} interleaved runs; workers: {' / '.join(map(str, a.workers))}\n")
    values = measure(a, program)
    print_table(a, values, "ns a task", 0)
    print_table(a, values, "ns of processor time", 1)
    print_table(a, values, "peak memory, MB", 2, 1e6, 1)
    print_ratios(a, values)


if __name__ == "__main__":
    main()
