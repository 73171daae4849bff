#!/usr/bin/python3
"""What does each adaptive policy of the runtime gain? The same programs with the policy and without it, in turns.

  bench/policies.py [POLICY...] [--rounds 7] [--csv FILE]     --list: the policies, and how each is switched off
  bench/policies.py POLICY --off FOLDER                       FOLDER: a build folder that lacks the policy
  bench/policies.py POLICY --off-environment NAME=VALUE       the same build, with that in the environment

Without --off the script builds the runtime without the policy, in BUILD/policies: it copies the sources, makes the one
edit that the table below has, and builds the two libraries. An edit that does not fit the sources any more is an error.
--build is the runtime with the policy, and has the programs.

A line for each program: the medians with and without, and how many times as long it takes without (the median of the
rounds' ratios, and its 95% interval, verdict.py). Above 1 the policy gains. Behind it the same for the processor time
of the whole process, where the program always does the same work; other work on the machine takes nothing of that.
"beside N": N programs that do nothing but compute run at the same time. "one taken" (for root): such a program keeps
the last processor, by a higher real-time priority. --alone (for root) keeps the other work of a busy machine away: what
is measured runs under SCHED_RR; where the system's own slices count, it runs in a control group with large shares."""

import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
import verdict

ROOT = harness.ROOT
# Ends with this script.
BURNER = [sys.executable, "-c", "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"]
NARROW_AFTER = 0.3  # seconds; the affinity mask is narrowed then

PS = "src/psthreads/"
# policy: what stands in the source, and what is in its place where the policy is off (or, behind a comma, is another)
OFF = {
    "serial-region predictor": [(PS + "life/runtime.c", "= num_vps > 1 && !ps_life.settings.passive;", "= false;")],
    "serial-region predictor, each timed": [(PS + "data/serial_predictor.h", "|| c->left % PS_SERIAL_SAMPLE == 1)",
                                             "|| c->left)")],
    "serial-region predictor, 4 tries": [(PS + "data/serial_predictor.h", "PS_SERIAL_TRIES 16", "PS_SERIAL_TRIES 4")],
    "serial-region predictor, calm 512": [
        (PS + "data/serial_predictor.h", "PS_SERIAL_CALM 4096", "PS_SERIAL_CALM 512")],
    "handoff slots": [(PS + "team/team_join.c", "= (uint8_t)((1u << team->unread) - 1);", "= 0;")],
    "inner handoffs": [(PS + "team/team_fork.c", "2 * n <= ps_rt.num_vps", "n == 0")],
    "adaptive spin": [(PS + "life/runtime.c", "search_learns = ps_life.settings.search_ns == UINT64_MAX;",
                       "search_learns = false;")],
    "adaptive spin, short": [(PS + "life/runtime.c", "search_learns = ps_life.settings.search_ns == UINT64_MAX;",
                              "search_learns = false;"),
                             (PS + "life/runtime.c", "DEFAULT_SEARCH_NS UINT64_C(1000000)",
                              "DEFAULT_SEARCH_NS UINT64_C(20000)")],
    "lone threads": [(PS + "data/lone_thread.h", "l->rounds = 2 * ps_lone_first(l);", "l->rounds = 0;")],
    "barrier form": [(PS + "team/team_rounds.c", "return n <= MOST_MEMBERS &&", "return n == 0 &&")],
    "unfenced deque": [("src/lockfree/deque.c", "return d->thefts == before &&", "return d->calm &&")],
    "batches of chunks": [("src/ort/loop/batch.c", "if (vps == 1 || cycles == 0)", "if (vps != 0 || cycles == 0)")],
    "spares": [(PS + "watchdog/spares.c", "if (found.stuck && !helped) {", "if (found.stuck && !helped && !s) {")],
    "root fairness": [
        (PS + "root/root_fairness.c", "ps_store_relaxed(&f->on, !on);", "ps_store_relaxed(&f->on, false);")],
    "root spread": [(PS + "root/root_spread.c", "if (!(vp_run(vp)->current->flags & PS_T_ROOT) || ps_places_on())",
                     "if (vp)")],
    "wake spread": [(PS + "park/wake_spread.c", "if (!is_worker(vp) || ps_places_on())", "if (vp)")],
    "quota park": [(PS + "park/quota_park.c", "if (!s->new_limits)", "if (s)")],
}


class Row:
    """A program, and which of its lines and values is the time."""

    def __init__(self, label, command, pick=0, value="median", fixed=True, beside=0, taken=False, narrow=None,
                 shares=False, seconds=60, environment=None):
        self.command, self.pick, self.value, self.fixed = command, pick, value, fixed
        self.unit = "us" if value.endswith("_us") else ""
        self.beside, self.narrow, self.seconds, self.environment = beside, narrow, seconds, environment or {}
        self.taken, self.quiet = taken, not (beside or narrow or taken or shares)
        self.label = label + (f", beside {beside}" if beside else ", one taken" if taken else "")


def epcc(construct, config, more=(), **options):
    return Row(f"{construct} {config}" + (f" of {more[1] / 1000:g} us" if more else ""),
               ["epcc_nested", "--samples", 9, "--sample-us", 500, *more, "--constructs", construct, config],
               value="median_us", fixed=False, **options)


def then_one(construct, config, how, *more):
    """The system allows one processor after a while, by the masks of the kernel threads or by a quota: the mean of all
    samples."""
    return Row(f"{construct} {config}, then a {how} of one",
               ["epcc_nested", "--samples", 300, "--sample-us", 5000, *more, "--constructs", construct, config],
               value="overhead_us", fixed=False, narrow=how)


def threads(row, library="psthreads", **options):
    return Row(f"{library} {row}" + (", no blocks" if "environment" in options else ""),
               ["threads_table", library, 2, row], fixed=False, **options)


def task_program(name, size, *more, **options):
    return Row(name, [name, size, 9, 2, *more], fixed=False, **options)


def sparse(pause_us, computing):
    """Its lines: the work alone; time, lateness, processor time after a pause asleep; the same after one computing."""
    return Row(f"1 ms after {pause_us / 1000:g} ms {'computing' if computing else 'asleep'}",
               ["sparse", "--together", 60, 1000, pause_us], pick=4 if computing else 1, fixed=False, shares=True)


SHARED = {"PSTHREADS_TLS": "never"}
POOL = ["pool_gemm.py", "--samples", 3, "--products", 16]
ROOTS = ["roots", 200, 30]
SLOW = ["--delay-ns", 2000]
ROWS = {
    "serial-region predictor": [epcc("parallel", c) for c in ("2", "8", "64")]
                               + [epcc("parallel", "2", beside=4), epcc("parallel", "8", beside=4)],
    "handoff slots": [epcc("parallel", "2"), epcc("parallel", "2", SLOW), epcc("parallel", "2", taken=True),
                      epcc("parallel", "2", SLOW, taken=True), epcc("parallel", "8", SLOW, taken=True)],
    "inner handoffs": [epcc("for", c) for c in ("2x4", "4x4", "2x8", "8x2", "8x8")]
                      + [epcc("parallel", c) for c in ("2x4", "4x4")],
    "adaptive spin": [Row("idle, burnt a region", ["idle", 200], fixed=False),
                      Row("regions 100 us apart", ["idle", 200], pick=2, fixed=False), epcc("parallel", "2", SLOW),
                      task_program("sort", 100)],
    "lone threads": [threads("one"), threads("one", environment=SHARED), threads("one", "psthreads-spawn"),
                     threads("fib", environment=SHARED), threads("thousand", environment=SHARED)],
    "barrier form": [epcc("barrier", "2"), epcc("for", "2"), epcc("single", "2"), epcc("barrier", "2", beside=4)],
    "unfenced deque": [Row("fib 27, 1 thread", ["fib_task", 27, 1]), Row("fib 27, 2 threads", ["fib_task", 27, 2]),
                       task_program("nqueens", 10), task_program("sort", 300), task_program("sparselu", 32)],
    "batches of chunks": [epcc("dynamic", "2"), epcc("dynamic", "2", ["--delay-ns", 100]), epcc("dynamic", "16"),
                          epcc("dynamic", "4x4")],
    "spares": [Row("flags, 4 members", ["flags", 4, 5], shares=True, seconds=20),
               Row("nested OpenBLAS", ["batch_gemm", "--matrices", 32, "--size", 192, "--passes", 3, "--nested"],
                   value="median_ms", shares=True, seconds=20)],
    "root fairness": [Row(f"pool of {n}", [*POOL, "--threads", n], shares=True) for n in (2, 4, 8)],
    "root spread": [Row("roots", ROOTS, value="mean", shares=True, beside=n) for n in (0, 1)],
    "wake spread": [sparse(pause, computing) for computing in (False, True) for pause in (1000, 5000, 20000)],
    "quota park": [then_one(construct, config, how) for how in ("mask", "quota")
                   for construct, config in (("barrier", "2"), ("barrier", "8"), ("parallel", "8"), ("dynamic", "2"))]
                  + [Row(f"fib 34, 2 threads, then a {how} of one", ["fib_task", 34, 2], narrow=how)
                     for how in ("mask", "quota")],
}
for variant in OFF:  # the policy with another constant
    ROWS.setdefault(variant, ROWS[variant.split(",")[0]])


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="*", metavar="POLICY", help="default: all")
    parser.add_argument("--build", default=ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--off", type=Path, metavar="FOLDER", help="a build folder that lacks the policy")
    parser.add_argument("--off-environment", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--alone", action="store_true", help="keep other work away")
    parser.add_argument("--rows", default="", help="only rows with this in their name")
    parser.add_argument("--csv", type=Path, help="writes the lines there, too; other lines that are there stay")
    parser.add_argument("--list", action="store_true")
    a = parser.parse_args()
    a.policies = a.policies or list(OFF)
    for policy in a.policies:
        if policy not in OFF:
            parser.error(f"{policy}: want some of {', '.join(OFF)}")
    if (a.off or a.off_environment) and len(a.policies) != 1:
        parser.error("--off and --off-environment: want one POLICY")
    if any("=" not in e for e in a.off_environment):
        parser.error("--off-environment: want NAME=VALUE")
    if a.rounds < 1:
        parser.error("--rounds: want at least 1")
    return a


# --- builds ---

def edited(policy, source, file, old, new):
    text = (source / file).read_text()
    if text.count(old) != 1:
        sys.exit(f"{policy}: {file} has '{old}' {text.count(old)} times: mend the table in {Path(__file__).name}")
    return text.replace(old, new)


def without(policy, build):
    """The build folder of the runtime without the policy."""
    folder = build.resolve() / "policies" / policy.replace(" ", "_").replace(",", "")
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    shutil.copy2(ROOT / "CMakeLists.txt", source)
    for part in ("cmake", "include", "src"):
        shutil.copytree(ROOT / part, source / part)
    for file, old, new in OFF[policy]:
        (source / file).write_text(edited(policy, source, file, old, new))
    log = folder / "log"
    with open(log, "w") as out:
        for command in (["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                         "-DPS_TESTS=OFF", "-DPS_BENCH=OFF", "-DPS_RISCV_GCC=OFF"],
                        ["ninja", "-C", folder, "dropin", "psthreads_shared"]):
            if subprocess.run(command, stdout=out, stderr=out).returncode:
                sys.exit(f"{policy}: the build without it fails; see {log}")
    return folder


# --- runs ---

GROUP = Path(f"/sys/fs/cgroup/cpu/psthreads-policies-{os.getpid()}")
QUOTA_US = 100000  # of as many: one processor


def set_quota(us):
    (GROUP / "cpu.cfs_quota_us").write_text(str(us))


def enter_group():
    (GROUP / "cgroup.procs").write_text("0")


def narrow(pid, how):
    """One processor from here on: by the masks of all kernel threads of the process, or by its group's quota."""
    try:
        if how == "quota":
            set_quota(QUOTA_US)
            return
        one = {min(os.sched_getaffinity(pid))}
        for task in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(task), one)
    except OSError:
        pass  # it has ended


def command_of(row, programs, libraries):
    """The command, and what it wants in the environment."""
    name, *arguments = [str(c) for c in row.command]
    environment = {"LD_LIBRARY_PATH": f"{libraries / 'lib' / 'dropin'}:{libraries / 'lib'}", **row.environment}
    if name.endswith(".py"):  # NumPy's own OpenBLAS is another one
        blas = next(Path("/usr/lib").glob("*/openblas-openmp"), Path("/nonexistent"))
        environment["LD_LIBRARY_PATH"] += f":{blas}"
        return ["/usr/bin/python3", ROOT / "bench" / name, *arguments], environment
    return [programs / "bench" / name, *arguments], environment


def be_realtime():
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def be_first_come():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def take_processor():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))


def group_begins():
    """Why there is none; None: it is there, and other work on the machine counts little beside it."""
    try:
        GROUP.mkdir(exist_ok=True)
        set_quota(-1)
        (GROUP / "cpu.shares").write_text("262144")
    except OSError as error:
        return f"no control group: {error.strerror}"
    return None


def run(row, programs, libraries, more, alone):
    """(time, processor time in seconds); a string: why not."""
    command, environment = command_of(row, programs, libraries)
    env = harness.Peer("on or off", "", {**environment, **more}).clean_environment()
    grouped = row.narrow == "quota" or (alone and not row.quiet and not row.taken)
    if grouped and (why := group_begins()):
        return why
    before = enter_group if grouped else be_first_come if row.taken else be_realtime if alone and row.quiet else None
    burners = [subprocess.Popen(BURNER, preexec_fn=take_processor if row.taken else enter_group if grouped else None)
               for _ in range(row.beside or row.taken)]
    p = None
    try:
        p = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True,
                             preexec_fn=before)
        late = threading.Timer(row.seconds, p.kill)
        timers = [late] + ([threading.Timer(NARROW_AFTER, narrow, [p.pid, row.narrow])] if row.narrow else [])
        for t in timers:
            t.start()
        out = p.stdout.read()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = status
        for t in timers:
            t.cancel()
    finally:
        if p and p.returncode is None:
            burners.append(p)
        for b in burners:
            b.kill()
            b.wait()
        if grouped:
            GROUP.rmdir()
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return f"not finished in {row.seconds} s"
    rows = harness.json_lines(out)
    if status or not rows:
        return f"status {status}"
    return rows[row.pick][row.value], usage.ru_utime + usage.ru_stime


def measure(row, a, sides):
    """{side: {round: (time, processor time)}}, {side: why it did not end}"""
    found, failed = {name: {} for name, _, _ in sides}, {}
    for this_round in range(a.rounds):
        shift = this_round % 2
        for name, libraries, more in sides[shift:] + sides[:shift]:
            if name in failed:
                continue
            result = run(row, a.build, libraries, more, a.alone)
            if isinstance(result, str):
                failed[name] = result
            else:
                found[name][this_round] = result
    return found, failed


def line_of(policy, row, found, failed):
    on, off = ({r: v[0] for r, v in found[side].items()} for side in ("on", "off"))
    line = {"policy": policy, "row": row.label, "rounds": len(on), "with": "", "without": "", "ratio": "", "low": "",
            "high": "", "cpu_ratio": "", "cpu_low": "", "cpu_high": ""}
    for key, side, values in (("with", "on", on), ("without", "off", off)):
        line[key] = failed.get(side) or f"{verdict.median(values):.3f}"
    if not failed:
        keys = [("ratio", "low", "high", on, off)]
        if row.fixed:
            cpu = [{r: v[1] for r, v in found[side].items()} for side in ("on", "off")]
            keys.append(("cpu_ratio", "cpu_low", "cpu_high", *cpu))
        for name, low, high, ones, others in keys:
            ratio = verdict.ratio_interval(others, ones, "" if name == "cpu_ratio" else row.unit)
            if ratio:
                line[name], line[low], line[high] = (f"{v:.2f}" for v in ratio)
    return line


def line_round_trip(a):
    """Of a cache line between two processors now, us: a virtual machine's may be one core's or two cores'."""
    done = subprocess.run([a.build / "bench" / "line"], capture_output=True, text=True,
                          preexec_fn=be_realtime if a.alone else None)
    return next((f"{row['median']:.2f}" for row in harness.json_lines(done.stdout)), "")


def keep(path, machine, line):
    """Puts the line into the file, in the place of one for the same program."""
    lines = []
    if path.exists():
        with open(path, newline="") as f:
            lines = list(csv.DictReader(row for row in f if not row.startswith("#")))
    same = [i for i, l in enumerate(lines) if (l["policy"], l["row"]) == (line["policy"], line["row"])]
    if same:
        lines[same[0]] = line
    else:
        lines.append(line)
    with open(path, "w", newline="") as f:
        f.write(f"# {machine}\n")
        out = csv.DictWriter(f, line.keys(), lineterminator="\n")
        out.writeheader()
        out.writerows(lines)


def main():
    a = read_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started ends, too
    if a.list:
        for policy, edits in OFF.items():
            for file, old, new in edits:
                print(f"{policy}: {file}: {old}  ->  {new}")
                edited(policy, ROOT, file, old, new)
        return 0
    machine = harness.machine_line() + ("; --alone" if a.alone else "")
    for policy in a.policies:
        more = dict(e.split("=", 1) for e in a.off_environment)
        off = a.off or (a.build if more else without(policy, a.build))
        sides = [("on", a.build.resolve(), {}), ("off", off.resolve(), more)]
        for row in ROWS[policy]:
            if a.rows not in row.label:
                continue
            line = line_of(policy, row, *measure(row, a, sides)) | {"line_us": line_round_trip(a)}
            text = f"{line['ratio'] or '-':>7} [{line['low']} {line['high']}]"
            text += f"  cpu {line['cpu_ratio']} [{line['cpu_low']} {line['cpu_high']}]" if line["cpu_ratio"] else ""
            print(f"{policy:24} {row.label:42} {line['with']:>10} {line['without']:>10} {text}", flush=True)
            if a.csv:
                keep(a.csv, machine, line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
