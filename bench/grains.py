#!/usr/bin/python3
"""From what length of a task on does it matter which runtime runs it? Applications with smaller and larger tasks,
beside the peers.

  bench/grains.py --build build [--minutes 5] [--peer bolt=/opt/bolt/lib/libbolt.so]

Round by round as goals.py does it: every grain under every runtime, then all again. Writes grains.txt and grains.json.
"Bound": how many times libgomp's time is the sequential run's, divided among the processors; no runtime can be more
times as fast as libgomp, but by caches."""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness
import verdict
from harness import OURS, json_lines, say

# program, size, its grains: a program of its own, or the fourth argument
SWEEPS = [
    ("sort", "300", ["64", "128", "256", "512", "1024", "4096"]),
    ("strassen", "256", ["8", "16", "32", "64"]),
    ("sparselu", None, [("sparselu_6", "32"), ("sparselu", "32"), ("sparselu_24", "24"), ("sparselu_48", "16")]),
]


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--out", type=Path, help="results folder (default: BUILD/bench/results)")
    parser.add_argument("--minutes", type=float, default=5, help="no round begins after that (default: 5)")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=LIBRARY")
    return parser.parse_args()


def cases(programs, threads):
    """(application, grain, command)"""
    for name, size, grains in SWEEPS:
        for grain in grains:
            if size:
                yield name, grain, [programs / name, size, "5", threads, grain]
            else:
                program, blocks = grain
                yield name, program.partition("_")[2] or "12", [programs / program, blocks, "5", threads]


def interval_text(values):
    middle, low, high = verdict.median_interval(values)
    return f"{middle:.2f} [{low:.2f} {high:.2f}]"


def main():
    a = read_arguments()
    out = a.out or a.build / "bench" / "results"
    out.mkdir(parents=True, exist_ok=True)
    peers = harness.Peers(a.build, a.peer)
    peers.check(a.build / "bench" / "epcc_nested")
    processors = len(os.sched_getaffinity(0))
    todo = list(cases(a.build / "bench", processors))
    machine = harness.machine_line()
    values, rounds, start = {}, 0, time.monotonic()
    while rounds == 0 or time.monotonic() - start < 60 * a.minutes:
        for name, grain, command in todo:
            shift = rounds % len(peers.list)
            for peer in peers.list[shift:] + peers.list[:shift]:
                printed, why = peer.run(command, 60)
                if why:
                    say(f"{name} {grain} under {peer.label}: {why}")
                for row in json_lines(printed):
                    of = values.setdefault((name, grain), {"ms": {}, "serial": {}, "task_us": {}})
                    of["ms"].setdefault(peer.name, {})[rounds] = row["median"]
                    of["serial"].setdefault(rounds, []).append(row["serial"])
                    of["task_us"].setdefault(rounds, []).append(row["task_us"])
        rounds += 1
        say(f"round {rounds}, {time.monotonic() - start:.0f} s")
    others = [p for p in peers.list if p.name != OURS]
    lines = [f"{machine}; {rounds} rounds, {(time.monotonic() - start) / 60:.0f} minutes",
             "ms, medians of the rounds [95%]; (x): how many times the peer's time ours is, the median of the rounds' "
             "ratios; task: its work in",
             "sequential time; bound: what a runtime that costs nothing would reach against libgomp, by the sequential "
             "time."]
    rows = []
    for (name, grain), of in values.items():
        ours = of["ms"].get(OURS)
        if not ours:
            continue
        serial = {r: min(v) for r, v in of["serial"].items()}
        task = statistics.median(v for r in of["task_us"].values() for v in r)
        row = {"app": name, "grain": grain, "task_us": task, "ms": of["ms"], "serial_ms": serial, "ratio": {}}
        text = f"{name + ' ' + grain:14} task {task:6.2f} us  ours {interval_text(ours):22}"
        for peer in others:
            if of["ms"].get(peer.name):
                ratio = verdict.ratio_interval(of["ms"][peer.name], ours)
                row["ratio"][peer.name] = list(ratio)
                text += f"  {peer.name} {interval_text(of['ms'][peer.name])} ({ratio[0]:.2f}x)"
        if of["ms"].get("libgomp"):
            bound = verdict.ratio_interval(of["ms"]["libgomp"], {r: v / processors for r, v in serial.items()})
            row["bound"] = list(bound)
            text += f"  bound {bound[0]:.2f}"
        rows.append(row)
        lines.append(text)
    text = "\n".join(lines) + "\n"
    (out / "grains.txt").write_text(text)
    (out / "grains.json").write_text(json.dumps({"machine": lines[0], "rows": rows}, indent=1) + "\n")
    print(text, end="")


if __name__ == "__main__":
    main()
