"""Runs one binary under several OpenMP runtimes, side by side, and says what came out.

Peers are run in turns (all peers once, then all again), so that whatever else the machine does hits all of them alike.
A value is the median of the repetitions (each the median of its samples); its interval is the 95% confidence interval
of their mean (Student's t). A run that fails or does not end in time is a result too: it stands in the tables, with its
reason. Only the standard library is needed here."""

import contextlib
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = "psthreads"

T95 = [0, 12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]


def interval95(values):
    """Half the width of the 95% confidence interval of the mean."""
    if len(values) < 2:
        return 0.0
    freedom = len(values) - 1
    t = T95[freedom] if freedom < len(T95) else 1.96 + 2.5 / freedom
    return t * statistics.stdev(values) / math.sqrt(len(values))


def say(text="", end="\n"):
    print(text, end=end, file=sys.stderr, flush=True)


class Peer:
    """An OpenMP runtime: how a program is started under it."""

    def __init__(self, name, label, environment=None, prefix=(), openmp=True):
        self.name, self.label, self.environment, self.prefix = name, label, environment or {}, list(prefix)
        self.openmp = openmp

    def command(self, arguments):
        return self.prefix + [str(a) for a in arguments]

    def clean_environment(self, more=None):
        """The caller's without what tells runtimes anything; library folders of `more` come after the peer's."""
        env = {k: v for k, v in os.environ.items() if not re.match(r"(OMP|GOMP|KMP|PSTHREADS|LD|ABT|OPENBLAS|MAGICK)_",
                                                                   k)}
        env.update(self.environment)
        for name, value in (more or {}).items():
            env[name] = f"{env[name]}:{value}" if name == "LD_LIBRARY_PATH" and name in env else value
        return env

    def run(self, arguments, seconds, environment=None, bare=False):
        """(stdout, None), or (stdout so far, why it failed). bare: the command starts the runtime itself."""
        command = [str(a) for a in arguments] if bare else self.command(arguments)
        try:
            done = subprocess.run(command, env=self.clean_environment(environment), stdin=subprocess.DEVNULL,
                                  capture_output=True,
                                  text=True, timeout=seconds, errors="replace")
        except subprocess.TimeoutExpired as late:
            out = late.stdout or ""
            return out.decode(errors="replace") if isinstance(out, bytes) else out, f"not finished in {seconds} s"
        except OSError as error:
            return "", str(error)
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            what = f"signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
            return done.stdout, f"{what}: {lines[-1]}" if lines else what
        return done.stdout, None


class Peers:
    """The runtimes of this measurement; the temporary folder with their links lives as long as this."""

    def __init__(self, build, extra=(), with_baseline=False):
        self.folder = tempfile.TemporaryDirectory(prefix="peers-")
        self.list = [Peer("libgomp", "libgomp " + gcc_runtime_version())]
        given = dict(item.split("=", 1) for item in extra)
        libomp = given.pop("libomp", None) or find_libomp()
        if libomp:
            self.add_library("libomp", "libomp" + llvm_version(libomp), libomp)
        else:
            say("libomp: not found (Debian: libomp5); going on without it")
        for name, path in given.items():
            self.add_library(name, name, path)
        psrun = Path(build) / "bin" / "psrun"
        if not psrun.exists():
            raise SystemExit(f"{psrun}: not there; build first (make)")
        if with_baseline:
            self.list.append(Peer("pthreads", "our core, kernel threads", prefix=[psrun, "--ee", "pthreads"]))
        self.list.append(Peer(OURS, OURS, prefix=[str(psrun)]))

    def add_library(self, name, label, path):
        """path: a shared object that answers GCC's entry points; it is given libgomp's name in a folder of its own."""
        real = Path(path).resolve()
        if not real.is_file():
            raise SystemExit(f"--peer {name}={path}: no such file")
        folder = Path(self.folder.name) / name
        folder.mkdir()
        (folder / "libgomp.so.1").symlink_to(real)
        self.list.append(Peer(name, label, {"LD_LIBRARY_PATH": f"{folder}:{real.parent}"}))

    def check(self, program):
        """Which file each peer really loads in libgomp's place; a peer that falls back to libgomp would measure
        libgomp."""
        for peer in self.list:
            probe = Peer(peer.name, peer.label, {**peer.environment}, peer.prefix)
            out, _ = probe.run([program], 20, {"LD_TRACE_LOADED_OBJECTS": "1"}) if not peer.prefix else ("", None)
            line = next((l for l in out.splitlines() if "libgomp.so.1 =>" in l), "")
            if not peer.prefix and (("/peers-" in line) != (peer.name != "libgomp")):
                raise SystemExit(f"{peer.name}: the loader takes another file: {line.strip()}")


def find_libomp():
    found = sorted(ROOT.glob(".cache/peers/libomp5-*/**/libomp.so.5"))
    found += sorted(Path("/usr/lib").glob("llvm-*/lib/libomp.so.5"),
                    key=lambda p: -int(re.search(r"llvm-(\d+)", str(p))[1]))
    return found[0] if found else None


def llvm_version(path):
    match = re.search(r"llvm-(\d+)", str(Path(path).resolve()))
    return f" {match[1]}" if match else ""


def gcc_runtime_version():
    """Debian's libgomp says no version itself; its package does."""
    if shutil.which("dpkg-query"):
        out = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", "libgomp1"], capture_output=True,
                             text=True).stdout
        if out:
            return out.split(".")[0].split("\n")[0]
    return ""


def machine_line():
    model, distribution = platform.machine(), platform.system()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
        for line in Path("/etc/os-release").read_text().splitlines():
            if line.startswith("PRETTY_NAME="):
                distribution = line.split("=", 1)[1].strip('"')
    except OSError:
        pass
    gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True,
                         text=True).stdout.strip() if shutil.which("gcc") else "?"
    kernel = platform.release().split("-")[0]
    return (f"{model}, {len(os.sched_getaffinity(0))} processors; {distribution}, Linux {kernel}, GCC {gcc}; "
            f"load {os.getloadavg()[0]:.1f} at the start")


def go_before_others():
    """The system shares processors between sessions first, and in a session by nice values."""
    try:
        os.setsid()
    except PermissionError:
        pass  # it is a session's first process already
    Path("/proc/self/autogroup").write_text("-20")
    os.nice(-20)


@contextlib.contextmanager
def computing(num):
    """So many processes that do nothing but compute."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(num)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


def json_lines(text):
    rows = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError:
                pass  # cut off by the time limit
    return rows


class Progress:
    def __init__(self, total):
        self.total, self.done, self.start = total, 0, time.monotonic()

    def step(self, what):
        self.done += 1
        passed = time.monotonic() - self.start
        left = passed / (self.done - 1) * (self.total - self.done + 1) if self.done > 1 else None
        say(f"[{self.done:3}/{self.total}] {what:58} {passed:5.0f} s" + (f", about {left:.0f} s to go" if left else ""))


def run_epcc(peers, program, configs, repetitions, options=(), seconds=60):
    """{config: {construct: {peer: {"us": median, "ci95": .., "values": [...]} or {"failed": why}}}}"""
    raw, failed = {}, {}
    progress = Progress(repetitions * len(configs) * len(peers))
    for repetition in range(repetitions):
        for config in configs:
            for peer in peers:
                progress.step(f"{config_name(config)}, {peer.label} ({repetition + 1} of {repetitions})")
                if (config, peer.name) in failed:
                    continue
                out, why = peer.run([program, *options, config], seconds)
                rows = json_lines(out)
                if why:
                    failed[config, peer.name] = why
                    say(f"          {peer.label}: {why}")
                for row in rows:
                    raw.setdefault((config, row["construct"], peer.name), []).append((row["median_us"], row["wall_us"]))
    constructs = subprocess.run([program, "--list"], capture_output=True, text=True).stdout.splitlines()
    table = {}
    for config in configs:
        for construct in constructs:
            cell = {}
            for peer in peers:
                values = raw.get((config, construct, peer.name))
                if values:
                    own, wall = [v[0] for v in values], [v[1] for v in values]
                    cell[peer.name] = {"us": statistics.median(own), "ci95": interval95(own), "values": own,
                                       "wall_us": statistics.median(wall)}
                elif (config, peer.name) in failed:
                    cell[peer.name] = {"failed": failed[config, peer.name]}
            if cell:
                table.setdefault(config, {})[construct] = cell
    return table, [{"config": c, "peer": p, "why": w} for (c, p), w in failed.items()]


def config_name(config):
    return f"nested {config}" if "x" in config else f"flat, {config} threads"


def number(value):
    """Three digits that mean something."""
    if abs(value) >= 1000:
        return f"{value:.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def with_interval(value, ci95):
    """One run has no interval."""
    return f"{number(value)} ± {number(ci95)}" if ci95 else number(value)


RESOLUTION_US = 0.01  # below this an overhead is nothing but the clock and the neighbours


def ratio(cell, name):
    """How many times as long the peer takes; None: one of the two is not there, or too small to compare."""
    ours, peer = cell.get(OURS, {}).get("us"), cell.get(name, {}).get("us")
    if ours is None or peer is None or ours < RESOLUTION_US or peer < RESOLUTION_US:
        return None
    return peer / ours


def ratio_text(value):
    if value is None:
        return "-"
    return f"{value:.0f}x" if value >= 10 else f"{value:.1f}x" if value >= 1 else f"{value:.2f}x"


WALL = ["parallel", "for", "barrier", "task"]


def wall_line(construct, cell, peers):
    """One repetition of a construct by all P measurers: no order of running them can make this look better."""
    line, ours = f"  {construct:14}", cell.get(OURS, {}).get("wall_us")
    for peer in peers:
        value = cell.get(peer.name, {}).get("wall_us")
        line += f"{number(value) if value is not None else '-':>24}"
        if peer.name != OURS:
            line += f"{ratio_text(value / ours if value and ours and min(value, ours) > RESOLUTION_US else None):>8}"
    return line.rstrip()


def epcc_text(table, peers, failures):
    """The table a person reads."""
    lines = []
    for config, constructs in table.items():
        lines.append(f"{config_name(config)}: overhead in microseconds, median ± 95%; how many times ours")
        head = f"  {'construct':14}"
        for peer in peers:
            head += f"{peer.label:>24}" + (f"{'':8}" if peer.name != OURS else "")
        lines.append(head.rstrip())
        for construct, cell in constructs.items():
            line = f"  {construct:14}"
            for peer in peers:
                value = cell.get(peer.name, {})
                text = with_interval(value["us"], value["ci95"]) if "us" in value else "failed" if value else "-"
                line += f"{text:>24}"
                if peer.name != OURS:
                    line += f"{ratio_text(ratio(cell, peer.name)):>8}"
            lines.append(line.rstrip())
        if "x" in config:
            lines += ["  all measurers together, by the wall clock"] + [wall_line(n, constructs[n], peers) for n in WALL
                                                                        if n in constructs]
        lines.append("")
    for failure in failures:
        lines.append(f"{config_name(failure['config'])} under {failure['peer']}: {failure['why']}")
    return "\n".join(lines).rstrip() + "\n"
