#!/usr/bin/python3
"""apps.py [--quick] [--build DIR] [--part NAME]... - the six manycore applications measured as in manycore-nested-2016,
section 4.

  table1    cycles of one cluster's 16 threads with near data, and with data in another cluster's scratchpad
  fig17     speed-up over sequential of flat, nested, nested NUMA, nested NUMA with the hardware synchroniser, on 64
            cores
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
stopped (--again: from the start). Pictures: OUT/manycore-apps-PART.png. --keep copies them to docs/ and the rows to
bench/results/."""

import argparse
import concurrent.futures
import csv
import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True
import harness
from harness import say

PARTS = ["table1", "fig17", "fig18", "fig19", "fig20", "scaling", "sweep", "best", "remote", "short", "host"]
FIELDS = [
    "part",
    "program",
    "options",
    "form",
    "hal",
    "outer",
    "inner",
    "settings",
    "runtime",
    "time",
    "work_least",
    "work_most",
    "work_sum",
    "regions",
    "checksum",
    "error",
]
KEY = FIELDS[:9]
# name in the tables: (program, options, options of --quick); SHOT's kernels are two rows, as in the paper's figure 20
PROGRAMS = {
    "Color Tracking": ("color", "--frames 2", "--frames 1 --width 160 --height 120"),
    "FAST": ("fast", "--scene chess --width 512", "--scene chess --width 128"),
    "Mahalanobis": ("mahalanobis", "--first 768 --second 768", "--first 192 --second 192"),
    "Strassen": ("strassen", "--size 128", "--size 64"),
    "NCC": ("ncc", "--width 320 --height 270", "--width 96 --height 71"),
    "SHOT1": ("shot", "--kernel frame --points 1900 --keys 1024", "--kernel frame"),
    "SHOT2": ("shot", "--kernel histogram --points 960 --keys 960", "--kernel histogram"),
}
# 100 000 cycles, near and remote data (table 1; SHOT whole)
PAPER_TABLE1 = {
    "Color Tracking": (5, 136, 22),
    "FAST": (49, 223, 5),
    "Mahalanobis": (25, 102, 4),
    "Strassen": (201, 638, 3),
    "NCC": (47, 245, 5),
    "SHOT": (4, 16, 4),
}
# per cent at 2, 4 ... 64 cores (figure 20)
PAPER_FIG20 = {
    "Color Tracking": (0.02, 0.06, 0.12, 0.26, 0.61, 1.43),
    "FAST": (0, 0, 0, 0.01, 0.02, 0.05),
    "Mahalanobis": (0, 0.01, 0.01, 0.03, 0.06, 0.14),
    "Strassen": (0, 0, 0, 0.01, 0.01, 0.04),
    "NCC": (0, 0, 0.01, 0.02, 0.04, 0.10),
    "SHOT1": (0, 0.01, 0.02, 0.03, 0.08, 0.18),
    "SHOT2": (0.01, 0.02, 0.04, 0.10, 0.22, 0.52),
}
CORES = {2: (1, 2), 4: (2, 2), 8: (4, 2), 16: (4, 4), 32: (4, 8), 64: (4, 16)}
REMOTE = ["", "noc.latency=20", "noc.latency=20 noc.occupancy=4", "noc.latency=40 noc.occupancy=8"]
SHORT = ["", "noc.latency=20"]
NEAREST = ["FAST", "NCC", "SHOT1"]
BEST = [
    "",
    "icache.size=16384",
    "memory.occupancy=1",
    "tcdm.banks=64",
    "icache.size=16384 memory.occupancy=1 tcdm.banks=64",
]
RUNTIMES = ["sw-paper", "hws-paper", "sw", "hws"]
SWEEP = ["", "icache.size=16384", "memory.occupancy=1", "noc.latency=2", "noc.latency=20", "l2.occupancy=4"]


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


class Rows:
    """What is measured; the file has a line for each row as soon as it is there."""

    def __init__(self, path, again):
        self.path, self.rows = path, {}
        if again and path.exists():
            path.unlink()
        if path.exists():
            with open(path, newline="") as f:
                for row in csv.DictReader(f):
                    if row.get("error") is None:
                        continue  # the line at which a measurement was killed
                    if not row["error"]:
                        self.rows[self.key(row)] = row
        self.write_all()

    @staticmethod
    def key(row):
        return tuple(str(row[k]) for k in KEY)

    def write_all(self):
        part = self.path.with_suffix(".part")
        with open(part, "w", newline="") as f:
            writer = csv.DictWriter(f, FIELDS)
            writer.writeheader()
            writer.writerows(self.rows.values())
        part.rename(self.path)

    def sort(self, wanted):
        """In the order of the jobs, whichever was done first."""
        place = {tuple(str(j[k]) for k in KEY[:-1]): i for i, j in enumerate(wanted)}
        there = sorted(self.rows.items(), key=lambda item: place.get(item[0][:-1], len(place)))
        self.rows = dict(there)
        self.write_all()

    def add(self, row):
        self.rows[self.key(row)] = row = {k: str(row.get(k, "")) for k in FIELDS}
        with open(self.path, "a", newline="") as f:
            csv.DictWriter(f, FIELDS).writerow(row)

    def find(self, **wanted):
        return [r for r in self.rows.values() if not r["error"] and all(r[k] == str(v) for k, v in wanted.items())]

    def one(self, field="time", **wanted):
        found = self.find(**wanted)
        return float(found[0][field]) if found and found[0][field] else None


def job(part, name, options, form, hal="", outer=4, inner=16, settings="", runtime="platform"):
    if form == "sequential":
        outer = inner = 1
    return dict(
        part=part,
        program=name,
        options=options,
        form=form,
        hal=hal,
        outer=outer,
        inner=inner,
        settings=settings,
        runtime=runtime,
    )


def speedups(part, a, name, options, forms, outer=4, inner=16, settings=""):
    """Jobs: sequential, and the forms as (form, runtime)."""
    yield job(part, name, options, "sequential", a.hw, settings=settings)
    for form, hal in forms:
        yield job(part, name, options, form, hal, outer, inner, settings)


def jobs(a):
    pick = 2 if a.quick else 1
    six = {name: p[pick] for name, p in PROGRAMS.items()}
    small = {name: p[2] for name, p in PROGRAMS.items()}
    whole_shot = {**{n: o for n, o in small.items() if not n.startswith("SHOT")}, "SHOT": "--kernel both"}
    for name, options in whole_shot.items():
        for remote in (0, 3):
            yield job("table1", name, f"{options} --remote {remote}".strip(), "cluster", a.hw, 1, 16)
    for name, options in six.items():
        yield from speedups(
            "fig17", a, name, options, [("flat", a.sw), ("nested", a.sw), ("numa", a.sw), ("numa", a.hw)]
        )
    for size in (32, 64, 128, 256) if a.quick else (32, 64, 128, 256, 512):
        yield from speedups("fig18", a, "FAST", f"--scene chess --width {size}", [("numa", a.hw)])
    for density in 15, 60:
        for width, height in ((320, 240),) if a.quick else ((320, 240), (640, 480)):
            options = f"--width {width} --height {height} --density {density}"
            yield from speedups("fig19", a, "FAST", options, [("numa", a.hw), ("dynamic", a.hw), ("tasks", a.hw)])
    for name, options in six.items():
        for cores, (outer, inner) in CORES.items():
            if not a.quick or cores in (4, 16, 64):
                yield job("fig20", name, options, "numa", a.hw, outer, inner)
                yield job("fig20", name, f"{options} --empty 1", "numa", a.hw, outer, inner)
    for name, options in six.items():
        yield job("scaling", name, options, "sequential", a.hw)
        for outer in (4, 16) if a.quick else (1, 2, 4, 8, 16):
            yield job("scaling", name, options, "numa", a.hw, outer, 16)
    for name, options in small.items():
        for settings in SWEEP[:3] if a.quick else SWEEP:
            yield from speedups("sweep", a, name, options, [("numa", a.hw)], settings=settings)
    for name in NEAREST:
        for settings in [] if a.quick else BEST:
            yield from speedups("best", a, name, six[name], [("numa", a.hw)], settings=settings)
    for settings in REMOTE[::3] if a.quick else REMOTE:
        for name, options in whole_shot.items():
            for remote in (0, 3):
                of_table = f"{options} --remote {remote}".strip()
                yield job("remote", name, of_table, "cluster", a.hw, 1, 16, settings)
        for name, options in small.items():
            for form, hal in (("flat", a.sw), ("numa", a.hw)):
                yield job("remote", name, options, form, hal, settings=settings)
    for settings in SHORT[:1] if a.quick else SHORT:
        for name, options in small.items():
            for hal in RUNTIMES:
                yield job("short", name, options, "numa", hal, settings=settings)
    for name, options in six.items():
        for outer, inner in ((2, 2), (4, 4), (8, 8)):
            yield job("host", name, options, "numa", "", outer, inner, runtime="*")


class Measure:
    def __init__(self, a, rows):
        self.a, self.rows, self.checksums = a, rows, {}
        self.elves = a.elves or a.build / "manycore" / "apps"

    @functools.cached_property
    def peers(self):
        """Of the host alone: the platform's parts want no other library."""
        return harness.Peers(self.a.build, self.a.peer)

    def host(self, name):
        return self.a.build / "bin" / f"mc-{self.program(name)}"

    @staticmethod
    def program(name):
        return "shot" if name == "SHOT" else PROGRAMS[name][0]

    def expected(self, name, options):
        """The host's checksum of the same."""
        words = options.split()
        if "--remote" in words:
            del words[words.index("--remote") :][:2]
        key = (name, " ".join(words))
        if key not in self.checksums:
            out = subprocess.run(
                [self.host(name), "--form", "sequential", "--check", "0", *words],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            self.checksums[key] = json.loads(out)["checksum"]
        return self.checksums[key]

    def platform(self, j):
        elf = self.elves / f"{self.program(j['program'])}-{j['hal']}.elf"
        if not elf.exists():
            return {**j, "error": f"{elf.name} is not built"}
        clusters, cores = (1, 1) if j["form"] == "sequential" else (j["outer"], j["inner"])
        if j["form"] == "cluster":
            clusters = 4
        command = [self.a.build / "bin" / "manycore", "--clusters", clusters, "--set", f"platform.cores={cores}"]
        for setting in j["settings"].split():
            command += ["--set", setting]
        command += [
            elf,
            "--form",
            j["form"],
            "--outer",
            j["outer"],
            "--inner",
            j["inner"],
            "--check",
            0,
            "--warm",
            1,
            *j["options"].split(),
        ]
        try:
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=self.a.seconds)
        except subprocess.TimeoutExpired:
            return {**j, "error": f"not finished in {self.a.seconds} s"}
        lines = done.stdout.strip().splitlines()
        if done.returncode or not lines:
            return {**j, "error": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]}
        found = json.loads(lines[-1])
        row = {**j, "time": found["time_cycles"], "regions": found["regions"], "checksum": found.get("checksum", "")}
        row.update({k: found.get(f"{k}_cycles", "") for k in ("work_least", "work_most", "work_sum")})
        if "checksum" in found and found["checksum"] != self.expected(j["program"], j["options"]):
            row["error"] = f"checksum {found['checksum']}, the host's is {self.expected(j['program'], j['options'])}"
        return row

    def on_host(self, j):
        """A row for each runtime, run in turns."""
        times = {"sequential": []}
        for _ in range(3 if self.a.quick else 7):
            for peer in [None, *self.peers.list]:
                arguments = [
                    self.host(j["program"]),
                    "--check",
                    0,
                    "--warm",
                    2,
                    "--repeat",
                    9,
                    "--form",
                    "numa" if peer else "sequential",
                    "--outer",
                    j["outer"],
                    "--inner",
                    j["inner"],
                    *j["options"].split(),
                ]
                out, why = (peer or self.peers.list[0]).run(arguments, 60)
                if why:
                    say(f"    {peer.name if peer else 'sequential'}: {why}")
                    continue
                found = json.loads(out)
                wrong = found["checksum"] != self.expected(j["program"], j["options"])
                times.setdefault(peer.name if peer else "sequential", []).append(None if wrong else found["time_us"])
        for runtime, values in times.items():
            bad = None in values or not values
            yield {
                **j,
                "runtime": runtime,
                "time": "" if bad else f"{statistics.median(values):.3f}",
                "error": "a wrong checksum" if None in values else "" if values else "no result",
            }

    def made(self, wanted):
        """(number, rows) of each: platforms several at once, for cycles do not depend on that; the host's in turn."""
        with concurrent.futures.ThreadPoolExecutor(self.a.jobs) as pool:
            runs = {pool.submit(self.platform, j): k for k, j in wanted if j["runtime"] != "*"}
            for run in concurrent.futures.as_completed(runs):
                yield runs[run], [run.result()]
        for k, j in wanted:
            if j["runtime"] == "*":
                yield k, list(self.on_host(j))

    def all(self, parts):
        todo = [j for j in jobs(self.a) if j["part"] in parts]
        start, failed, wanted = time.monotonic(), 0, []
        for k, j in enumerate(todo):
            there = self.rows.find(
                **{x: j[x] for x in KEY if x != "runtime"}, **({} if j["runtime"] == "*" else {"runtime": j["runtime"]})
            )
            if there and (j["runtime"] != "*" or {p.name for p in self.peers.list} <= {r["runtime"] for r in there}):
                continue
            wanted.append((k, j))
        for k, made in self.made(wanted):
            for row in made:
                self.rows.add(row)
                failed += bool(row.get("error"))
                what = " ".join(
                    str(x)
                    for x in (
                        row["part"],
                        row["program"],
                        row["form"],
                        row["hal"],
                        f"{row['outer']}x{row['inner']}",
                        row["settings"],
                        row["runtime"],
                    )
                    if x
                )
                say(
                    f"[{k + 1} of {len(todo)}, {time.monotonic() - start:4.0f} s] {what}:"
                    f" {row.get('error') or row['time']}"
                )
        return failed


def ratio(a, b):
    return a / b if a and b else None


def text(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def geometric(values):
    values = [v for v in values if v]
    return statistics.geometric_mean(values) if values else None


def table(title, head, lines):
    lines = [[str(c) for c in line] for line in lines]
    widths = [max(len(r[i]) for r in [head, *lines]) for i in range(len(head))]
    out = [title, "  ".join(h.ljust(w) if i == 0 else h.rjust(w) for i, (h, w) in enumerate(zip(head, widths)))]
    out += ["  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))) for r in lines]
    return "\n".join(out) + "\n"


class Report:
    """Tables and pictures of what is there; a part without rows is left out."""

    def __init__(self, a, rows, out):
        self.a, self.rows, self.out = a, rows, out
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        self.plt = plt

    def options(self, name):
        return PROGRAMS[name][2 if self.a.quick else 1]

    def save(self, figure, part):
        figure.tight_layout()
        figure.savefig(self.out / f"manycore-apps-{part}.png", dpi=100)
        self.plt.close(figure)

    def bars(self, part, groups, series, ylabel, title, log=False):
        """series: {label: [a value for each group]}"""
        figure, axes = self.plt.subplots(figsize=(9, 4))
        width = 0.8 / len(series)
        for k, (label, values) in enumerate(series.items()):
            places = [x + (k - (len(series) - 1) / 2) * width for x in range(len(groups))]
            axes.bar(
                places, [v or 0 for v in values], width * 0.92, label=label, hatch="//" if "paper" in label else None
            )
            for x, v in zip(places, values):
                if v:
                    axes.text(x, v, f"{v:.1f}" if v < 10 else f"{v:.0f}", ha="center", va="bottom", fontsize=7)
        if log:
            axes.set_yscale("log")
        axes.set_xticks(range(len(groups)), groups)
        axes.set(ylabel=ylabel, title=title)
        axes.legend(fontsize=8)
        self.save(figure, part)

    def table1(self):
        lines, names = [], [n for n in PAPER_TABLE1 if self.rows.find(part="table1", program=n)]
        for name in names:
            found = {int(r["options"].split()[-1]): r for r in self.rows.find(part="table1", program=name)}
            near, far = (float(found[k]["work_most"]) if k in found else None for k in (0, 3))
            paper = PAPER_TABLE1[name]
            lines.append([
                name,
                text(near and near / 1e5, 2),
                text(far and far / 1e5, 2),
                ratio(far, near),
                paper[0],
                paper[1],
                paper[1] / paper[0],
            ])
        if not lines:
            return ""
        self.bars(
            "table1",
            names,
            {"here": [l[3] for l in lines], "the paper": [l[6] for l in lines]},
            "remote / near",
            "One cluster of 16 cores: data in another cluster's scratchpad against its own",
        )
        return table(
            "Table 1: 100 000 cycles at work",
            ["", "near", "remote", "ratio", "paper: near", "remote", "ratio"],
            [[*l[:3], text(l[3]), *l[4:6], text(l[6])] for l in lines],
        )

    def fig17(self):
        forms = {
            "flat": ("flat", self.a.sw),
            "nested": ("nested", self.a.sw),
            "nested NUMA": ("numa", self.a.sw),
            "nested NUMA HW": ("numa", self.a.hw),
        }
        names = [n for n in PROGRAMS if self.rows.find(part="fig17", program=n)]
        series = {
            label: [
                ratio(self.one("fig17", n, "sequential", self.a.hw), self.one("fig17", n, form, hal)) for n in names
            ]
            for label, (form, hal) in forms.items()
        }
        if not names:
            return ""
        self.bars(
            "fig17",
            names,
            series,
            "speed-up over sequential",
            "64 cores (the paper: NUMA up to 63, 46 on average; up to 28 times flat, 7 on average)",
        )
        lines = [
            [n, *(text(series[s][i]) for s in series), text(ratio(series["nested NUMA HW"][i], series["flat"][i]))]
            for i, n in enumerate(names)
        ]
        lines.append([
            "mean",
            *(text(geometric(v)) for v in series.values()),
            text(geometric([ratio(x, y) for x, y in zip(series["nested NUMA HW"], series["flat"])])),
        ])
        return table(
            "Figure 17: speed-up over sequential, 64 cores (mean: geometric)", ["", *series, "HW / flat"], lines
        )

    def one(self, part, name, form, hal, **more):
        return self.rows.one(
            part=part, program=name, form=form, hal=hal, options=more.pop("options", self.options(name)), **more
        )

    @staticmethod
    def variance(row):
        return 100 * (float(row["work_most"]) - float(row["work_least"])) / float(row["work_most"])

    def fast_rows(self, part, forms):
        lines = []
        for options in dict.fromkeys(r["options"] for r in self.rows.find(part=part)):
            sequential = self.rows.one(part=part, options=options, form="sequential")
            line = [options.replace("--scene ", "").replace("--", ""), sequential]
            for form in forms:
                row = (self.rows.find(part=part, options=options, form=form) or [None])[0]
                line += [ratio(sequential, float(row["time"])) if row else None, self.variance(row) if row else None]
            lines.append(line)
        return lines

    def fig18(self):
        lines = self.fast_rows("fig18", ["numa"])
        if not lines:
            return ""
        self.bars(
            "fig18",
            [l[0].split()[-1] for l in lines],
            {"nested NUMA HW": [l[2] for l in lines]},
            "speed-up over sequential",
            "FAST, chess patterns by size, 64 cores (the paper: about 60 at 256)",
        )
        return table(
            "Figure 18: FAST on chess patterns",
            ["", "sequential", "speed-up", "variance %"],
            [[l[0], int(l[1] or 0), text(l[2]), text(l[3])] for l in lines],
        )

    def fig19(self):
        forms = ["numa", "dynamic", "tasks"]
        lines = self.fast_rows("fig19", forms)
        if not lines:
            return ""
        names = [" ".join(l[0].split()[1::2][:2]) + f", {int(l[0].split()[5]) / 10:g}%" for l in lines]
        paper = {("320", "15"): 27, ("640", "15"): 46, ("320", "60"): 35, ("640", "60"): 50}
        series = {
            "static": [l[2] for l in lines],
            "schedule(dynamic)": [l[4] for l in lines],
            "tasks": [l[6] for l in lines],
            "the paper": [paper[(l[0].split()[1], l[0].split()[5])] for l in lines],
        }
        self.bars("fig19", names, series, "speed-up over sequential", "FAST on streets, nested NUMA HW, 64 cores")
        return table(
            "Figure 19: FAST on streets; variance: (longest - shortest) / longest time at work",
            ["", "static", "var %", "dynamic", "var %", "tasks", "var %", "paper"],
            [[n, *(text(x) for x in l[2:]), p] for n, l, p in zip(names, lines, series["the paper"])],
        )

    def fig20(self):
        names = [n for n in PROGRAMS if self.rows.find(part="fig20", program=n)]
        if not names:
            return ""
        figure, axes = self.plt.subplots(figsize=(8, 4.5))
        lines = []
        for name in names:
            shares = []
            for cores, (outer, inner) in CORES.items():
                at = dict(part="fig20", program=name, outer=outer, inner=inner)
                share = ratio(
                    self.rows.one(options=f"{self.options(name)} --empty 1", **at),
                    self.rows.one(options=self.options(name), **at),
                )
                shares.append(None if share is None else 100 * share)
            there = [(c, s) for c, s in zip(CORES, shares) if s]
            colour = axes.plot([c for c, _ in there], [s for _, s in there], "-o", label=name)[0].get_color()
            axes.plot(list(CORES), [max(v, 0.004) for v in PAPER_FIG20[name]], ":", color=colour)
            lines.append([name, *(text(s, 2) for s in shares), text(PAPER_FIG20[name][-1], 2)])
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="cores",
            ylabel="per cent of the time",
            title="Fork and join, nested NUMA HW (dotted: the paper)",
        )
        axes.set_xticks(list(CORES), list(CORES))
        axes.legend(fontsize=8)
        self.save(figure, "fig20")
        return table("Figure 20: per cent of fork and join", ["cores", *map(str, CORES), "paper, 64"], lines)

    def scaling(self):
        names = [n for n in PROGRAMS if self.rows.find(part="scaling", program=n)]
        if not names:
            return ""
        outers = sorted({int(r["outer"]) for r in self.rows.find(part="scaling", form="numa")})
        figure, axes = self.plt.subplots(figsize=(8, 4.5))
        lines = []
        for name in names:
            base = self.one("scaling", name, "sequential", self.a.hw)
            values = [ratio(base, self.one("scaling", name, "numa", self.a.hw, outer=o)) for o in outers]
            axes.plot([16 * o for o, v in zip(outers, values) if v], [v for v in values if v], "-o", label=name)
            lines.append([name, *map(text, values)])
        axes.plot([16 * o for o in outers], [16 * o for o in outers], ":", color="grey")
        axes.set(
            xlabel="cores",
            ylabel="speed-up over sequential",
            title="Nested NUMA HW, 16 cores a cluster",
            xscale="log",
            yscale="log",
        )
        axes.set_xticks([16 * o for o in outers], [16 * o for o in outers])
        axes.legend(fontsize=8)
        self.save(figure, "scaling")
        return table("Scaling: speed-up over sequential", ["cores", *(str(16 * o) for o in outers)], lines)

    def sweep(self):
        return self.parameters("sweep", SWEEP, lambda name: PROGRAMS[name][2], "small inputs")

    def best(self):
        return self.parameters("best", BEST, self.options, "large inputs")

    def parameters(self, part, of_all, options, inputs):
        names = [n for n in PROGRAMS if self.rows.find(part=part, program=n)]
        if not names:
            return ""
        settings = [s for s in of_all if self.rows.find(part=part, settings=s)]
        series = {
            s
            or "default": [
                ratio(*(
                    self.rows.one(part=part, program=n, options=options(n), form=f, settings=s)
                    for f in ("sequential", "numa")
                ))
                for n in names
            ]
            for s in settings
        }
        self.bars(
            part,
            names,
            series,
            "speed-up over sequential",
            f"Nested NUMA HW, 64 cores, {inputs}: parameters of the platform changed",
        )
        return table(
            f"Parameters, {inputs}: speed-up over sequential with the same parameter",
            ["", *series],
            [[n, *(text(v[i]) for v in series.values())] for i, n in enumerate(names)],
        )

    def remote(self):
        """What a slower network makes of table 1, and of nested NUMA HW over flat."""
        settings = [s for s in REMOTE if self.rows.find(part="remote", settings=s)]
        if not settings:
            return ""

        def table1(name, s):
            found = {int(r["options"].split()[-1]): r for r in self.rows.find(part="remote", program=name,
                                                                               form="cluster", settings=s)}
            return ratio(*(float(found[k]["work_most"]) if k in found else None for k in (3, 0)))

        def over_flat(name, s):
            return ratio(*(self.rows.one(part="remote", program=name, form=f, settings=s) for f in ("flat", "numa")))

        def row(s, of, names):
            values = [of(n, s) for n in names]
            there = [v for v in values if v]
            return [s or "default", *map(text, values), text(sum(there) / len(there) if there else None)]

        self.bars(
            "remote",
            list(PROGRAMS),
            {s or "default": [over_flat(n, s) for n in PROGRAMS] for s in settings},
            "times as fast as flat",
            "Nested NUMA HW over flat, small inputs, by network (the paper: up to 28, 7 on average)",
        )
        return table(
            "Network: remote over near data, as in table 1 (the paper: 3 to 27)",
            ["", *PAPER_TABLE1, "mean"],
            [row(s, table1, PAPER_TABLE1) for s in settings],
        ) + table(
            "Network: nested NUMA HW over flat, small inputs",
            ["", *PROGRAMS, "mean"],
            [row(s, over_flat, PROGRAMS) for s in settings],
        )

    def short(self):
        settings = [s for s in SHORT if self.rows.find(part="short", settings=s)]
        if not settings:
            return ""
        lines, series = [], {}
        for s in settings:
            for name in PROGRAMS:
                times = [self.rows.one(part="short", program=name, hal=h, settings=s) for h in RUNTIMES]
                of_paper, ours = ratio(times[0], times[1]), ratio(times[2], times[3])
                lines.append([f"{name} {s}".strip(), *(text(t, 0) for t in times), text(of_paper, 2), text(ours, 2),
                              text(ratio(times[0], times[3]), 2)])
                for label, value in (("the paper's ways", of_paper), ("ours", ours)):
                    series.setdefault(f"{label} {s}".strip(), []).append(value)
        self.bars(
            "short",
            list(PROGRAMS),
            series,
            "software's time over hardware's",
            "Nested NUMA, 64 cores, small inputs: what the synchroniser brings",
        )
        return table(
            "Small inputs by runtime: cycles; software over hardware, the paper's ways and ours; the paper's software"
            " over our hardware",
            ["", *RUNTIMES, "paper's", "ours", "both"],
            lines,
        )

    def host(self):
        found = self.rows.find(part="host")
        if not found:
            return ""
        runtimes = list(dict.fromkeys(r["runtime"] for r in found))
        lines, series, groups = [], {r: [] for r in runtimes if r != "sequential"}, []
        for name in PROGRAMS:
            for outer, inner in ((2, 2), (4, 4), (8, 8)):
                at = dict(part="host", program=name, options=self.options(name), outer=outer, inner=inner)
                times = [self.rows.one(runtime=r, **at) for r in runtimes]
                if not any(times):
                    continue
                lines.append([f"{name} {outer}x{inner}", *(text(t) for t in times)])
                if (outer, inner) == (4, 4):
                    groups.append(name)
                    for r in series:
                        series[r].append(self.rows.one(runtime=r, **at))
        self.bars(
            "host",
            groups,
            series,
            "microseconds (less is better)",
            "The six on this machine, nested 4 x 4 threads",
            log=True,
        )
        return table(f"Host: microseconds, numa form. {harness.machine_line()}", ["", *runtimes], lines)


def main():
    a = read_arguments()
    out = a.out or a.build / "bench" / "manycore"
    out.mkdir(parents=True, exist_ok=True)
    rows = Rows(out / ("apps-quick.csv" if a.quick else "apps.csv"), a.again and not a.draw)
    parts = a.part or PARTS
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
        shutil.copy(rows.path, ROOT / "bench" / "results" / "manycore-apps.csv")
        for picture in out.glob("manycore-apps-*.png"):
            shutil.copy(picture, ROOT / "docs")
    say(f"written: {rows.path.name}, apps.txt and pictures in {out}" + (f"; {failed} runs failed" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
