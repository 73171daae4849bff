#!/usr/bin/python3
"""documents.py [--write] - the tables of docs/manycore*.md that are made of measured rows, which are
bench/results/manycore-*.csv.

A table stands behind a line "<!-- table NAME -->", up to the next empty line. Without --write: says which tables are
not those of the rows (exit status 1); with it they are written anew."""
import argparse
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HALS = ("sw-paper", "hws-paper", "hws-paper-implicit", "sw", "hws")
SETTINGS = {"": "default", "icache.size=16384": "cache of 16 KB", "noc.posted=8": "8 posted stores",
            "icache.size=16384 noc.posted=8": "both", "noc.latency=20 noc.occupancy=4": "paper-like network"}
LATENCIES = {"": 8, "noc.latency=10": 10, "noc.latency=20": 20, "noc.latency=40": 40}


def read(name):
    with open(ROOT / "bench" / "results" / name, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


class Regions:
    """Cycles of a region by way, machine, and kind."""

    def __init__(self):
        self.cycles, self.paper = {}, {}
        for r in read("manycore-forkjoin.csv"):
            key = r["hal"], int(r["clusters"]), r["settings"], r["what"], int(r["threads"])
            self.cycles[key], self.paper[key] = int(r["cycles"]), r["paper (table 2)"]

    def one(self, hal, what, threads, clusters=4, settings=""):
        if (hal, what) == ("hws-paper-implicit", "flat") and clusters == 4 and threads < 64:
            settings = f"platform.cores={threads // 4}"  # a region of all cores is the only one that is implicit
        return self.cycles.get((hal, clusters, settings, what, threads))

    def table2(self):
        yield ["4 clusters of 16, cycles", *HALS, "paper: sw, hw, implicit"]
        rows = [(f"flat, {n} threads", "flat", n, 4) for n in (2, 4, 8, 16, 32, 64)]
        rows += [(f"nested, 4 x {n}", "nested", 4 * n, 4) for n in (1, 2, 4, 8, 16)]
        rows += [("the inner region of 16 alone", "inner", 16, 4), ("barrier of 64", "barrier", 64, 4),
                 ("barrier of 16 in a cluster", "cluster-barrier", 16, 4)]
        for c in (8, 16, 32, 64):
            rows += [(f"{w}, {16 * c} threads in {c} clusters", w, 16 * c, c) for w in ("flat", "nested")]
        for name, what, threads, clusters in rows:
            cells = []
            for hal in HALS:
                implicit = hal == "hws-paper-implicit" and (what != "flat" or threads < 4)
                cells.append("" if implicit else self.one(hal, what, threads, clusters))
            of_paper = [self.paper.get((h, 4, f"platform.cores={threads // 4}" if h == HALS[2] and threads < 64 else "",
                                        what, threads)) if clusters == 4 else "" for h in HALS[:3]]
            yield [name, *cells, ", ".join(p or "-" for p in of_paper) if any(of_paper) else ""]

    def columns(self):
        yield ["64 threads, cycles: flat, nested", *HALS]
        for settings, name in SETTINGS.items():
            yield [name, *(", ".join(str(self.one(h, w, 64, settings=settings)) for w in ("flat", "nested")
                                     if (h, w) != ("hws-paper-implicit", "nested")) for h in HALS)]

    def gains(self):
        yield ["64 threads, times", "flat: sw-paper / sw", "implicit / hws", "nested: sw-paper / sw", "sw-paper / hws",
               "hws-paper / hws"]
        for settings, name in SETTINGS.items():
            yield [name, *(f"{self.one(a, w, 64, settings=settings) / self.one(b, w, 64, settings=settings):.1f}"
                           for a, b, w in (("sw-paper", "sw", "flat"), ("hws-paper-implicit", "hws", "flat"),
                                           ("sw-paper", "sw", "nested"), ("sw-paper", "hws", "nested"),
                                           ("hws-paper", "hws", "nested")))]

    def latencies(self):
        hals = [h for h in HALS if h != "hws-paper-implicit"]
        yield ["latency", *hals]
        for settings, latency in LATENCIES.items():
            yield [latency, *(", ".join(str(self.one(h, w, 64, settings=settings)) for w in ("flat", "nested"))
                              for h in hals)]


class Apps:
    """Rows of the applications."""

    FORMS = (("flat", "sw"), ("nested", "sw-unbound"), ("nested", "sw"), ("numa", "sw"), ("numa", "hws"))
    PAPER = {"Color Tracking": 27.2, "FAST": 4.6, "Mahalanobis": 4.1, "Strassen": 3.2, "NCC": 5.2, "SHOT": 4}

    def __init__(self):
        self.rows = read("manycore-apps.csv")

    def find(self, field, **wanted):
        found = [r for r in self.rows if not r["error"] and all(r[k] == v for k, v in wanted.items())]
        return float(found[0][field]) if found else None

    def table1(self):
        yield ["remote data over near", "work", "whole region", "work, paper-like network", "whole region", "the paper"]
        for name, paper in self.PAPER.items():
            cells = []
            for settings in ("", "noc.latency=20 noc.occupancy=4"):
                for field in ("work_most", "time"):
                    near, far = (next((float(r[field]) for r in self.rows if r["part"] == "table1" and
                                       r["program"] == name and r["settings"] == settings and
                                       r["options"].endswith(f"--remote {k}")), None) for k in (0, 3))
                    cells.append(f"{far / near:.1f}" if near and far else "-")
            yield [name, *cells, paper]

    def forms(self, part, settings):
        yield ["cycles", "flat", "nested, unbound", "nested, bound by default", "nested NUMA", "nested NUMA HW",
               "flat / NUMA HW"]
        for name in dict.fromkeys(r["program"] for r in self.rows if r["part"] == part):
            times = [self.find("time", part=part, program=name, form=form, hal=hal, settings=settings)
                     for form, hal in self.FORMS]
            yield [name, *("-" if t is None else int(t) for t in times),
                   f"{times[0] / times[-1]:.1f}" if times[0] and times[-1] else "-"]

    def fig17(self):
        return self.forms("fig17", "")

    def nesting(self):
        return self.forms("nesting", "")

    def nesting_paper_like(self):
        return self.forms("nesting", "noc.latency=20 noc.occupancy=4")


def memory():
    yield ["", "cluster 0", "another", "single variables", "code"]
    for r in read("manycore-memory.csv"):
        yield list(r.values())


class Shapes:
    """Regions by the shape of the one before."""

    def __init__(self):
        self.cycles = {(r["hal"], r["which"], r["what"], int(r["threads"])): int(r["cycles"])
                       for r in read("manycore-shapes.csv")}

    def shapes(self):
        yield ["", "repeated", "shape changed: flat 64 and 32", "flat 64 and nested", "first", "start"]
        for hal in ("sw", "hws"):
            for kind, name in (("flat", "flat 64"), ("nested", "nested 4 x 16")):
                half = self.cycles[hal, "changed", "flat+half", 64] if kind == "flat" else ""
                yield [f"{name}, {hal}", self.cycles[hal, "repeated", kind, 64], half,
                       self.cycles[hal, "changed", "flat+nested", 64],
                       *(self.cycles[hal, which, kind, 64] for which in ("first", "start"))]

    def first(self):
        yield ["cycles", "64 threads", "256", "1024"]
        for hal in ("sw", "hws"):
            for which, kind, name in (("first", "flat", "first flat region"),
                                      ("first", "nested", "first nested region"),
                                      ("start", "flat", "start of the program")):
                yield [f"{name}, {hal}", *(self.cycles[hal, which, kind, n] for n in (64, 256, 1024))]


def tasks():
    rows = {(r["hal"], r["what"], r["threads"]): r["cycles"] for r in read("manycore-tasks.csv")}
    yield ["cycles", "sw", "hws"]
    for what, name in (("first-tasks", "64 tasks made by one of {} threads, the first time"),
                       ("tasks", "64 tasks made by one of {} threads"), ("chunk", "a chunk of a dynamic loop by {}")):
        for threads in ("2", "4") if what == "chunk" else ("16", "64"):
            yield [name.format(threads), *(rows[hal, what, threads] for hal in ("sw", "hws"))]


def others():
    yield ["fork and join", "cores", "cost", "of 64 cores", "of 16 cores"]
    for r in read("manycore-others.csv"):
        yield list(r.values())


class Calibration:
    """The virtual manycore beside RTL."""

    CAUSES = {
        "over_words": "the target has 4 bytes and begins in the middle of a word: two fetches",
        "at_once": "the jump's register was computed by the instruction before",
        "div": "the divider stops early; the time depends on the divisor",
        "remu": "the divider stops early; the time depends on the divisor",
        "csr_cycle": "a read of a counter empties the pipeline",
        "fence": "a fence empties the pipeline",
    }
    SHARED = {
        "load_own_banks": "loads, each core in a bank of its own", "load_one_word": "loads of one word",
        "load_one_bank": "loads of different words of one bank", "store_own_banks": "stores, banks of their own",
        "store_one_word": "stores to one word", "store_one_bank": "stores to different words of one bank",
        "set_own_banks": "test-and-set, banks of their own", "set_one_word": "test-and-set of one word",
    }

    def __init__(self):
        rows = read("manycore-calibration.csv")
        self.rows = {(r["kind"], r["name"], int(r["cores"])): r for r in rows}

    def pieces(self):
        yield ["piece", "here", "CV32E40P", "why"]
        for (kind, name, _), r in self.rows.items():
            if kind == "micro" and r["cycles"] != r["peer cycles"]:
                why = next(why for part, why in self.CAUSES.items() if part in name)  # a difference has a name
                yield [name.replace("_", " "), *(f"{int(r[k]) / 32:g}" for k in ("cycles", "peer cycles")), why]

    def shared(self):
        yield ["16 cores, 32 accesses each: cycles beyond those of one core", "here", "CV32E40P"]
        for name, words in self.SHARED.items():
            yield [words, *(int(self.rows["shared", name, 16][k]) - int(self.rows["shared", name, 1][k])
                            for k in ("cycles", "peer cycles"))]

    def kernels(self):
        yield ["kernel", "cores", "here", "CV32E40P", "difference"]
        for (kind, name, cores), r in self.rows.items():
            if kind == "kernel":
                here, there = int(r["cycles"]), int(r["peer cycles"])
                yield [name, cores, here, there, f"{100 * (there - here) / here:+.1f}%"]


def tables():
    regions, apps, of_shapes, calibration = Regions(), Apps(), Shapes(), Calibration()
    return {"table1": apps.table1, "fig17": apps.fig17, "nesting": apps.nesting,
            "nesting-paper-like": apps.nesting_paper_like,
            "table2": regions.table2, "columns": regions.columns, "gains": regions.gains,
            "latencies": regions.latencies, "memory": memory, "others": others,
            "shapes": of_shapes.shapes, "first": of_shapes.first, "tasks": tasks,
            "pieces": calibration.pieces, "shared": calibration.shared, "kernels": calibration.kernels}


def markdown(rows):
    rows = [["" if c is None else str(c) for c in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(re.sub(r"\|  (?=\|)", "| ", line) for line in lines) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    known, wrong, seen = tables(), 0, set()
    for document in sorted((ROOT / "docs").glob("manycore*.md")):
        old = document.read_text(encoding="utf-8")

        def anew(match):
            seen.add(match[1])
            if match[1] not in known:
                raise SystemExit(f"{document.name}: no table '{match[1]}'; there are: {', '.join(known)}")
            return f"<!-- table {match[1]} -->\n\n{markdown(known[match[1]]())}"

        new = re.sub(r"<!-- table (\S+) -->\n\n((?:\|.*\n)*)", anew, old)
        if new != old and a.write:
            document.write_text(new, encoding="utf-8")
        elif new != old:
            wrong += 1
            here = next(i for i, (x, y) in enumerate(zip(old.splitlines() + [""], new.splitlines() + [""])) if x != y)
            print(f"{document.relative_to(ROOT)}:{here + 1}: not what the rows say (documents.py --write):\n"
                  f"  there:    {old.splitlines()[here]}\n  the rows: {new.splitlines()[here]}")
    for name in known.keys() - seen:
        wrong += 1
        print(f"documents.py: no document has the table '{name}'")
    print(f"{len(seen)} tables, {wrong} wrong")
    return int(wrong > 0)


sys.exit(main())
