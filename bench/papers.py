#!/usr/bin/python3
"""The papers' figures and tables, measured today: a file each in bench/papers/, a plot a paper.

  bench/papers.py                         measures; papers.json, papers.txt and the plots in build/bench/papers
  bench/papers.py --portable build-portable     with balder-threads-2004's other column (built with -DPS_PORTABLE=ON)
  bench/papers.py --draw FILE.json        draws again what was measured
  bench/papers.py --figure nthlib2004_figure5     these alone (may be given several times)

A figure names the constructs of epcc_nested that it needs (NEEDS), or measures programs of its own (measure(arguments,
peers)).

Our series and today's peers' come from this machine, in turns; the papers' numbers are what their texts give, on their
machines: they show the shape, not a race. Figures whose values are in no text have the paper's statement below them."""

import argparse
import importlib
import json
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "papers")]
sys.dont_write_bytecode = True
import harness
from harness import OURS, Peer, json_lines, say
from plot import RESOLUTION_US, colour

FIGURES = ["psthreads2009_figure6", "psthreads2009_figure7", "psthreads2009_figure8", "psthreads2009_table1",
           "psthreads2009_figure9", "nthlib2004_figure2", "nthlib2004_figure3", "nthlib2004_figure4",
           "nthlib2004_figure5", "balder2004_table1"]


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path)
    parser.add_argument("--portable", type=Path, help="a build with -DPS_PORTABLE=ON")
    parser.add_argument("--out", type=Path, help="default: BUILD/bench/papers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=8, help="time after which no new round begins")
    parser.add_argument("--seconds", type=int, default=40, help="time limit of a run")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=LIBRARY")
    parser.add_argument("--figure", action="append", choices=FIGURES, metavar="NAME", help=f"of {', '.join(FIGURES)}")
    parser.add_argument("--draw", type=Path, metavar="JSON", help="measure nothing")
    return parser.parse_args()


def measure(a, figures, peers):
    """{config: {construct: {peer: [us, ...]}}}"""
    needs, values, failed = {}, {}, set()
    for f in figures:
        for config, constructs in getattr(f, "NEEDS", {}).items():
            needs.setdefault(config, []).extend(c for c in constructs if c not in needs.get(config, []))
    start = time.monotonic()
    for this_round in range(a.rounds):
        if time.monotonic() - start > a.minutes * 60:
            break
        for config, constructs in needs.items():
            for peer in peers:
                if (config, peer.name) in failed or peer.name == "portable" and config not in portable_configs(figures):
                    continue
                out, why = peer.run([a.build / "bench" / "epcc_nested", "--constructs", ",".join(constructs), config],
                                    a.seconds)
                if why:
                    failed.add((config, peer.name))
                for row in json_lines(out):
                    values.setdefault(config, {}).setdefault(row["construct"],
                                                             {}).setdefault(peer.name, []).append(row["median_us"])
                say(f"[round {this_round + 1} of {a.rounds}, {time.monotonic() - start:4.0f} s] {config}, {peer.label}"
                    + (f": {why}" if why else ""))
    return values


def portable_configs(figures):
    return {config for f in figures if getattr(f, "PORTABLE", False) for config in f.NEEDS}


def measure_programs(a, figures, peers):
    """{figure: what its own measure() answers}: of runtimes alone, not of the portable build."""
    return {f.__name__: f.measure(a, [p for p in peers if p.name != "portable"]) for f in figures
            if hasattr(f, "measure")}


class Style:
    """How a peer looks everywhere."""

    def __init__(self, peers):
        self.peers, self.names = peers, [p.name for p in peers]

    def colour(self, peer):
        return "#5B8DB8" if peer.name == "portable" else colour(peer.name, self.names)

    def line(self, panel, peer, points):
        if len(points) > 1:
            panel.plot([x for x, _ in points], [max(y, RESOLUTION_US) for _, y in points], marker="o", markersize=3.5,
                       label=peer.label,
                       color=self.colour(peer), linewidth=2.4 if peer.name == OURS else 1.3)

    def lines(self, panel, values, title, threads, ticks=None):
        """A line a peer; values: {threads as text: {peer: value}}."""
        for peer in self.peers:
            self.line(panel, peer, [(n, values[str(n)][peer.name]) for n in threads
                                    if peer.name in values.get(str(n), {})])
        panel.set_xticks(threads, ticks)
        panel.set_xlabel("threads")
        panel.set_title(title, loc="left", fontsize=10)

    def bars(self, panel, configs, names, values):
        there = [p for p in self.peers if any(p.name in values(config) for config in configs)]
        width = 0.8 / max(1, len(there))
        for k, peer in enumerate(there):
            for x, config in enumerate(configs):
                value = values(config).get(peer.name)
                if value is not None:
                    self.bar(panel, x + (k - (len(there) - 1) / 2) * width, value, width, self.colour(peer),
                             peer.label if x == 0 else None)
        panel.set_yscale("log")
        panel.set_xticks(range(len(configs)), names)
        panel.set_xlabel("threads")
        panel.set_ylabel("overhead, microseconds")
        panel.margins(y=0.15)

    def beside(self, panel, today, paper, year):
        """Today's runtimes, then the paper's numbers, hatched."""
        names = []
        for peer in [p for p in self.peers if p.name in today]:
            self.bar(panel, len(names), today[peer.name], 0.8, self.colour(peer), None)
            names.append(peer.label)
        for name, value in paper.items():
            self.bar(panel, len(names), value, 0.8, "#dddddd", None, hatch="///")
            names.append(f"{name} ({year})")
        panel.set_yscale("log")
        panel.set_xticks(range(len(names)), names, rotation=35, ha="right", fontsize=8)
        panel.set_ylabel("overhead, microseconds")
        panel.margins(y=0.15)

    @staticmethod
    def bar(panel, x, value, width, tint, label, hatch=None):
        shown = max(value, RESOLUTION_US)
        panel.bar(x, shown, width * 0.92, color=tint, label=label, hatch=hatch, edgecolor="#888888" if hatch else tint,
                  linewidth=0.5)
        panel.text(x, shown * 1.1, harness.number(value) if value >= RESOLUTION_US else f"<{RESOLUTION_US}",
                   ha="center", fontsize=7)


def draw(paper, figures, data, peers, machine, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = [(f, which) for f in figures for which in f.PANELS]
    columns = 2
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(12, 3.9 * rows + 1), squeeze=False)
    style = Style(peers)
    for k, (f, which) in enumerate(panels):
        panel = axes[k // columns][k % columns]
        f.draw(panel, which, data, style)
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
        panel.set_title(panel.get_title(loc="left"), loc="left", fontsize=10, pad=18)
        if k % columns == 0:
            panel.text(0, 1.025, f.SAID, transform=panel.transAxes, fontsize=8, color="#555555",
                       style="italic").set_in_layout(False)
    for spare in range(len(panels), rows * columns):
        axes[spare // columns][spare % columns].axis("off")
    handles, labels = axes[0][0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="upper right", ncol=len(labels), fontsize=9, frameon=False,
                      bbox_to_anchor=(0.99, 0.995))
    figure.suptitle(paper, x=0.01, ha="left", fontsize=14, weight="bold")
    figure.text(0.01, 0.006, f"Overheads: logarithmic, less is better. Speed-ups: more is better. {machine}",
                fontsize=8, color="#555555")
    figure.tight_layout(rect=(0, 0.015, 1, 0.985))
    figure.savefig(path, dpi=100)
    plt.close(figure)


def leaves(data, path=()):
    """(path, {peer: its values or their median}) of each row."""
    if all(isinstance(value, (int, float, list)) for value in data.values()):
        yield path, data
    else:
        for name, inner in data.items():
            yield from leaves(inner, (*path, str(name)))


def rows(data, peers, speed_ups):
    """Lines of medians; the last column: how many times better ours is than the better of the other runtimes."""
    for path, by_peer in leaves(data):
        value = {p: statistics.median(v) if isinstance(v, list) else v for p, v in by_peer.items()
                 if v not in ([], None)}
        others = [value[p.name] for p in peers
                  if p.name not in (OURS, "pthreads", "portable") and p.name in value]
        ratio = ""
        if OURS in value and others and min(value[OURS], *others) > 0:
            ratio = harness.number(value[OURS] / max(others) if speed_ups else min(others) / value[OURS])
        yield (f"{', '.join(path):36}" + "".join(f"{harness.number(value[p.name]) if p.name in value else '-':>16}"
                                                 for p in peers) + f"{ratio:>10}")


def text_of(values, programs, peers, machine):
    """What docs/papers.md tells, as text."""
    head = f"{'':36}" + "".join(f"{p.name:>16}" for p in peers) + f"{'ratio':>10}"
    lines = [machine, "", "overheads in microseconds, medians", head, *rows(values, peers, False)]
    for name, found in programs.items():
        lines += ["", f"{name}: speed-ups, medians", head, *rows(found, peers, True)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def main():
    a = read_arguments()
    out = a.out or a.build / "bench" / "papers"
    out.mkdir(parents=True, exist_ok=True)
    figures = [importlib.import_module(name) for name in a.figure or FIGURES]
    if a.draw:
        found = json.loads(a.draw.read_text())
        peers = [Peer(name, label) for name, label in found["peers"].items()]
        machine, values, programs = found["machine"], found["values"], found.get("programs", {})
        figures = [f for f in figures if not hasattr(f, "measure") or f.__name__ in programs]
    else:
        all_peers = harness.Peers(a.build, a.peer, True)
        all_peers.check(a.build / "bench" / "epcc_nested")
        peers = all_peers.list
        if a.portable:
            peers.insert(-1, Peer("portable", "psthreads, POSIX only",
                                  prefix=[str(a.portable.resolve() / "bin" / "psrun")]))
        machine = harness.machine_line()
        values = measure(a, figures, peers)
        programs = measure_programs(a, figures, peers)
        (out / "papers.json").write_text(json.dumps({"machine": machine, "peers": {p.name: p.label for p in peers},
                                                     "values": values, "programs": programs}, indent=1) + "\n")
    data = {config: {c: {p: statistics.median(v) for p, v in by_peer.items()} for c, by_peer in constructs.items()}
            for config, constructs in values.items()}
    data.update(programs)
    (out / "papers.txt").write_text(text_of(values, programs, peers, machine))
    for paper in dict.fromkeys(f.PAPER for f in figures):
        draw(paper, [f for f in figures if f.PAPER == paper], data, peers, machine, out / f"{paper}.png")
    say(f"written: papers.json, papers.txt and a plot a paper in {out}")


if __name__ == "__main__":
    main()
