"""apps.py's tables and pictures, beside the paper's numbers."""
import statistics

import harness
from apps_jobs import BEST, CORES, PAPER_LIKE, PROGRAMS, REMOTE, RUNTIMES, SHORT, SWEEP

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
            found = {int(r["options"].split()[-1]): r for r in self.rows.find(part="table1", program=name, settings="")}
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
        return self.forms("fig17", self.options, "", "64 cores")

    def nesting(self):
        return self.forms("nesting", lambda name: PROGRAMS[name][2], "", "64 cores, small inputs") + self.forms(
            "nesting", lambda name: PROGRAMS[name][2], PAPER_LIKE,
            "64 cores, small inputs, network of latency 20 and occupancy 4",
        )

    def forms(self, part, options, settings, where):
        """Speed-up over sequential of the ways to nest."""
        forms = {
            "flat": ("flat", self.a.sw),
            "nested, unbound": ("nested", f"{self.a.sw}-unbound"),
            "nested, bound by default": ("nested", self.a.sw),
            "nested NUMA": ("numa", self.a.sw),
            "nested NUMA HW": ("numa", self.a.hw),
        }
        names = [n for n in PROGRAMS if self.rows.find(part=part, program=n, settings=settings)]
        if not names:
            return ""

        def over_one(name, form, hal):
            return ratio(*(self.one(part, name, f, h, options=options(name), settings=settings)
                           for f, h in (("sequential", self.a.hw), (form, hal))))

        series = {label: [over_one(n, *way) for n in names] for label, way in forms.items()}
        self.bars(part, names, series, "times as fast as one core", f"Warm second runs, {where}")
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
            f"Figure 17: speed-up over sequential, {where} (mean: geometric)", ["", *series, "HW / flat"], lines
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
