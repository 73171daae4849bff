#!/usr/bin/python3
"""forkjoin.py [--build DIR] [--keep] [--quick] - what an empty region costs on the virtual manycore, from fork to join.

Flat and nested, under each way to start and join teams (manycore-cc --hal); then with more clusters and slower
networks. Beside it the paper's table 2.

--keep writes bench/results/manycore-forkjoin.csv; --quick leaves the larger machines out."""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HALS = ("hws", "sw")
PAPER = {("flat", 2): 400, ("flat", 4): 500, ("flat", 8): 900, ("flat", 16): 1700, ("flat", 32): 3600,
         ("flat", 64): 8500, ("nested", 4): 2300, ("nested", 8): 2300, ("nested", 16): 2500, ("nested", 32): 2900,
         ("nested", 64): 3400}  # software, table 2
LATENCIES = (4, 8, 10, 20, 40)


def run(machine, elf, clusters, latency):
    command = [machine, "--clusters", str(clusters), "--set", f"noc.latency={latency}", "--set",
               "run.limit=500000000", elf]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if out.returncode:
        sys.exit(f"forkjoin.py: {' '.join(map(str, command))}: exit status {out.returncode}")
    lines = (line.split() for line in out.stdout.splitlines())
    return [(name, int(threads), int(cycles)) for name, threads, cycles in lines]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    p.add_argument("--keep", action="store_true")
    p.add_argument("--quick", action="store_true")
    a = p.parse_args()
    machine = a.build / "bin" / "manycore"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for hal in HALS:
            elf = pathlib.Path(folder) / f"{hal}.elf"
            compiler = a.build / "bin" / "manycore-cc"
            subprocess.run([compiler, f"--hal={hal}", HERE / "forkjoin.c", "-o", elf], check=True)
            machines = [(4, latency) for latency in LATENCIES] + ([] if a.quick else [(8, 8), (16, 8)])
            for clusters, latency in machines:
                for name, threads, cycles in run(machine, elf, clusters, latency):
                    paper = PAPER.get((name, threads), "") if (clusters, latency) == (4, 8) else ""
                    rows.append([hal, clusters, latency, name, threads, cycles, paper])
                    print(f"{hal:4} {clusters:2} clusters, latency {latency:2}: {name:15} {threads:4} threads",
                          f"{cycles:7} cycles   {paper}")
    if a.keep:
        with open(ROOT / "bench" / "results" / "manycore-forkjoin.csv", "w", newline="", encoding="utf-8") as f:
            w = csv.writer(f)
            w.writerow(["hal", "clusters", "noc.latency", "what", "threads", "cycles", "paper (software, table 2)"])
            w.writerows(rows)
    return 0


sys.exit(main())
