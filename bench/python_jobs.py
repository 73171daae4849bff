#!/usr/bin/python3
"""What it is worth to run the thread pools of Python's libraries on one set of virtual processors: jobs of PyPI's
NumPy, SciPy, scikit-learn, pyFFTW and Numba in four ways, with a verdict.

  bench/python_jobs.py                      all jobs, five samples: at most eight minutes
  bench/python_jobs.py --jobs 'svd|chain'   only jobs whose name matches
  bench/python_jobs.py --list               the jobs' names
  bench/python_jobs.py --keep docs/python.md    the table goes into that document as well

  as it is   the libraries as they are
  one        one thread a library, by variables (ONE below)
  limits     threadpoolctl's limit of one thread while a pool of threads works; not for jobs without such a pool
  ours       psrun

Round by round: each job in all ways in turns, then all again. A process warms up, and runs its job (python_job.py) for
--seconds; its value is the median of those runs. A way's value is the median of the rounds. A ratio is the median of
the rounds' ratios. A run that is not finished in --most seconds counts as one that took so long; it is not tried again.
The wheels are installed into BUILD/python/venv where they are not there.
Writes python.txt, the table, and python.csv, each value. Exit status 1 where a run has failed."""

import argparse
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
import verdict
from harness import OURS, Peer, say

AS_IT_IS, ONE, LIMITS = "as it is", "one", "limits"
OTHERS = (AS_IT_IS, ONE, LIMITS)
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
NAMES = ["numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "pyfftw", "numba"]
PINS = {pin.partition("==")[0]: pin for pin in (harness.ROOT / "tests/python/wheels.txt").read_text().split()}
WHEELS = [PINS[name] for name in NAMES]
JOB = Path(__file__).resolve().parent / "python_job.py"
PROCESSORS = len(os.sched_getaffinity(0))
USUAL, UNEVEN = 1.15, 0.75  # goals: how many times the best other way ours may take


@dataclass
class Row:
    name: str
    title: str
    pool: bool = True  # of threads: there is a way with limits
    most: float = USUAL
    beside: int = 0
    job: str = ""  # python_job.py's name of it, where it is not the row's


ROWS = [
    Row("small", "small products, pool of 4"),
    Row("small-beside", "the same, 20 busy processes", beside=20, job="small-few"),
    Row("large-first", "a large product, small ones", most=UNEVEN),
    Row("large-last", "small products, a large one", most=UNEVEN),
    Row("chain", "a pool, then a chain of large", most=UNEVEN),
    Row("svd-pool", "SVDs of 200 to 600, pool of 2", most=UNEVEN),
    Row("pca-pool", "PCA, pool of 4"),
    Row("grid-kmeans", "grid search, KMeans, pool of 4"),
    Row("grid-boosting", "grid search, boosting, pool of 4"),
    Row("scipy-fft", "scipy.fft, workers, pool of 4"),
    Row("pyfftw", "pyFFTW, threads, pool of 4"),
    Row("numba", "numba prange, pool of 4"),
    Row("fftw-threads", "C: FFTW threads, OpenMP loop", pool=False),
    Row("loky", "joblib loky, 4 processes", pool=False),
    Row("product", "a product of 1200", pool=False),
    Row("svd", "an SVD of 500", pool=False),
    Row("eigh", "eigh of 600", pool=False),
    Row("solve", "scipy.linalg.solve of 1500", pool=False),
]


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--python", type=Path, help="an interpreter that has the wheels (default: that of the venv)")
    parser.add_argument("--out", type=Path, help="results folder (default: BUILD/bench/results)")
    parser.add_argument("--samples", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--seconds", type=float, default=0.3, help="that a process runs its job for (default: 0.3)")
    parser.add_argument("--most", type=float, default=15, help="seconds, a process's limit (default: 15)")
    parser.add_argument("--jobs", default="", metavar="PATTERN", help="regular expression: only these jobs")
    parser.add_argument("--keep", type=Path, metavar="DOCUMENT")
    parser.add_argument("--before-others", action="store_true",
                        help="at the highest priority, for a machine that has other things to do (root)")
    parser.add_argument("--list", action="store_true", help="names the jobs")
    return parser.parse_args()


def install_wheels(venv):
    say(f"installing {' '.join(WHEELS)} into {venv}")
    for command in ([sys.executable, "-m", "venv", venv],
                    [venv / "bin" / "python", "-m", "pip", "install", "-q", "--only-binary", ":all:", *WHEELS]):
        if subprocess.run(command, stdin=subprocess.DEVNULL).returncode:
            raise SystemExit(f"python_jobs: {venv}: cannot be made, see above")


def versions(python):
    code = f"from importlib.metadata import version; print(', '.join(n + ' ' + version(n) for n in {NAMES}))"
    out = subprocess.run([python, "-c", code], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"python_jobs: {python}: {out.stderr.strip().splitlines()[-1]}; want {' '.join(WHEELS)}")
    return out.stdout.strip()


def ways(build):
    psrun = build / "bin" / "psrun"
    if not psrun.exists():
        raise SystemExit(f"{psrun}: not there; build first (make)")
    return [Peer(AS_IT_IS, AS_IT_IS), Peer(ONE, "one thread a library", ONE_THREAD), Peer(LIMITS, "threadpoolctl"),
            Peer(OURS, OURS, prefix=[psrun])]


class Measuring:
    def __init__(self, rows, peers, python, build, seconds, most):
        self.rows, self.peers, self.python, self.build = rows, peers, python, build
        self.seconds, self.most = seconds, most
        self.wall, self.processor = {}, {}  # (row's name, way's name): {round: seconds}
        self.late, self.failed = set(), {}  # (row's name, way's name)
        self.results = {}  # row's name: what all ways must agree on
        self.not_taken = []  # names of rows

    def command(self, row, way):
        if row.name == "fftw-threads":
            # one thread a library: the program's own loop keeps its threads
            return [self.build / "bench" / "fftw_threads", 1 if way.name == ONE else 4, self.seconds]
        limit = ["--limit"] if way.name == LIMITS else []
        return [self.python, JOB, row.job or row.name, "--seconds", self.seconds, *limit]

    def one(self, row, way, this_round, more):
        key = row.name, way.name
        if key in self.late or key in self.failed:
            return
        if row.name == "fftw-threads" and way.name == ONE:
            way = Peer(way.name, way.label)
        with harness.computing(row.beside):
            out, why = way.run(self.command(row, way), self.most, more)
        line = next(iter(harness.json_lines(out)), None)
        if why and why.startswith("not finished"):
            self.late.add(key)
            self.wall.setdefault(key, {})[this_round] = self.most
            return
        if why or not line:
            self.failed[key] = why or "no line of JSON"
        elif abs(line["result"] - self.results.setdefault(row.name, line["result"])) > 1e-6 * abs(line["result"]):
            self.failed[key] = f"result {line['result']}, others {self.results[row.name]}"
        else:
            self.wall.setdefault(key, {})[this_round] = statistics.median(line["seconds"])
            self.processor.setdefault(key, {})[this_round] = statistics.median(line["processor"])
            if way.name == OURS and not (line["runtime"] and line["pools"]):
                self.not_taken.append(row.name)
            return
        say(f"{row.name}, {way.label}: {self.failed[key]}")

    def run(self, rounds):
        wanted = [(row, way) for row in self.rows for way in self.peers if way.name != LIMITS or row.pool]
        progress = harness.Progress(rounds * len(wanted))
        with tempfile.TemporaryDirectory(prefix="python-jobs-") as folder:
            more = {"NUMBA_CACHE_DIR": folder, "PYTHONDONTWRITEBYTECODE": "1"}
            for this_round in range(rounds):
                for row in self.rows:
                    own = [way for r, way in wanted if r is row]
                    shift = this_round % len(own)
                    for way in own[shift:] + own[:shift]:
                        self.one(row, way, this_round, more)
                        progress.step(f"{row.name}, {way.label} ({this_round + 1} of {rounds})")


class Judged:
    """A row's ratio of ours to the best other way, with its interval, and the verdict. `least`: that ratio if the least
    processor time of all ways were spread evenly over the processors."""

    def __init__(self, row, wall, processor, late, failed):
        def of(way):
            return wall.get((row.name, way))
        self.best = min((way for way in OTHERS if of(way)),
                        key=lambda way: ((row.name, way) in late, verdict.median(of(way))), default=None)
        self.ratio = self.least = None
        spent = [verdict.median(v) for (name, _), v in processor.items() if name == row.name]
        if self.best and spent and not row.beside:
            self.least = min(spent) / PROCESSORS / verdict.median(of(self.best))
        if (row.name, OURS) in failed:
            self.verdict = verdict.MISSED
        elif not self.best or not of(OURS) or {(row.name, self.best), (row.name, OURS)} <= late:
            self.verdict = verdict.ABSENT
        else:
            self.ratio = verdict.ratio_interval(of(OURS), of(self.best))
            self.verdict = verdict.judge(verdict.ratio_interval(of(self.best), of(OURS)), 1 / row.most)


MARK = {verdict.MET: " ", verdict.MISSED: "!", verdict.NOISE: "?", verdict.ABSENT: " "}


def milliseconds(values, late=False):
    if not values:
        return "-"
    value = verdict.median(values) * 1e3
    return (">" if late else "") + (f"{value:.0f}" if value >= 99.5 else f"{value:.1f}")


def short(ratio):
    return "-" if ratio is None else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def table(m, judged):
    names = [p.name for p in m.peers]
    heads = "".join(f"{name:>7}" for name in ("as is", "one", "limits", "ours"))
    lines = [f"{'':32}{'wall ms':>28}  {'ours / best':17} {'least':5} {'goal':5}{'processor ms':>28}",
             f"{'':32}{heads}  {'':29}{heads}"]
    for row, j in zip(m.rows, judged):
        wall = "".join(f"{milliseconds(m.wall.get((row.name, n)), (row.name, n) in m.late):>7}" for n in names)
        processor = "".join(f"{milliseconds(m.processor.get((row.name, n))):>7}" for n in names)
        ratio = "{} [{} {}]".format(*map(short, j.ratio)) if j.ratio else "-"
        goal = f"{row.most:.2f}{MARK[j.verdict]}"
        lines.append(f"{row.title:32}{wall}  {ratio:17} {short(j.least):5} {goal}{processor}")
    return "\n".join(lines) + "\n"


def write_csv(path, m, judged):
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["job", "way", "round", "wall_s", "processor_s", "late",
                      "best", "ratio", "low", "high", "verdict"])
        for row, j in zip(m.rows, judged):
            for way in m.peers:
                key = row.name, way.name
                ratio = [j.best, *(f"{v:.3f}" for v in j.ratio or ()), j.verdict] if way.name == OURS else []
                for this_round, seconds in sorted(m.wall.get(key, {}).items()):
                    processor = m.processor.get(key, {}).get(this_round)
                    out.writerow([row.name, way.name, this_round, f"{seconds:.5f}",
                                  "" if processor is None else f"{processor:.5f}", key in m.late, *ratio])


SECTION = "## What it is worth, measured"


def split(path):
    """(what is before the section's first block between two lines of ```, what is behind it)."""
    before, heading, section = path.read_text().partition(SECTION)
    start, fence, rest = section.partition("```\n")
    _, end, after = rest.partition("```\n")
    if not (heading and fence and end) or "\n## " in start:
        raise SystemExit(f"{path}: has no block between two lines of ``` below '{SECTION}'; the table needs one")
    return before + heading + start + fence, end + after


def keep(path, text):
    before, after = split(path)
    path.write_text(before + text + after)


HEAD = """wall, processor: medians of the rounds. ours / best: to the best other way, with its 95% interval.
least: the same if the least processor time of the row were spread evenly over the processors.
"!": the goal is missed by the whole interval; "?": by a part of it. -: there is no such number.
"""


def main():
    a = read_arguments()
    rows = [row for row in ROWS if re.search(a.jobs, row.name)]
    if not rows:
        raise SystemExit(f"python_jobs: no job matches '{a.jobs}'")
    if a.list:
        print("\n".join(row.name for row in rows))
        return 0
    if a.samples < 1:
        raise SystemExit("python_jobs: --samples: want at least 1")
    if a.keep:
        split(a.keep)  # says what is wrong before minutes are spent
    venv, out = a.build / "python" / "venv", a.out or a.build / "bench" / "results"
    python = a.python or venv / "bin" / "python"
    if not a.python and not python.exists():
        install_wheels(venv)
    wheels, peers = versions(python), ways(a.build)
    absent = [] if (a.build / "bench" / "fftw_threads").exists() else [r for r in rows if r.name == "fftw-threads"]
    rows = [row for row in rows if row not in absent]
    machine = harness.machine_line()
    if a.before_others:
        harness.go_before_others()
        machine += ", before all other programs"
    start = time.monotonic()
    m = Measuring(rows, peers, python, a.build, a.seconds, a.most)
    m.run(a.samples)
    judged = [Judged(row, m.wall, m.processor, m.late, m.failed) for row in rows]
    count = {v: sum(j.verdict == v for j in judged) for v in MARK}
    about = (f"{machine}, {os.getloadavg()[0]:.1f} at the end; {wheels}; {a.samples} rounds, "
             f"{(time.monotonic() - start) / 60:.0f} minutes")
    text = (f"{textwrap.fill(about, 120)}\n{HEAD}\n{table(m, judged)}\n"
            + "".join(f"{row}, {way}: {why}\n" for (row, way), why in m.failed.items())
            + (f"no pool is taken, the libraries are not in the process: {', '.join(sorted(set(m.not_taken)))}\n"
               if m.not_taken else "")
            + "".join(f"{row.name}: not built, FFTW is not installed (tools/install-deps bench)\n" for row in absent)
            + f"{count[verdict.MET]} goals met, {count[verdict.MISSED]} not met, {count[verdict.NOISE]} within the "
            f"noise\n")
    out.mkdir(parents=True, exist_ok=True)
    (out / "python.txt").write_text(text)
    write_csv(out / "python.csv", m, judged)
    print(text, end="")
    if a.keep:
        keep(a.keep, text)
    say(f"written: python.txt, python.csv in {out}")
    return 1 if m.failed else 0


if __name__ == "__main__":
    sys.exit(main())
