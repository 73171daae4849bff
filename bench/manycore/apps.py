#!/usr/bin/python3
"""apps.py [--quick] [--build DIR] [--part NAME]... - the six manycore applications measured as in manycore-nested-2016,
section 4.

  table1    cycles of one cluster's 16 threads with near data, and with data in another cluster's scratchpad
  fig17     speed-up over sequential of flat, nested, nested NUMA, nested NUMA with the hardware synchroniser, on 64
            cores; nested: with threads bound to no cluster, and bound as the runtime does it by itself
  nesting   the same with small inputs, on the default network and on one as slow as the paper's (latency 20,
            occupancy 4)
  fig18     FAST on chess patterns of 32 to 512 pixels
  fig19     FAST on streets with 1.5% and 6% of corners; variance among the threads; with schedule(dynamic) and tasks
            too
  fig20     share of fork and join, 2 to 64 cores
  scaling   up to 256 cores
  sweep     nested NUMA HW where one of the platform's parameters is another
  best      the same for the three that come nearest to 64, with large inputs
  remote    small inputs on slower networks: remote data against near ones as in table 1, and nested NUMA HW over flat
  short     small inputs, nested NUMA, by each of the four runtimes
  host      the six on this machine, 2x2 to 8x8 threads, beside libgomp, libomp, and --peer NAME=LIBRARY

Each run's checksum must be the host's. Rows go into OUT/apps.csv at once: an interrupted measurement goes on where it
stopped (--again: the parts from the start). Pictures: OUT/manycore-apps-PART.png. --keep copies them to docs/ and the
rows to bench/results/."""

import argparse
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
sys.dont_write_bytecode = True
from apps_jobs import PARTS, PROGRAMS, jobs
from apps_measure import Measure, Rows
from apps_report import Report
from harness import say


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    parser.add_argument("--elves", type=Path, help="where NAME-HAL.elf are (default: BUILD/manycore/apps)")
    parser.add_argument("--sw", default="sw", help="the runtime in software (default %(default)s)")
    parser.add_argument("--hw", default="hws", help="the one with the hardware synchroniser (default %(default)s)")
    parser.add_argument("--out", type=Path, help="default: BUILD/bench/manycore")
    parser.add_argument(
        "--part",
        action="append",
        choices=PARTS,
        metavar="NAME",
        help=f"of {', '.join(PARTS)}; may be given several times",
    )
    parser.add_argument("--quick", action="store_true", help="smaller inputs and fewer points: about three minutes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="platforms that are simulated at once (default: the processors, %(default)s)")
    parser.add_argument("--seconds", type=int, default=300, help="limit of a run (default %(default)s)")
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=LIBRARY",
        help="a runtime more for the host, e.g. BOLT=/path/libomp.so",
    )
    parser.add_argument("--again", action="store_true", help="measures everything anew")
    parser.add_argument("--draw", action="store_true", help="measures nothing")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


def main():
    a = read_arguments()
    out = a.out or a.build / "bench" / "manycore"
    out.mkdir(parents=True, exist_ok=True)
    parts = a.part or PARTS
    rows = Rows(out / ("apps-quick.csv" if a.quick else "apps.csv"), parts if a.again and not a.draw else ())
    failed = 0
    if not a.draw:
        for needed in [a.build / "bin" / "manycore", *(a.build / "bin" / f"mc-{p[0]}" for p in PROGRAMS.values())]:
            if not needed.exists():
                raise SystemExit(f"apps.py: {needed}: not there; build first (make)")
        failed = Measure(a, rows).all(parts)
        rows.sort(list(jobs(a)))
    report = Report(a, rows, out)
    texts = [t for t in (getattr(report, part)() for part in parts) if t]
    (out / "apps.txt").write_text("\n".join(texts))
    print("\n".join(texts), end="")
    if a.keep:
        kept = ROOT / "bench" / "results" / "manycore-apps.csv"
        rows.take_missing(kept)
        rows.sort(list(jobs(a)))
        shutil.copy(rows.path, kept)
        for picture in out.glob("manycore-apps-*.png"):
            shutil.copy(picture, ROOT / "docs")
    say(f"written: {rows.path.name}, apps.txt and pictures in {out}" + (f"; {failed} runs failed" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
