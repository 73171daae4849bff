"""What apps.py measures: the applications with their options, and the runs of each part."""

PARTS = ["table1", "fig17", "nesting", "fig18", "fig19", "fig20", "scaling", "sweep", "best", "remote", "short", "host"]
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
CORES = {2: (1, 2), 4: (2, 2), 8: (4, 2), 16: (4, 4), 32: (4, 8), 64: (4, 16)}
REMOTE = ["", "noc.latency=20", "noc.latency=20 noc.occupancy=4", "noc.latency=40 noc.occupancy=8"]
PAPER_LIKE = "noc.latency=20 noc.occupancy=4"
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
        for settings in ("", PAPER_LIKE):
            for remote in (0, 3):
                of_table = f"{options} --remote {remote}".strip()
                yield job("table1", name, of_table, "cluster", a.hw, 1, 16, settings)
    for name, options in six.items():
        yield from speedups(
            "fig17", a, name, options,
            [("flat", a.sw), ("nested", f"{a.sw}-unbound"), ("nested", a.sw), ("numa", a.sw), ("numa", a.hw)],
        )
    for settings in ("", PAPER_LIKE):
        for name, options in small.items():
            yield from speedups(
                "nesting", a, name, options,
                [("flat", a.sw), ("nested", f"{a.sw}-unbound"), ("nested", a.sw), ("numa", a.sw), ("numa", a.hw)],
                settings=settings,
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
