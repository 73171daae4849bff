#!/usr/bin/python3
"""forkjoin.py [--build DIR] [--keep] [--quick] - what a region costs on the virtual manycore, from fork to join.

The paper's two ways to start and join teams and ours (manycore-cc --hal) side by side:
- table 2 and more cores, a larger instruction cache, posted stores;
- the phases of fork and join (figures 8, 10 and 11), of which the paper's are linear in software and constant in
  hardware by the threads of a team;
- one to five levels (figure 14), table 4;
- a region of the same shape again, of another shape in turn, and the first one; tasks, and chunks of a loop;
- slower networks, memory and code.

Simulated cycles do not depend on what else runs: --jobs machines are simulated at once (default: the processors).
--keep writes bench/results/manycore-*.csv and the pictures of docs; --quick leaves out the machines beyond 64 cores;
--work is the longest work between fork and join, in cycles."""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HALS = ("sw-paper", "sw", "hws-paper", "hws")  # that the phases and the levels are of
ALL = ("sw-paper", "hws-paper", "hws-paper-implicit", "sw", "hws")
COLOURS = dict(zip(ALL, ("#c44e52", "#4c72b0", "#8172b3", "#dd8452", "#55a868")))
LATENCIES = ("noc.latency=10", "noc.latency=20", "noc.latency=40")
PAPER_LIKE = "noc.latency=20 noc.occupancy=4"  # remote data over near ones as in the paper's table 1
# Of 4 clusters; the cache of 4 KB is ours, the paper names no size, and no word says whether its cores wait for stores.
SETTINGS = ("icache.size=16384", "noc.posted=8", "icache.size=16384 noc.posted=8", *LATENCIES, PAPER_LIKE)
PAPER = {("flat", 2): 400, ("flat", 4): 500, ("flat", 8): 900, ("flat", 16): 1700, ("flat", 32): 3600,
         ("flat", 64): 8500, ("nested", 4): 2300, ("nested", 8): 2300, ("nested", 16): 2500, ("nested", 32): 2900,
         ("nested", 64): 3400}  # software, table 2
PAPER_HW = {("nested", 4): 2300, ("nested", 8): 2300, ("nested", 16): 2400, ("nested", 32): 2600, ("nested", 64): 2900}
PAPER_IMPLICIT = {4: 1500, 8: 1600, 16: 1700, 32: 1800, 64: 2100}  # all cores of 4 clusters
PHASES = ("INIT", "FETCH", "RELEASE", "BODY", "GATHER", "CLOSE", "UPDATE")
# Table 4: architecture, cores, fork and join in thousands of cycles.
OTHERS = (("Intel Xeon Phi", 240, 1700), ("Intel Xeon X5650, GCC", 8, 5.7), ("Intel Xeon X5650, ICC", 8, 4.3),
          ("Samsung Exynos 4412", 4, 2.4), ("TI ARM A15 CorePac", 4, 3.4), ("Intel Xeon X5355", 4, 9.3),
          ("IBM Cyclops-64", 160, 30), ("STM STHORM", 16, 1.5), ("TI c66x DSP", 8, 7.1), ("the paper", 64, 4))


class Study:
    def __init__(self, args, folder):
        self.build, self.keep, self.quick, self.work = args.build, args.keep, args.quick, args.work
        self.jobs = args.jobs
        self.folder = pathlib.Path(folder)
        self.machine = self.build / "bin" / "manycore"

    def compile(self, hal, source, *options):
        elf = self.folder / f"{source}-{hal}.elf"
        subprocess.run([self.build / "bin" / "manycore-cc", f"--hal={hal}", *options, HERE / source, "-o", elf],
                       check=True)
        return elf

    def run(self, elf, *arguments, clusters=4, settings="", options=()):
        command = [self.machine, "--clusters", str(clusters), "--set", "run.limit=2000000000", *options]
        for setting in settings.split():
            command += ["--set", setting]
        command += [elf, *arguments]
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if out.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit status {out.returncode}")
        return [line.split() for line in out.stdout.splitlines()]

    def write(self, name, header, rows):
        if self.keep:
            with open(ROOT / "bench" / "results" / name, "w", newline="", encoding="utf-8") as f:
                w = csv.writer(f)
                w.writerow(header)
                w.writerows(rows)


def of_paper(hal, clusters, settings, what, threads):
    """What the paper's table 2 has in this place."""
    if hal == "hws-paper-implicit":
        all_cores = settings == f"platform.cores={threads // 4}" or (not settings and threads == 64)
        return PAPER_IMPLICIT[threads] if clusters == 4 and what == "flat" and all_cores else ""
    table = {"sw-paper": PAPER, "hws-paper": PAPER_HW}.get(hal, {})
    return table.get((what, threads), "") if (clusters, settings) == (4, "") else ""


def costs(study):
    """Table 2, more cores, slower networks, other caches, memory."""
    rows, todo = [], []
    machines = [(4, s) for s in ("", *SETTINGS)] + ([] if study.quick else [(c, "") for c in (8, 16, 32, 64)])
    for hal in ALL:
        elf = study.compile(hal, "forkjoin.c")
        todo += [(hal, elf, *machine) for machine in machines]
        if hal in ("hws-paper-implicit", "hws"):  # a region of all cores, of fewer
            todo += [(hal, elf, 4, f"platform.cores={n}") for n in (1, 2, 4, 8)]

    def measure(machine):
        _, elf, clusters, settings = machine
        return study.run(elf, *(["whole"] if clusters > 4 else []), clusters=clusters, settings=settings)

    with concurrent.futures.ThreadPoolExecutor(study.jobs) as pool:
        for (hal, _, clusters, settings), lines in zip(todo, pool.map(measure, todo)):
            for what, threads, cycles in lines:
                rows.append([hal, clusters, settings, what, int(threads), int(cycles),
                             of_paper(hal, clusters, settings, what, int(threads))])
            print(f"{hal}, {clusters} clusters, {settings or 'default'}:",
                  ", ".join(f"{w} {n}: {c}" for w, n, c in lines if w in ("flat", "nested")), flush=True)
    study.write("manycore-forkjoin.csv",
                ["hal", "clusters", "settings", "what", "threads", "cycles", "paper (table 2)"], rows)
    return rows


def last_regions(trace):
    """Of each core that opens teams: its last phases, as (name, start, end)."""
    events = json.loads(trace.read_text())["traceEvents"]
    began, spans = {}, {}
    for e in events:
        if e.get("cat") != "region":
            continue
        core = (e["pid"], e["tid"])
        if e["ph"] == "b":
            began[core] = (e["name"], e["ts"])
        elif core in began:
            name, start = began.pop(core)
            spans.setdefault(core, []).append((name, start, e["ts"]))
    # Outer region: from the last INIT after an OUT of the first core.
    first = spans[(0, 0)]
    start = 0
    outs = [i for i, (name, _, _) in enumerate(first) if name == "OUT"]
    if len(outs) >= 2:
        start = first[outs[1]][1]
        stop = first[outs[2]][1] if len(outs) > 2 else first[-1][2]
    else:
        stop = first[-1][2]
    return start, {core: [s for s in list_ if start <= s[1] < stop and s[0] != "OUT"] for core, list_ in spans.items()}


def phases(study):
    """Figures 8, 10, 11: which core does what when; one nested region with warm caches."""
    rows, drawn = [], {}
    for hal in HALS:
        elf = study.compile(hal, "phases.c", "--phases")
        for inner in (2, 4, 8, 16):
            trace = study.folder / "trace.json"
            study.run(elf, str(inner), options=("--trace", trace))
            start, masters = last_regions(trace)
            drawn[hal, inner] = (start, masters)
            for (cluster, core), spans in sorted(masters.items()):
                sums = {p: sum(e - s for n, s, e in spans if n == p) for p in PHASES}
                if spans:
                    rows.append([hal, inner, cluster, core, *(sums[p] for p in PHASES), spans[-1][2] - spans[0][1]])
        for row in rows[-4:]:
            print(f"{hal:9} inner 16, master of cluster {row[2]}:", ", ".join(
                f"{p} {v}" for p, v in zip(PHASES, row[4:])), flush=True)
    study.write("manycore-phases.csv", ["hal", "inner threads", "cluster", "core", *PHASES, "all"], rows)
    return rows, drawn


def levels(study):
    """Figure 14."""
    rows = []
    elves = [study.compile(hal, "levels.c") for hal in HALS]
    with concurrent.futures.ThreadPoolExecutor(study.jobs) as pool:
        found = list(pool.map(lambda elf: study.run(elf, study.work), elves))
    for hal, lines in zip(HALS, found):
        for _, level, work, cycles in lines:
            rows.append([hal, int(level), int(work), int(cycles)])
            if work in ("10", "10000"):
                print(f"{hal:9} {level} levels, work of {work} cycles: {cycles} more", flush=True)
    study.write("manycore-levels.csv", ["hal", "levels", "work (cycles)", "overhead (cycles)"], rows)
    return rows


def shapes(study):
    """The same region again; two in turn, as a pair; the first of a program."""
    rows = []
    for hal in HALS:
        elf = study.compile(hal, "shapes.c")
        lines = study.run(elf) + study.run(elf, "nested")
        for clusters in () if study.quick else (16, 64):
            lines += [line for kind in ("flat", "nested") for line in study.run(elf, kind, clusters=clusters)]
        rows += [[hal, which, what, int(threads), int(cycles)] for which, what, threads, cycles in lines]
        of = {(which, what): int(cycles) for which, what, threads, cycles in lines if int(threads) <= 64}
        print(f"{hal:9} flat 64: repeated {of['repeated', 'flat']}, first {of['first', 'flat']}; nested 4 x 16: "
              f"repeated {of['repeated', 'nested']}, first {of['first', 'nested']}; shape changed: flat 64 and 32 "
              f"{of['changed', 'flat+half']} a pair, flat 64 and nested {of['changed', 'flat+nested']}; "
              f"start {of['start', 'flat']}", flush=True)
    study.write("manycore-shapes.csv", ["hal", "which", "what", "threads", "cycles"], rows)


def tasks(study):
    """Tasks that one thread makes, and chunks of a dynamic loop."""
    rows = []
    for hal in ("sw", "hws"):
        rows += [[hal, what, int(threads), int(cycles)]
                 for what, threads, cycles in study.run(study.compile(hal, "tasks.c"))]
        print(f"{hal:9}", ", ".join(f"{what} {n}: {cycles}" for h, what, n, cycles in rows if h == hal), flush=True)
    study.write("manycore-tasks.csv", ["hal", "what", "threads", "cycles"], rows)


def table4(study, measured):
    rows = [[name, cores, cost, round(cost * 64 / cores, 1), round(cost * 16 / cores, 1)]
            for name, cores, cost in OTHERS]
    for hal in ALL:
        for what in ("flat", "nested"):
            cost = next(r[5] for r in measured if r[:5] == [hal, 4, "", what, 64]) / 1000
            rows.append([f"here, {hal}, {what}", 64, round(cost, 2), round(cost, 2), round(cost / 4, 2)])
    for r in rows:
        print(f"{r[0]:24} {r[1]:3} cores: {r[2]:7} thousand cycles; of 64 cores {r[3]:6}, of 16 {r[4]:6}", flush=True)
    study.write("manycore-others.csv", ["architecture", "cores", "fork and join (1000 cycles)", "projected to 64 cores",
                                        "projected to 16 cores"], rows)


def code_bytes(study, hal):
    """Of the runtime, in a program that has regions and barriers."""
    where = study.folder / f"{hal}.map"
    study.compile(hal, "forkjoin.c", f"-Wl,-Map={where}")
    found = re.findall(r"\.(?:text|s?rodata)\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+\S*libmanycore-omp",
                       where.read_text())
    return sum(int(size, 16) for at, size in found if int(at, 16))


def memory(study, measured):
    rows = []
    for hal in ALL:
        first, other, static = (next(r[5] for r in measured if r[:4] == [hal, 4, "", f"memory-{who}"])
                                for who in ("first", "other", "variables"))
        rows.append([hal, first, other, static, code_bytes(study, hal)])
        print(f"{hal:9} cluster 0: {first}, another: {other}; variables of cluster 0 alone: {static}; "
              f"code {rows[-1][4]}", flush=True)
    study.write("manycore-memory.csv", ["hal", "cluster 0 (bytes)", "another cluster (bytes)",
                                        "variables of cluster 0 alone (bytes)", "code (bytes)"], rows)


def pictures(measured, phase_rows, drawn, level_rows):
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt  # pylint: disable=import-outside-toplevel
    docs = ROOT / "docs"

    fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    for axis, what in zip(axes, ("flat", "nested")):
        for hal in ALL:
            if (hal, what) == ("hws-paper-implicit", "nested"):
                continue  # as hws-paper
            own = (4, "") if hal != "hws-paper-implicit" else None
            points = sorted({(r[4], r[5]) for r in measured if r[0] == hal and r[3] == what
                             and ((r[1], r[2]) == own or r[2] == "" and r[4] == 16 * r[1]
                                  or own is None and r[2] == f"platform.cores={r[4] // 4}")})
            axis.plot(*zip(*points), "o-", color=COLOURS[hal], label=hal, markersize=3)
        for label, style, table in (("the paper, software", "k--", PAPER), ("the paper, hardware", "k:", PAPER_HW),
                                    ("the paper, implicit nested hardware", "k-.",
                                     {("flat", n): c for n, c in PAPER_IMPLICIT.items()})):
            points = sorted((n, c) for (w, n), c in table.items() if w == what)
            if points:
                axis.plot(*zip(*points), style, label=label)
        axis.set(xscale="log", yscale="log", xlabel="threads (16 a cluster above 64)", title=f"a {what} region")
        axis.set_xticks([4, 16, 64, 256, 1024], ["4", "16", "64", "256", "1024"])
        axis.grid(alpha=.3)
        axis.legend(fontsize=7)
    axes[0].set_ylabel("fork and join, cycles")
    fig.tight_layout()
    fig.savefig(docs / "manycore-forkjoin.png", dpi=110, metadata={"Software": None})

    fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True)
    for axis, hal, title in zip(axes, ("sw-paper", "hws-paper"), ("the paper's way in software", "with hardware")):
        for phase, style in (("FETCH", "o-"), ("RELEASE", "s-"), ("GATHER", "^-")):
            points = [(r[1], r[4 + PHASES.index(phase)]) for r in phase_rows if r[0] == hal and r[2] == 3]
            axis.plot(*zip(*points), style, label=phase)
        axis.set(xlabel="threads of a nested team", title=title, xticks=[2, 4, 8, 16])
        axis.grid(alpha=.3)
    axes[0].set(ylabel="cycles of a local master", ylim=(0, None))  # of both, now that all is drawn
    axes[0].legend()
    fig.tight_layout()
    fig.savefig(docs / "manycore-scaling.png", dpi=110, metadata={"Software": None})

    fig, axes = plt.subplots(1, 4, figsize=(12, 3.6), sharey=True)
    tints = dict(zip(PHASES, ("#8172b3", "#c44e52", "#dd8452", "#eeeeee", "#4c72b0", "#937860", "#55a868")))
    for axis, hal in zip(axes, HALS):
        start, masters = drawn[hal, 16]
        for (cluster, _), spans in sorted(masters.items()):
            for name, begin, end in spans:
                axis.bar(cluster, end - begin, bottom=begin - start, color=tints.get(name, "white"))
        axis.set(title=hal, xlabel="local master of cluster", xticks=range(4))
    axes[0].set_ylabel("cycles from the region's start")
    axes[0].legend([plt.Rectangle((0, 0), 1, 1, color=tints[p]) for p in PHASES], PHASES, fontsize=7)
    fig.tight_layout()
    fig.savefig(docs / "manycore-phases.png", dpi=110, metadata={"Software": None})

    fig, axes = plt.subplots(1, 4, figsize=(12, 3.4), sharey=True)
    for axis, hal in zip(axes, HALS):
        for level in range(1, 6):
            points = [(r[2], max(r[3], 1)) for r in level_rows if r[:2] == [hal, level]]
            axis.plot(*zip(*points), "o-", markersize=3, label=f"{level}-lv")
        axis.set(xscale="log", yscale="log", title=hal, xlabel="work, cycles")
        axis.grid(alpha=.3)
    axes[0].set_ylabel("overhead, cycles")
    axes[0].legend(fontsize=7)
    fig.tight_layout()
    fig.savefig(docs / "manycore-levels.png", dpi=110, metadata={"Software": None})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    p.add_argument("--keep", action="store_true")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--jobs", default=os.cpu_count(), type=int, metavar="N")
    p.add_argument("--work", default="1000000", metavar="CYCLES")
    with tempfile.TemporaryDirectory() as folder:
        args = p.parse_args()
        study = Study(args, folder)
        measured = costs(study)
        table4(study, measured)
        memory(study, measured)
        shapes(study)
        tasks(study)
        phase_rows, drawn = phases(study)
        level_rows = levels(study)
        if args.keep:
            pictures(measured, phase_rows, drawn, level_rows)
    return 0


sys.exit(main())
