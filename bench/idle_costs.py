#!/usr/bin/python3
"""What does waiting cost? Processor time of programs that do nothing, and how soon a sleeping thread computes again.

  bench/idle_costs.py [--build FOLDER] [--out FOLDER] [--runs N]

Rows of bench/idle.c under libgomp, libgomp with OMP_WAIT_POLICY=passive, libomp and psrun: processor time burnt after a
region, at rest, and the wake-up of a region's second member beside the system call's alone. Rows of Python: processor
time and voluntary context switches in a second of sleep; of a bare interpreter, with NumPy after a product, and with a
thread pool that waits after products. Runtimes are taken in turns. Writes idle-costs.txt: median [least greatest]."""

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
from harness import OURS, number, say

REST = """
import json, resource, time
def rest():
    time.sleep(0.5)
    before, cpu = resource.getrusage(resource.RUSAGE_SELF), time.process_time()
    time.sleep(1)
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"us": 1e6 * (time.process_time() - cpu), "switches": after.ru_nvcsw - before.ru_nvcsw - 1}))
"""
PRODUCT = "import numpy\na = numpy.ones((400, 400))\n"
PYTHON = {"python": REST + "rest()\n",
          "python, NumPy": REST + PRODUCT + "a @ a\nrest()\n",
          "python, NumPy in a pool of 4": REST + PRODUCT + "from concurrent.futures import ThreadPoolExecutor\n"
          "with ThreadPoolExecutor(4) as pool:\n    list(pool.map(lambda i: a @ a, range(8)))\n    rest()\n"}
ROWS = {"burn": "burnt a region, 5 ms apart, us", "rest": "at rest, us in 0.5 s", "wake": "second member's wake-up, us",
        "futex": "a wake-up by the system call, us"}


def spread(values):
    return f"{number(statistics.median(values))} [{number(min(values))} {number(max(values))}]" if values else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--out", type=Path, help="results folder (default: BUILD/bench/results)")
    parser.add_argument("--runs", type=int, default=9, help="of each program under each runtime (default: 9)")
    a = parser.parse_args()
    out = a.out or a.build / "bench" / "results"
    out.mkdir(parents=True, exist_ok=True)
    program = a.build / "bench" / "idle"
    peers = harness.Peers(a.build)
    peers.check(program)
    passive = harness.Peer("passive", "libgomp, passive", {"OMP_WAIT_POLICY": "passive"})
    openmp = [peers.list[0], passive, *peers.list[1:]]
    pythons = [peers.list[0], peers.list[-1]]
    values = {}
    for run in range(a.runs):
        for peer in openmp:
            printed, why = peer.run([program, "40"], 60)
            for line in harness.json_lines(printed):
                values.setdefault((line["bench"], peer.name), []).append(line["median"])
            if why:
                say(f"idle under {peer.label}: {why}")
        for name, text in PYTHON.items():
            for peer in pythons:
                printed, why = peer.run([sys.executable, "-c", text], 60)
                if why:
                    say(f"{name} under {peer.label}: {why}")
                    continue
                found = json.loads(printed)
                values.setdefault((name, peer.name), []).append(found["us"])
                values.setdefault((name + ", switches", peer.name), []).append(found["switches"])
        say(f"run {run + 1} of {a.runs}")
    lines = [harness.machine_line(), "", f"{'':34}" + "".join(f"{p.label:>26}" for p in openmp)]
    lines += [f"{label:34}" + "".join(f"{spread(values.get((row, p.name), [])):>26}" for p in openmp)
              for row, label in ROWS.items()]
    lines += ["", f"{'in a second of sleep':44}{'by itself':>26}{OURS:>26}"]
    for name in PYTHON:
        for row, label in ((name, f"{name}: us"), (name + ", switches", f"{name}: context switches")):
            lines.append(f"{label:44}" + "".join(f"{spread(values.get((row, p.name), [])):>26}" for p in pythons))
    lines += ["", f"load {os.getloadavg()[0]:.1f} at the end"]
    (out / "idle-costs.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
