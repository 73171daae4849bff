#!/usr/bin/python3
"""What regions cost whose members wait, beside the peers: time, first region and processor time, with a verdict.

  bench/waiting.py                      full: rounds until the time is used, 15 minutes by default
  bench/waiting.py --quick              three minutes: fewer teams, and no peer that waits actively
  bench/waiting.py --rows 'Eigen|cond'  only rows whose name matches
  bench/waiting.py --peer before=LIBRARY    another build of ours (lib/dropin/libgomp.so.1), or any runtime

Round by round as goals.py does it: every row under every runtime in turns, then all again. libgomp and libomp wait
passively (OMP_WAIT_POLICY); in each third round they do so actively too, which is shown and not judged. Ours has its
defaults. A run that is not finished in --seconds counts as one that took so long, and is not tried again.
Writes waiting.txt, the table, and waiting.csv, each value. Exit status 1 where a run has failed."""

import argparse
import csv
import os
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
import verdict
from harness import OURS, Peer, number, say
from waiting_rows import ROWS

PASSIVE, ACTIVE = ("libgomp", "libomp"), ("libgomp active", "libomp active")
TIME, FIRST, CPU = "time", "first", "cpu"  # ms a region, ms, ms a region
MOST_TIME, MOST_LATER_MS, MOST_CPU = 1.1, 5, 1.2
EVERY = 3  # rounds, of which one has the active peers


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--out", type=Path, help="results folder (default: BUILD/bench/results)")
    parser.add_argument("--quick", action="store_true", help="some of the rows, at most three rounds")
    parser.add_argument("--minutes", type=float, help="time after which nothing new is begun (default: 15; quick: 3)")
    parser.add_argument("--rounds", type=int, help="at most so many (default: 50; quick: 3)")
    parser.add_argument("--rows", default="", help="regular expression: only these rows")
    parser.add_argument("--regions", type=int, default=0, help="so many instead of each row's own number")
    parser.add_argument("--seconds", type=float, help="limit of a run (default: 60; quick: 15)")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=LIBRARY")
    parser.add_argument("--list", action="store_true", help="names the rows")
    return parser.parse_args()


def make_peers(build, extra):
    """libgomp and libomp, each with both policies; the others as they are."""
    found = harness.Peers(build, extra)
    found.check(build / "bench" / "waits")
    peers = []
    for peer in found.list:
        if peer.name not in PASSIVE:
            peers.append(peer)
            continue
        for name, policy in ((peer.name, "passive"), (f"{peer.name} active", "active")):
            peers.append(Peer(name, f"{peer.label}, {policy}", {**peer.environment, "OMP_WAIT_POLICY": policy}))
    found.list = peers
    return found


def read_values(row, printed):
    """{measure: value} of a run; empty where the row's line is not there."""
    by_name = {line["bench"]: line for line in harness.json_lines(printed)}
    line = by_name.get(row.line) if row.line else next(iter(by_name.values()), None)
    if not line:
        return {}
    if "mean" in line and "first" in line:
        return {FIRST: line["first"], TIME: line["mean"], CPU: line["cpu"]}
    scale = {"us": 1e-3, "ms": 1}[line["unit"]]
    values = {TIME: line["median"] * scale}
    if row.cpu in by_name:
        values[CPU] = by_name[row.cpu]["median"] * scale
    return values


class Measuring:
    def __init__(self, rows, peers, folder, seconds, regions):
        self.rows, self.peers, self.folder, self.seconds, self.regions = rows, peers, folder, seconds, regions
        self.values = {}  # (row's name, measure, peer's name): {round: value}
        self.late, self.failed = set(), {}  # (row's name, peer's name)
        self.commands = {}  # of rows that one command gives
        for row in rows:
            self.commands.setdefault(tuple(row.arguments(folder, regions)), []).append(row)

    def one(self, command, rows, peer, this_round):
        keys = [(row.name, peer.name) for row in rows]
        if any(key in self.late or key in self.failed for key in keys):
            return
        printed, why = peer.run(command, self.seconds)
        for row, key in zip(rows, keys):
            values = read_values(row, printed)
            if why and why.startswith("not finished"):
                self.late.add(key)
                values = values or {TIME: self.seconds * 1e3 / (self.regions or row.regions or 1)}
            elif why or TIME not in values:
                self.failed[key] = why or "no such line in its output"
                say(f"{row.name} under {peer.label}: {self.failed[key]}")
                continue
            for measure, value in values.items():
                self.values.setdefault((row.name, measure, peer.name), {})[this_round] = value

    def run(self, rounds, minutes):
        """Number of whole rounds. The first one may take half as long again: a row without any value helps nobody."""
        start = time.monotonic()
        for this_round in range(rounds):
            wanted = [p for p in self.peers if p.name not in ACTIVE or this_round % EVERY == 0]
            shift = this_round % len(wanted)
            for command, rows in self.commands.items():
                for peer in wanted[shift:] + wanted[:shift]:
                    if rows[0].clang and peer.name.startswith("libgomp"):
                        continue
                    if time.monotonic() - start > 60 * minutes * (1 if this_round else 1.5):
                        say(f"time is used: {this_round} whole rounds")
                        return this_round
                    self.one(command, rows, peer, this_round)
            say(f"round {this_round + 1}, {time.monotonic() - start:.0f} s")
        return rounds


class Judged:
    """A row's verdicts against the better passive peer: `parts` has {measure: (number or None, verdict)}."""

    def __init__(self, row, values, late, failed):
        def of(measure, peer):
            return values.get((row.name, measure, peer))
        self.better = min((p for p in PASSIVE if of(TIME, p)),
                          key=lambda p: ((row.name, p) in late, verdict.median(of(TIME, p))), default=None)
        self.parts = {}
        if (row.name, OURS) in failed:
            self.verdict = verdict.MISSED
            return
        if {(row.name, OURS), (row.name, self.better)} <= late:
            self.verdict = verdict.ABSENT
            return
        for measure, most in ((TIME, MOST_TIME), (CPU, MOST_CPU)):
            ours, theirs = of(measure, OURS), self.better and of(measure, self.better)
            if ours and theirs:
                ratio = verdict.ratio_interval(ours, theirs)
                inverse = verdict.ratio_interval(theirs, ours)
                self.parts[measure] = ratio and ratio[0], verdict.judge(inverse, 1 / most)
        ours, theirs = of(FIRST, OURS), self.better and of(FIRST, self.better)
        if ours and theirs:
            o, t = verdict.median_interval(ours), verdict.median_interval(theirs)
            self.parts[FIRST] = o[0] - t[0], (verdict.MET if o[2] - t[1] <= MOST_LATER_MS else
                                              verdict.MISSED if o[1] - t[2] > MOST_LATER_MS else verdict.NOISE)
        self.verdict = verdict.worst([v for _, v in self.parts.values()])


MARK = {verdict.MET: "", verdict.MISSED: "!", verdict.NOISE: "?"}


def part_text(judged, measure, form):
    value, v = judged.parts.get(measure, (None, verdict.MET))
    return "" if value is None else format(value, form) + MARK[v]


def short(value):
    return number(value) if value >= 0.1 else f"{value:.4f}"


def value_text(m, row, peer, measure=TIME, spread=False):
    if (row.name, peer) in m.failed:
        return "failed"
    if (row.name, peer) in m.late:
        return f">{m.seconds:.0f} s" if measure == TIME else ""
    found = m.values.get((row.name, measure, peer))
    if not found:
        return ""
    middle, low, high = verdict.median_interval(found)
    return short(middle) + (f" [{short(low)} {short(high)}]" if spread and low != high else "")


def table(m, judged, shown):
    others = [p for p in shown if p != OURS]
    head = (f"{'':32} {'shape':6} {'verdict':8} {'time':>7} {'first':>8} {'cpu':>7}  {'ours':26}"
            + "".join(f"{p:>15}" for p in others)).rstrip()
    lines, group = [head], None
    for row, j in zip(m.rows, judged):
        if row.group != group:
            group = row.group
            lines += ["", group]
        title = row.title + (", clang" if row.clang else "")
        line = (f"  {title:30} {row.shape:6} {j.verdict:8} {part_text(j, TIME, '.2f'):>7} "
                f"{part_text(j, FIRST, '+.1f'):>8} {part_text(j, CPU, '.2f'):>7}  "
                f"{value_text(m, row, OURS, spread=True):26}")
        lines.append((line + "".join(f"{value_text(m, row, p):>15}" for p in others)).rstrip())
    return "\n".join(lines) + "\n"


def write_csv(path, m, judged, shown):
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["group", "row", "compiler", "shape", "peer", "rounds", "time_ms", "low", "high", "first_ms",
                      "cpu_ms", "time_ratio", "first_later_ms", "cpu_ratio", "verdict"])
        for row, j in zip(m.rows, judged):
            for peer in shown:
                found = m.values.get((row.name, TIME, peer))
                if not found:
                    continue
                late = ">" if (row.name, peer) in m.late else ""
                first, cpu = (m.values.get((row.name, k, peer)) for k in (FIRST, CPU))
                ratios = [j.parts[k][0] if peer == OURS and k in j.parts else None for k in (TIME, FIRST, CPU)]
                out.writerow([row.group, row.title, "clang" if row.clang else "gcc", row.shape, peer, len(found),
                              *(f"{late}{v:.4f}" for v in verdict.median_interval(found)),
                              *(f"{verdict.median(v):.4f}" if v else "" for v in (first, cpu)),
                              *("" if r is None else f"{r:.3f}" for r in ratios), j.verdict if peer == OURS else ""])


HEAD = f"""ms a region, from the second one on, medians of the rounds [the 95% interval of ours].
time, cpu: ours over that of the better passive peer, the median of the rounds' ratios; at most {MOST_TIME} and \
{MOST_CPU} are wanted.
first: by how many ms the first region is later than that peer's; at most {MOST_LATER_MS} are wanted.
"!": missed by the whole interval; "?": by a part of it.
shape: members; 2x4: 2 members open teams of 4; 2r4: 2 threads of the program's own do.
"""


def main():
    a = read_arguments()
    rows = [r for r in ROWS if (r.quick or not a.quick) and re.search(a.rows, r.name)]
    if not rows:
        raise SystemExit(f"no row matches '{a.rows}'")
    if a.list:
        print("\n".join(r.name for r in rows))
        return 0
    folder, out = a.build / "bench", a.out or a.build / "bench" / "results"
    out.mkdir(parents=True, exist_ok=True)
    absent = sorted({r.arguments(folder)[0].name for r in rows if not r.arguments(folder)[0].exists()})
    rows = [r for r in rows if r.arguments(folder)[0].name not in absent]
    peers = make_peers(a.build, a.peer)
    if a.quick:
        peers.list = [p for p in peers.list if p.name not in ACTIVE]
    machine, start = harness.machine_line(), time.monotonic()
    say(machine)
    m = Measuring(rows, peers.list, folder, a.seconds or (15 if a.quick else 60), a.regions)
    rounds = m.run(a.rounds or (3 if a.quick else 50), a.minutes or (3 if a.quick else 15))
    judged = [Judged(r, m.values, m.late, m.failed) for r in rows]
    shown = sorted((p.name for p in peers.list), key=lambda name: (name != OURS, name in ACTIVE))
    count = {v: sum(j.verdict == v for j in judged) for v in (verdict.MET, verdict.MISSED, verdict.NOISE,
                                                              verdict.ABSENT)}
    text = (f"{machine}; {rounds} whole rounds, {(time.monotonic() - start) / 60:.0f} minutes, load "
            f"{os.getloadavg()[0]:.1f} at the end\n{HEAD}\n{table(m, judged, shown)}\n"
            + "".join(f"{row} under {peer}: {why}\n" for (row, peer), why in m.failed.items())
            + (f"not built: {', '.join(absent)}\n" if absent else "")
            + f"{count[verdict.MET]} rows met, {count[verdict.MISSED]} not met, {count[verdict.NOISE]} within the "
            f"noise, {count[verdict.ABSENT]} not measured\n")
    (out / "waiting.txt").write_text(text)
    write_csv(out / "waiting.csv", m, judged, shown)
    print(text, end="")
    say(f"written: waiting.txt, waiting.csv in {out}")
    return 1 if m.failed else 0


if __name__ == "__main__":
    sys.exit(main())
