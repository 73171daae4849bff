#!/usr/bin/python3
"""Does a construct's time depend on luck? Each row in many fresh processes, quiet and beside a busy process.

  bench/states.py [--processes N] [--rows REGEX] [--peer NAME=LIBRARY] [--quiet-only]

A process is in the state that its members happened to fall into: which processor has which team, and so on. A row's
value is the median of one process's samples. Shown are the least, median, 90th percentile and greatest of the
processes. Runtimes and rows are taken in turns. Of a nest, the value is that of all measurers by the wall clock.
The machine has states too: the host of a virtual machine puts its processors on one core, or far from each other. So
bench/line.c measures before each process what a cache line's round trip takes, and a second table has the processes of
either distance by themselves. A third table says how many round trips a construct waits for: what it takes longer when
the processors are far, divided by what a round trip takes longer. The row "bodies" has no construct, and no goal: it
says how much longer the loops' bodies take when both processors compute than when one does, which is in the rows
"static" and "dynamic" too. Writes states.txt and states.csv. A row meets its goal where our 90th percentile is at most
1.5 times our median when quiet (3 times beside the busy process), and at most the best peer's median. NOTES.md"""

import argparse
import contextlib
import csv
import os
import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
from harness import OURS, number, say

MOST = {"quiet": 1.5, "load": 3.0}
OPTIONS = ["--samples", 20, "--sample-us", 1000]
CLOCK_US = 0.01  # less is the clock: no ratio is made of it
NEAR_US = 0.15  # a line's round trip between two processors of one core takes less
TRIP, BODIES = "round trip", "bodies"
FEWEST = 4  # processes of a distance: no percentile is made of fewer
# construct, configuration of epcc_nested
ROWS = [("for", "2"), ("barrier", "2"), ("static", "2"), ("dynamic", "2"), (BODIES, "2"), ("critical", "2"),
        ("taskwait", "2"), ("parallel", "2"), ("parallel", "8"), ("taskwait", "64"),
        *((construct, nest) for nest in ("4x4", "8x8") for construct in ("parallel", "for", "barrier", "taskwait"))]


def row_name(construct, config):
    return f"{construct}, {config}"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--out", type=Path, help="results folder (default: BUILD/bench/results)")
    parser.add_argument("--processes", type=int, default=20, help="of each row under each runtime (default: 20)")
    parser.add_argument("--rows", default="", help="regular expression: only rows whose name matches")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=LIBRARY")
    parser.add_argument("--quiet-only", action="store_true", help="not beside a busy process")
    return parser.parse_args()


def round_trip(own, program):
    """us that a line's way to the other processor and back takes now; None: one processor"""
    found = harness.json_lines(own.run([program.with_name("line")], 60)[0])
    return found[0]["least"] if found else None


def measure(rows, peers, program, processes):
    """{(row, peer's name): [us of each process]}, and the same with the distance, near or far, as the key's third"""
    values = {}
    for process in range(processes):
        for construct, config in rows:
            for peer in peers:
                trip = round_trip(peers[0], program)
                distance = "near" if trip is not None and trip < NEAR_US else "far"
                if trip is not None:
                    values.setdefault((TRIP, distance), []).append(trip)
                printed, why = peer.run([program, *OPTIONS, "--constructs", construct, config], 60)
                found = harness.json_lines(printed)
                if why or not found:
                    say(f"{row_name(construct, config)} under {peer.label}: {why or 'no value'}")
                    continue
                value = found[0]["wall_us" if "x" in config else "median_us"]
                key = ((construct, config), peer.name)
                for k in (key, (*key, distance)):
                    values.setdefault(k, []).append(max(value, 0))
        say(f"process {process + 1} of {processes}")
    return values


def summary(values):
    """(least, median, 90th percentile, greatest)"""
    ordered = sorted(values)
    return ordered[0], statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))], ordered[-1]


def verdict(state, construct, ours, best):
    if construct == BODIES:
        return "no construct"
    if ours[2] <= CLOCK_US:
        return "met"
    missed = ([f"p90 {ours[2] / ours[1]:.1f} medians"] if ours[2] > MOST[state] * max(ours[1], CLOCK_US) else []) + \
        (["p90 above the best peer"] if best is not None and ours[2] > best else [])
    return "; ".join(missed) or "met"


def table(state, rows, peers, values):
    lines = [f"{state}: us, least / median / 90th percentile / greatest",
             f"{'':18}" + "".join(f"{p.label:>28}" for p in peers) + "   verdict"]
    met = 0
    for row in rows:
        found = {p.name: summary(values[row, p.name]) for p in peers if (row, p.name) in values}
        others = [f[1] for name, f in found.items() if name != OURS and name != "before"]
        said = verdict(state, row[0], found[OURS], min(others, default=None)) if OURS in found else "no value"
        met += said == "met"
        cells = (" / ".join(number(v) for v in found[p.name]) if p.name in found else "-" for p in peers)
        lines.append(f"{row_name(*row):18}" + "".join(f"{cell:>28}" for cell in cells) + f"   {said}")
    return lines + [f"{met} of {sum(r[0] != BODIES for r in rows)} rows met", ""]


def distances(rows, peers, values):
    """The table of the processes of each distance: ours and the best peer's."""
    lines = []
    for distance in ("near", "far"):
        part = []
        for row in rows:
            found = {p.name: values.get((row, p.name, distance), []) for p in peers}
            if any(len(v) < FEWEST for v in found.values()):
                continue
            ours = summary(found[OURS])
            best = min(summary(v)[1] for name, v in found.items() if name != OURS)
            part.append((row, len(found[OURS]), ours, best, verdict("quiet", row[0], ours, best)))
        lines += [f"processors {distance} (a line's round trip {'below' if distance == 'near' else 'from'} "
                  f"{NEAR_US} us{' on' if distance == 'far' else ''}): us, least / median / 90th percentile / greatest",
                  f"{'':18}{'processes':>10}{OURS:>28}{'best median of a peer':>24}   verdict"]
        lines += [f"{row_name(*row):18}{num:10}{' / '.join(number(v) for v in ours):>28}{number(best):>24}   {said}"
                  for row, num, ours, best, said in part]
        lines += [f"{sum(p[-1] == 'met' for p in part)} of {sum(p[0][0] != BODIES for p in part)} rows met", ""]
    return lines


def round_trips(rows, peers, values):
    """The table of round trips, for rows that were seen at both distances."""
    trip = {distance: statistics.median(values.get((TRIP, distance), [0])) for distance in ("near", "far")}
    lines = [f"round trips that a construct waits for (near {trip['near']:.3f} us, far {trip['far']:.3f} us)",
             f"{'':18}" + "".join(f"{p.label:>14}" for p in peers)]
    for row in rows:
        cells = []
        for p in peers:
            near, far = (values.get((row, p.name, distance), []) for distance in ("near", "far"))
            enough = len(near) >= FEWEST and len(far) >= FEWEST and trip["far"] > trip["near"]
            longer = statistics.median(far) - statistics.median(near) if enough else 0
            cells.append(f"{longer / (trip['far'] - trip['near']):.1f}" if enough else "-")
        lines.append(f"{row_name(*row):18}" + "".join(f"{cell:>14}" for cell in cells))
    return [*lines, ""]


def main():
    a = read_arguments()
    rows = [r for r in ROWS if re.search(a.rows, row_name(*r))]
    if not rows:
        raise SystemExit(f"no row matches '{a.rows}'")
    program, out = a.build / "bench" / "epcc_nested", a.out or a.build / "bench" / "results"
    out.mkdir(parents=True, exist_ok=True)
    peers = harness.Peers(a.build, a.peer)
    peers.check(program)
    lines, written = [harness.machine_line(), ""], []
    for state in ("quiet",) if a.quiet_only else ("quiet", "load"):
        with harness.computing(1) if state == "load" else contextlib.nullcontext():
            values = measure(rows, peers.list, program, a.processes)
        lines += table(state, rows, peers.list, values)
        if state == "quiet":
            lines += distances(rows, peers.list, values) + round_trips(rows, peers.list, values)
        written += [[state, *row, name, *(f"{v:.4f}" for v in summary(found))]
                    for (row, name, *distance), found in values.items() if not distance and row != TRIP]
    lines.append(f"load {os.getloadavg()[0]:.1f} at the end")
    (out / "states.txt").write_text("\n".join(lines) + "\n")
    with open(out / "states.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["state", "construct", "configuration", "runtime", "least",
                                                          "median", "p90", "greatest"], *written])
    print("\n".join(lines))


if __name__ == "__main__":
    main()
