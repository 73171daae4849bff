#!/usr/bin/python3
"""speed.py [--build DIR] [--quick] [--keep] - simulated instructions a second of host processor time, 64 cores,
everything modelled, one host thread.

Five programs (loops.c), each under both kernels, one after the other in turns (so that what else runs on the machine
meets both); medians of the rounds. Time is the process's own processor time. --keep writes
bench/results/manycore-speed.csv; --quick: one short round."""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# how often, so that a run takes a second or so
LOOPS = {"matmul": 200, "colour": 200, "corners": 25, "chase": 60, "barrier": 300}


def machine():
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"


def seconds(manycore, kernel, elf, times, stats):
    before = os.times()
    subprocess.run([manycore, "--kernel", kernel, "--stats-json", stats, elf, str(times)], check=True,
                   stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=ROOT / "build")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--keep", action="store_true")
    a = p.parse_args()
    manycore = pathlib.Path(a.build) / "bin" / "manycore"
    rounds = 1 if a.quick else 5
    rows = []
    print(f"{machine()}; {'one round' if a.quick else f'medians of {rounds} rounds'}")
    print(f"{'program':10} {'instructions':>13} {'cycles':>11} {'run-ahead':>10} {'lock step':>10} {'ratio':>6}   M "
          f"instructions a second")
    with tempfile.TemporaryDirectory() as folder:
        for loop, times in LOOPS.items():
            times = max(1, times // 10) if a.quick else times
            elf, stats = (pathlib.Path(folder) / n for n in (loop, "stats.json"))
            subprocess.run([ROOT / "platform" / "mcc", f"-DLOOP={loop}", HERE / "loops.c", "-o", elf], check=True)
            taken = {"run-ahead": [], "lock-step": []}
            counts = {}
            for _ in range(rounds):
                for kernel in taken:
                    taken[kernel].append(seconds(manycore, kernel, elf, times, stats))
                    counts[kernel] = json.loads(stats.read_text())
            if counts["run-ahead"] != counts["lock-step"]:
                print(f"{loop}: the kernels count differently")
                return 1
            n = sum(c["instructions"] for c in counts["run-ahead"]["cores"])
            rate = {k: n / statistics.median(t) / 1e6 for k, t in taken.items()}
            ratio = statistics.median(b / x for x, b in zip(taken["run-ahead"], taken["lock-step"]))
            print(f"{loop:10} {n:13} {counts['run-ahead']['cycles']:11} {rate['run-ahead']:10.1f} "
                  f"{rate['lock-step']:10.1f} {ratio:6.1f}")
            rows.append([loop, n, counts["run-ahead"]["cycles"], f"{rate['run-ahead']:.1f}", f"{rate['lock-step']:.1f}",
                         f"{ratio:.2f}"])
    if a.keep:
        with open(ROOT / "bench" / "results" / "manycore-speed.csv", "w", newline="") as f:
            f.write(f"# {machine()}; {time.strftime('%Y-%m-%d')}; processor time, medians of {rounds} interleaved "
                    f"rounds; the machine was shared\n")
            w = csv.writer(f)
            w.writerow(["program", "instructions", "cycles", "run-ahead, M instructions/s",
                        "lock step, M instructions/s", "ratio (median of the rounds')"])
            w.writerows(rows)
    return 0


sys.exit(main())
