#!/usr/bin/python3
"""The goals, measured beside the peers: a row each with what is wanted, ours, theirs, the ratio and a verdict.

  bench/goals.py                       full: rounds until the time is used, 22 minutes by default
  bench/goals.py --quick               about five minutes
  bench/goals.py --rows 'nested|fib'   only rows whose text matches, and what they need
  bench/goals.py --peer bolt=/opt/bolt/lib/libbolt.so --peer massivethreads=/opt/mt/lib/libmyth.so

Everything is run once under every peer, in turns; then again. So a disturbance meets all peers, and the time can be
spent to the last minute: what was not measured in the last round has a value less. Writes goals.txt and goals.json."""

import argparse
import json
import os
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import goals_rows as g
import harness
import verdict
from harness import OURS, Peer, number, say


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--out", type=Path, help="results folder (default: BUILD/bench/results)")
    parser.add_argument("--quick", action="store_true",
                        help="shorter samples, three rounds, at most about five minutes")
    parser.add_argument("--minutes", type=float, help="time after which nothing new is begun (default: 22; quick: 4.5)")
    parser.add_argument("--rounds", type=int, help="at most so many (default: 50; quick: 3)")
    parser.add_argument("--rows", default="", help="regular expression: only these rows")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=LIBRARY")
    return parser.parse_args()


def find_blas():
    """The folder in which Debian keeps OpenBLAS's OpenMP build."""
    found = sorted(Path("/usr/lib").glob("*/openblas-openmp/libblas.so.3"))
    return found[0].parent if found else None


class Measuring:
    """Rounds of jobs under peers, in a given time."""

    def __init__(self, jobs, peers, minutes, rounds, seconds_a_run):
        self.jobs, self.peers, self.rounds, self.limit = jobs, peers, rounds, seconds_a_run
        self.values, self.failed, self.failures, self.took = {}, {}, {}, {}
        self.start = time.monotonic()
        self.end = self.start + minutes * 60
        self.pairs = [(j, p) for j in jobs for p in peers if j.wants(p)]

    def left(self):
        """Seconds to go: what the rest of the rounds would take, or until the time is used."""
        mean = sum(self.took.values()) / len(self.took) if self.took else 0
        round_seconds = sum(self.took.get((j.name, p.name), mean) for j, p in self.pairs
                            if self.failures.get((j.name, p.name), 0) < 2)
        now = time.monotonic()
        rest = round_seconds * self.rounds - (now - self.start)
        return max(0, min(rest, self.end - now))

    def one(self, job, peer, this_round):
        key = (job.name, peer.name)
        if self.failures.get(key, 0) >= 2:  # once may be the neighbours
            return
        start = time.monotonic()
        measured, why = job.run(peer, self.limit)
        self.took[key] = time.monotonic() - start
        for measure, value in measured.items():
            self.values.setdefault(measure, {}).setdefault(peer.name, {})[this_round] = value
        if why:
            self.failed[key], self.failures[key] = why, self.failures.get(key, 0) + 1
        say(f"[round {this_round + 1}] {job.name + ', ' + peer.label:34} {self.took[key]:5.1f} s   "
            f"{time.monotonic() - self.start:5.0f} s gone, about {self.left():.0f} s to go"
            + (f"   {why}" if why else ""))

    def run(self):
        """Number of whole rounds."""
        for this_round in range(self.rounds):
            for job in self.jobs:
                wanted = [p for p in self.peers if job.wants(p)]
                shift = this_round % len(wanted) if wanted else 0
                for peer in wanted[shift:] + wanted[:shift]:
                    # the first round may take half as long again: a row without any value helps nobody
                    if time.monotonic() > self.end + (0 if this_round else (self.end - self.start) / 2):
                        say(f"time is used: {this_round} whole rounds")
                        return this_round
                    self.one(job, peer, this_round)
        return self.rounds


def needed(jobs, rows, pattern):
    """Rows that match, and the jobs that can measure them. Which job gives which measure is known by its name."""
    if not pattern:
        return jobs, rows
    rows = [r for r in rows if re.search(pattern, f"{r.group} {r.title}")]
    wanted = {r.measure for r in rows if r.measure}
    linear = any(r.own and not r.measure for r in rows)

    def gives(job):
        if job.name.startswith("epcc "):
            config = job.name.split()[1]
            return any(w.startswith(config + " ") for w in wanted) or (linear and config.isdigit())
        return (job.name in wanted or any(w.startswith(job.name) for w in wanted) or job.name == "line"
                or job.name == "grain" and wanted & {"taskloop", "chains", "stencil"}
                or job.name == "loops" and wanted & {"triad", "cg", "loop stencil"}
                or job.name == "idle" and wanted & {"burn", "rest"} or job.name == "depth" and linear)
    return [j for j in jobs if gives(j)], rows


def condition(row, values, measure, peer, factor):
    """(ratio with interval or None, verdict) of one condition on one measure; None where one of the two was not
    measured."""
    ours, theirs = values.get(measure, {}).get(OURS), values.get(measure, {}).get(peer)
    if not ours or not theirs:
        return None
    ratio = verdict.ratio_interval(ours, theirs, row.unit) if row.more else verdict.ratio_interval(theirs, ours,
                                                                                                   row.unit)
    return ratio, verdict.judge(ratio, factor)


def judge_row(row, values):
    """{"ratios": {peer: [..]}, "verdict", "text"}"""
    if row.own:
        answer = row.own(values)
        return {"ratios": {}, "verdict": answer[1],
                "text": answer[0]} if answer else {"ratios": {}, "verdict": verdict.ABSENT, "text": ""}
    ratios, verdicts = {}, []
    for peer, factor in row.conditions:
        both = [condition(row, values, m, peer, factor) for m in (row.measure, row.also) if m]
        both = [b for b in both if b]
        if not both:
            continue
        lesser = min(both, key=lambda b: b[0][0] if b[0] else float("inf"))  # a nest is also judged by the wall clock
        ratios[peer] = list(lesser[0]) if lesser[0] else None
        verdicts.append(lesser[1])
    result = verdict.enough_of(verdicts,
                               row.least) if row.least and len(verdicts) > row.least else verdict.worst(verdicts)
    return {"ratios": ratios, "verdict": result, "text": ""}


def value_text(values, row, peer):
    found = values.get(row.measure, {}).get(peer.name) if row.measure else None
    if not found:
        return ""
    middle, low, high = verdict.median_interval(found)
    if low == high:
        return number(middle)
    return f"{number(middle)} [{number(low)} {number(high)}]"


def ratio_text(ratio):
    if ratio is None:
        return "too small"
    return f"{ratio[0]:.0f}" if ratio[0] >= 10 else f"{ratio[0]:.2f}"


def table(rows, judged, values, peers):
    lines, group = [], None
    for row, j in zip(rows, judged):
        if row.group != group:
            group = row.group
            lines += ["", group]
        ours = f"{value_text(values, row, next(p for p in peers if p.name == OURS))} {j['text']}".strip()
        if row.measure == "line round trip":
            ours = number(verdict.median(values[row.measure]["machine"])) if row.measure in values else ""
        others = "  ".join(f"{p.name} {value_text(values, row, p)}"
                           + (f" ({ratio_text(j['ratios'][p.name])}x)" if p.name in j["ratios"] else "")
                           for p in peers if p.name not in (OURS, "machine", g.DIRECT) and row.measure
                           and value_text(values, row, p))
        lines.append(f"  {row.title:26} {j['verdict'] if row.goal else '':8} {row.unit:8} {ours:34} {others}".rstrip())
        if row.goal:
            lines.append(f"  {'':26} {'':8} goal: {row.goal}")
    return "\n".join(lines) + "\n"


def summary_line(rows, judged):
    count = {v: sum(j["verdict"] == v for r, j in zip(rows, judged) if r.goal)
             for v in (verdict.MET, verdict.MISSED, verdict.NOISE, verdict.ABSENT)}
    return (f"{count[verdict.MET]} rows met, {count[verdict.MISSED]} not met, {count[verdict.NOISE]} within the noise, "
            f"{count[verdict.ABSENT]} not measured")


def make_peers(a):
    libraries = dict(p.split("=", 1) for p in a.peer)
    for name, path in libraries.items():
        if not Path(path).is_file():
            raise SystemExit(f"--peer {name}={path}: no such file")
    openmp = [f"{n}={p}" for n, p in libraries.items() if n != g.MYTH]
    found = harness.Peers(a.build, openmp)
    found.check(a.build / "bench" / "epcc_nested")
    found.list.insert(0, Peer("machine", "machine", openmp=False))
    if (a.build / "bench" / "fib_tbb").exists():
        found.list.append(Peer(g.TBB, "oneTBB", openmp=False))
    if g.MYTH in libraries:
        found.list.append(Peer(g.MYTH, g.MYTH, openmp=False))
    found.list.append(Peer(g.DIRECT, "psthreads without psrun",
                           {"LD_LIBRARY_PATH": str(a.build.resolve() / "lib" / "dropin")}, openmp=False))
    return found, libraries


HEAD = """The time is the median of the rounds [with the 95% interval of that median]; (x): how many times better ours
is, the median of the rounds' ratios. A goal is met where the whole 95% interval of the ratio is on its side, not met
where none of it is, noise between. Of a nest, the lesser of two ratios counts: that of what each measurer saw, and
that of the wall clock's time for all of them.
"""


def main():
    a = read_arguments()
    processors = len(os.sched_getaffinity(0))
    out = a.out or a.build / "bench" / "results"
    out.mkdir(parents=True, exist_ok=True)
    peers, libraries = make_peers(a)
    blas = find_blas()
    if not blas:
        say("no OpenMP build of OpenBLAS: the Python pool is not measured (tools/install-deps bench)")
    jobs, rows = needed(g.jobs(a.build, a.quick, processors, libraries, blas), g.rows(processors), a.rows)
    if not rows:
        raise SystemExit(f"no row matches '{a.rows}'")
    machine = harness.machine_line()
    say(machine)
    m = Measuring(jobs, peers.list, a.minutes or (4.5 if a.quick else 22), a.rounds or (3 if a.quick else 50),
                  15 if a.quick else 40)
    rounds = m.run()
    judged = [judge_row(r, m.values) for r in rows]
    minutes = (time.monotonic() - m.start) / 60
    how = f"{machine}; {rounds} whole rounds, {minutes:.0f} minutes, load {os.getloadavg()[0]:.1f} at the end"
    failures = "".join(f"{job} under {peer}: {why}\n" for (job, peer), why in m.failed.items())
    text = f"{how}\n{HEAD}{table(rows, judged, m.values, peers.list)}\n{failures}{summary_line(rows, judged)}\n"
    if processors < 16:
        text += f"The rows for 16 processors are not measured here: {processors} processors.\n"
    (out / "goals.txt").write_text(text)
    (out / "goals.json").write_text(json.dumps({
        "machine": how, "peers": {p.name: p.label for p in peers.list}, "values": m.values,
        "failed": [{"job": k[0], "peer": k[1], "why": w} for k, w in m.failed.items()],
        "rows": [{"group": r.group, "title": r.title, "unit": r.unit, "goal": r.goal, "measure": r.measure, **j}
                 for r, j in zip(rows, judged)],
    }, indent=1, ensure_ascii=False) + "\n")
    print(text, end="")
    say(f"written: goals.txt, goals.json in {out}")


if __name__ == "__main__":
    main()
