"""What is measured (jobs) and what is wanted of it (rows). goals.py runs the one and judges the other.

A job runs under each of its peers once a round and gives {measure: value}. A row names a measure and its conditions:
against a peer, how many times better ours must be; or a function of everything measured."""

import statistics
import subprocess
import time

import harness
import verdict
from harness import OURS, json_lines

GOMP, OMP, BOLT, TBB, MYTH = "libgomp", "libomp", "bolt", "onetbb", "massivethreads"
DIRECT = "direct"  # our runtime put in place without psrun
SYNC = ["for", "barrier", "single", "dynamic", "guided"]
LOOPS = ["dynamic", "guided"]
FLAT = ["parallel", "barrier", "for", "static", "single", "dynamic", "guided", "reduction", "critical", "lock"]
NESTED = ["2x2", "4x4", "8x8", "16x16"]
LEVEL = [8, 16, 32, 64, 128, 256]
# application, size, samples
APPS = [("uts", "120", "31"), ("sort", "300", "5"), ("nqueens", "10", "7"), ("sparselu", "32", "9"),
        ("strassen", "256", "7"),
        ("health", "200", "7"), ("floorplan", "10", "5")]


class Job:
    """command: a list, or a function of the peer that gives one; measure: from the JSON lines to {measure: value}."""

    def __init__(self, name, command, measure, peers=None, environment=None, own=None, bare=False):
        self.name, self.command, self.measure, self.peers = name, command, measure, peers
        self.environment, self.own, self.bare = environment or {}, own, bare

    def wants(self, peer):
        return peer.name in self.peers if self.peers else peer.openmp

    def run(self, peer, seconds):
        """({measure: value}, None or why it failed)"""
        if self.own:
            return self.own(peer, seconds)
        command = self.command(peer) if callable(self.command) else self.command
        out, why = peer.run(command, seconds, self.environment, self.bare)
        return self.measure(json_lines(out)), why


def by_name(rows):
    return {r["bench"]: r["median"] for r in rows}


def epcc_measure(rows):
    values = {}
    for r in rows:
        name = f"{r['outer']}x{r['inner']}" if r["outer"] else str(r["inner"])
        values[f"{name} {r['construct']}"] = r["median_us"]
        if r["outer"]:
            values[f"{name} {r['construct']} wall"] = r["wall_us"]
    return values


def epcc(programs, config, constructs, samples, sample_us):
    return Job(f"epcc {config}", [programs / "epcc_nested", "--samples", samples, "--sample-us", sample_us,
                                  "--constructs", ",".join(constructs), config], epcc_measure)


def epcc_clang(programs, constructs, samples, sample_us):
    """The flat constructs as clang calls them, under the runtime that its programs have and ours."""
    def measure(rows):
        return {f"clang {name}": value for name, value in epcc_measure(rows).items()}
    return Job("epcc clang 2", [programs / "epcc_clang", "--samples", samples, "--sample-us", sample_us,
                                "--constructs", ",".join(constructs), "2"], measure, peers=[OMP, OURS])


def processes_at_once(programs, number, threads, passes):
    """Work a second of several processes together, each with more threads than its share of the machine."""
    def run(peer, seconds):
        command = peer.command([programs / "loops", "--only", "cg", "--samples", "1", "--passes", str(passes)])
        env = peer.clean_environment({"OMP_NUM_THREADS": str(threads)})
        start, limit = time.monotonic(), time.monotonic() + seconds
        running = [subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
                   for _ in range(number)]
        try:
            status = [p.wait(max(0.01, limit - time.monotonic())) for p in running]
        except subprocess.TimeoutExpired:
            return {}, f"not finished in {seconds} s"
        finally:
            for p in running:
                if p.poll() is None:
                    p.kill()
                    p.wait()
        if any(status):
            return {}, f"exit status {max(status, key=abs)}"
        return {"processes": number * passes / (time.monotonic() - start)}, None
    return Job("processes", None, None, own=run)


def region_in_round_trips(programs, samples, sample_us):
    """A flat region, with the round trip of a cache line just before and just after; nothing where the machine changed
    in between."""
    def run(peer, seconds):
        trips, region = [], {}
        for command in ([programs / "line"], [programs / "epcc_nested", "--samples", samples, "--sample-us", sample_us,
                                              "--constructs", "parallel", "2"],
                        [programs / "line"]):
            out, why = peer.run(command, seconds, bare=command[0].name == "line")
            if why:
                return {}, why
            if command[0].name == "line":
                trips.append(by_name(json_lines(out))["line round trip"])
            else:
                region = epcc_measure(json_lines(out))
        if max(trips) > 1.2 * min(trips):
            return {}, None
        return {"region in round trips": region["2 parallel"] / statistics.mean(trips)}, None
    return Job("region", None, None, peers=[OURS], own=run)


def fib(programs, n, libraries):
    """The OpenMP program, oneTBB's and massivethreads'."""
    def command(peer):
        if peer.name == TBB:
            return [programs / "fib_tbb", n]
        if peer.name == MYTH:
            return [programs / "fib_myth", libraries[MYTH], n]
        return [programs / "fib_task", n]
    return command


def jobs(build, quick, processors, libraries, blas):
    p = build / "bench"
    samples, us = (5, 1000) if quick else (9, 2000)
    omp = [GOMP, OMP, BOLT, OURS]
    def program(name, *arguments, **more):
        return Job(name, [p / name, *arguments], by_name, **more)
    result = [Job("line", [p / "line"], by_name, peers=["machine"]), region_in_round_trips(p, samples, us),
              epcc(p, "2", FLAT, 2 * samples, us)]
    if (p / "epcc_clang").exists():
        result.append(epcc_clang(p, FLAT, 2 * samples, us))
    result += [epcc(p, c, ["parallel", "parallel for", *SYNC], samples, us) for c in NESTED]
    result += [epcc(p, str(n), ["parallel", "barrier"], samples, us) for n in LEVEL]
    if processors >= 16:
        result += [epcc(p, str(n), ["parallel", "barrier"], samples, us) for n in (4, 16) if n not in LEVEL]
    result.append(program("depth", "8", "3" if quick else "7"))
    result.append(Job("fib", fib(p, "20" if quick else "23", libraries), by_name, peers=[*omp, TBB, MYTH]))
    result += [program(a, size, samples) for a, size, samples in APPS]
    result.append(program("grain", "3"))
    result.append(program("loops", "--samples", "5" if quick else "9"))
    result.append(processes_at_once(p, 4, 4, 5 if quick else 15))
    if blas:
        result.append(Job("pool", ["/usr/bin/python3", harness.ROOT / "bench" / "pool_gemm.py", "--samples",
                                   "2" if quick else "3"],
                          by_name, environment={"LD_LIBRARY_PATH": str(blas)}))
    result.append(program("idle", "30" if quick else "60"))
    result.append(program("watchdog", "1" if quick else "2"))
    result.append(Job("process", lambda peer: [p / "whole_process", "20" if quick else "60", *peer.prefix, p / "hello"],
                      by_name,
                      peers=[GOMP, OMP, BOLT, OURS, DIRECT], bare=True))
    result.append(Job("resident", [p / "hello", "--rss"], by_name))
    return result


class Row:
    """conditions: [(peer, how many times better)]; least: how many of them must hold (None: all). own: a function of
    the measured values that gives (ours, text, verdict) in their place."""

    def __init__(self, group, title, measure, unit, goal, conditions=(), more=False, least=None, own=None, also=None):
        self.group, self.title, self.measure, self.unit, self.goal = group, title, measure, unit, goal
        self.conditions, self.more, self.least, self.own, self.also = list(conditions), more, least, own, also


def against(*pairs):
    return [(p, f) for p, f in zip(pairs[::2], pairs[1::2])]


def flat_rows():
    def within_round_trips(values):
        ours = values.get("region in round trips", {}).get(OURS)
        if not ours:
            return None
        return "", verdict.judge(verdict.ratio_interval(dict.fromkeys(ours, 1.25), ours), 1)
    rows = [Row("flat, 2 threads", "round trip of a cache line", "line round trip", "us", ""),
            Row("flat, 2 threads", "parallel: round trips", "region in round trips", "trips",
                "at most 1.25 round trips", own=within_round_trips)]
    every = against(GOMP, 1, OMP, 1, BOLT, 1)
    rows += [Row("flat, 2 threads", c, f"2 {c}", "us", "faster than all", every) for c in FLAT]
    return rows + [Row("flat, built by clang", c, f"clang 2 {c}", "us", "not slower than libomp", against(OMP, 1))
                   for c in FLAT]


def nested_rows():
    rows = []
    for c in NESTED:
        for construct in ("parallel", "parallel for"):
            least = 2 if c == "2x2" else None
            rows.append(Row(f"nested {c}", construct, f"{c} {construct}", "us",
                            "3x BOLT, 50x libomp, 500x libgomp" + (" (two of them)" if least else ""),
                            against(BOLT, 3, OMP, 50, GOMP, 500), least=least, also=f"{c} {construct} wall"))
        for construct in SYNC:
            # of whole loops, mostly work, what one measurer saw tells how the machine was shared out
            measure, also = (f"{c} {construct} wall", None) if construct in LOOPS else (f"{c} {construct}",
                                                                                        f"{c} {construct} wall")
            rows.append(Row(f"nested {c}", construct, measure, "us", "2x BOLT, 10x libomp", against(BOLT, 2, OMP, 10),
                            also=also))
    return rows


def level_rows():
    rows = []
    for construct in ("parallel", "barrier"):
        for n in LEVEL:
            rows.append(Row("one level", f"{construct}, {n} threads", f"{n} {construct}", "us", "5x BOLT, 17x libomp",
                            against(BOLT, 5, OMP, 17)))

        def linear(values, construct=construct):
            points = [(n, verdict.median(values[f"{n} {construct}"][OURS])) for n in LEVEL
                      if values.get(f"{n} {construct}", {}).get(OURS)]
            if len(points) < 3:
                return None
            a, b, off = verdict.line_through(points)
            met = verdict.MET if off <= 0.25 else verdict.MISSED
            return f"{a:.2f} + {b * 1000:.1f}/1000 n us, within {100 * off:.0f}%", met
        rows.append(Row("one level", f"{construct}, 8 to 256", None, "us", "linear (within 25%)", own=linear))
    return rows


def depth_rows():
    def constant(values):
        mine = {d: verdict.median(values[f"depth {d}"][OURS]) for d in range(1, 9)
                if values.get(f"depth {d}", {}).get(OURS)}
        if len(mine) < 8:
            return None
        off = mine[8] / mine[4]
        return f"a region at 8 levels {off:.2f} of one at 4", verdict.MET if off <= 1.25 else verdict.MISSED
    rows = [Row("depth", f"a region, {d} levels of 2", f"depth {d}", "us", "") for d in (1, 2, 4, 8)]
    return rows + [Row("depth", "cost of a level", None, "us", "constant", own=constant)]


def task_rows():
    def fast_enough(values):
        ours = values.get("fib, a task", {}).get(OURS)
        if not ours:
            return None
        return f"{verdict.median(ours):.1f} ns", verdict.judge(verdict.ratio_interval(dict.fromkeys(ours, 25.0), ours),
                                                               1)
    rows = [Row("tasks", "fib, no cut-off", "fib, a task", "ns", "at most 25 ns", own=fast_enough),
            Row("tasks", "fib, no cut-off, peers", "fib, a task", "ns",
                "faster than oneTBB, massivethreads; 4x libomp, 3x libgomp",
                against(TBB, 1, MYTH, 1, OMP, 4, GOMP, 3))]
    rows += [Row("tasks", a, a, "ms", "faster than libomp, 2x libgomp", against(OMP, 1, GOMP, 2)) for a, _, _ in APPS]
    return rows + [Row("tasks", f"{k} of 1 us tasks", k, "%", "efficiency above libomp's", against(OMP, 1), more=True)
                   for k in ("taskloop", "chains", "stencil")]


def whole_rows():
    def within(values, measure, peer, allowed, unit, shown=1.0):
        ours, theirs = values.get(measure, {}).get(peer), values.get(measure, {}).get(GOMP)
        if not ours or not theirs:
            return None
        o, t = verdict.median_interval(ours), verdict.median_interval(theirs)
        v = verdict.MET if o[2] - t[1] <= allowed else verdict.MISSED if o[1] - t[2] > allowed else verdict.NOISE
        return f"{(o[0] - t[0]) * shown:+.2f} {unit}", v

    def at_rest(values):
        ours = values.get("rest", {}).get(OURS)
        if not ours:
            return None
        return f"{verdict.median(ours):.0f} us in 500 ms", verdict.MET if verdict.median(ours) < 500 else verdict.MISSED
    def below(measure, limit, unit):
        def own(values):
            ours = values.get(measure, {}).get(OURS)
            if not ours:
                return None
            median = verdict.median(ours)
            return f"{median:.2g} {unit}", verdict.MET if median <= limit else verdict.MISSED
        return own
    rows = [Row("flat loops", n, n, "ms", "not 2% slower than libgomp, libomp", against(GOMP, 1 / 1.02, OMP, 1 / 1.02))
            for n in ("triad", "cg", "loop stencil")]
    rows += [Row("oversubscription", "4 processes x 4 threads", "processes", "passes/s", "1.5x libgomp's throughput",
                 against(GOMP, 1.5), more=True),
             Row("oversubscription", "Python pool over OpenBLAS", "pool", "ms", "1.5x libgomp's throughput",
                 against(GOMP, 1.5)),
             Row("idle", "CPU burnt after a region", "burn", "us", "below libomp's", against(OMP, 1)),
             Row("idle", "a process at rest", "rest", "us", "none (0.1%)", own=at_rest),
             Row("idle", "the watchdog, flat regions", "watchdog, flat", "%", "below 0.5% of the CPU time",
                 own=below("watchdog, flat", 0.5, "%")),
             Row("idle", "the watchdog, nested regions", "watchdog, nested", "%", "below 0.5% of the CPU time",
                 own=below("watchdog, nested", 0.5, "%")),
             Row("idle", "wake-ups at rest", "wakes", "in 1 s", "none", own=below("wakes", 0, "in 1 s")),
             Row("start-up", "hello world, the runtime", "process", "ms", "within 1 ms of libgomp's",
                 own=lambda v: within(v, "process", DIRECT, 1.0, "ms")),
             Row("start-up", "hello world, by psrun", "process", "ms", "within 1 ms of libgomp's",
                 own=lambda v: within(v, "process", OURS, 1.0, "ms")),
             Row("start-up", "resident memory", "resident", "KB", "within 1 MB of libgomp's",
                 own=lambda v: within(v, "resident", OURS, 1024, "MB", 1 / 1024))]
    return rows


def many_rows(processors):
    if processors < 16:
        return []
    return [Row(f"{processors} processors", f"flat {c}, {n} threads", f"{n} {c}", "us", "ahead of libgomp, libomp",
                against(GOMP, 1, OMP, 1)) for c in ("parallel", "barrier") for n in (2, 4, 8, 16)]


def rows(processors):
    return (flat_rows() + nested_rows() + level_rows() + depth_rows() + task_rows() + whole_rows()
            + many_rows(processors))
