#!/usr/bin/python3
"""sweep.py [--build DIR] [--keep] - what NoC latency and occupancy make of the ratio of remote to local data (the
paper's table 1: 3 to 22).

--keep writes bench/results/manycore-noc.csv and docs/manycore-noc.png."""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LATENCIES = (0, 2, 4, 8, 12, 16, 20, 30, 40)
OCCUPANCIES = (1, 2, 4)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=ROOT / "build")
    p.add_argument("--keep", action="store_true")
    a = p.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        elf = pathlib.Path(folder) / "sweep.elf"
        subprocess.run([ROOT / "platform" / "mcc", HERE / "sweep.c", "-o", elf], check=True)
        print("latency occupancy  many loads  few loads   (cycles with remote data / with local data)")
        for occupancy in OCCUPANCIES:
            for latency in LATENCIES:
                out = subprocess.run([pathlib.Path(a.build) / "bin" / "manycore", "--set", f"noc.latency={latency}",
                                      "--set", f"noc.occupancy={occupancy}", elf],
                                     stdout=subprocess.PIPE, text=True, check=True).stdout
                dense, dense_far, sparse, sparse_far = map(int, out.split())
                rows.append([latency, occupancy, dense, dense_far, sparse, sparse_far, f"{dense_far / dense:.2f}",
                             f"{sparse_far / sparse:.2f}"])
                print(f"{latency:7} {occupancy:9} {dense_far / dense:11.2f} {sparse_far / sparse:10.2f}")
    if a.keep:
        with open(ROOT / "bench" / "results" / "manycore-noc.csv", "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(["noc.latency", "noc.occupancy", "many loads local", "remote", "few loads local", "remote",
                        "ratio many", "ratio few"])
            w.writerows(rows)
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        figure, axes = plt.subplots(figsize=(7, 4))
        for occupancy, colour in zip(OCCUPANCIES, ("tab:blue", "tab:orange", "tab:green")):
            mine = [r for r in rows if r[1] == occupancy]
            axes.plot([r[0] for r in mine], [float(r[6]) for r in mine], "-o", color=colour,
                      label=f"many loads, occupancy {occupancy}")
            axes.plot([r[0] for r in mine], [float(r[7]) for r in mine], "--s", color=colour,
                      label=f"few loads, occupancy {occupancy}")
        axes.axhspan(3, 22, color="0.9", zorder=0)
        axes.set(xlabel="noc.latency (cycles)", ylabel="cycles with remote data / with local data",
                 title="Grey: the range of the paper's table 1")
        axes.legend(fontsize=8)
        figure.tight_layout()
        figure.savefig(ROOT / "docs" / "manycore-noc.png", dpi=110)
    return 0


sys.exit(main())
