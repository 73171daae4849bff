#!/usr/bin/python3
"""doctor_test.py PSRUN WORK SOURCE CC - psrun doctor on programs with libraries of the test's own, which export what
libraries with thread pools do (pools_fake.c), and the census that it reads (PSTHREADS_CENSUS)."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

# file -> how it is made, what is told of it by a run (internal_api, version, threading_layer, architecture,
# num_threads, ours, part of the advice), and by its file alone (threading_layer, ours)
LIBRARIES = {
    "libscipy_openblas64_-1a.so": (
        ['-DOPENBLAS="0.3.29"', "-DCALLBACK"],
        ("openblas", "0.3.29", "pthreads", "Haswell", 4, "yes", "psthreads' virtual processors"), ("pthreads", "yes")),
    "libscipy_openblas64_-2b.so": (
        ['-DOPENBLAS="0.3.21"'],
        ("openblas", "0.3.21", "pthreads", "Haswell", 4, "no", "before version 0.3.28"), ("pthreads", "no")),
    "libfftw3f_threads.so.3": (
        ["-DFFTW"], ("fftw", "3.3.10", "pthreads", "sse2-avx", 3, "no", "-lfftw3_omp"), ("pthreads", "no")),
    "libtbb.so.12": (["-DTBB"], ("tbb", "2021.9", None, None, None, "no", "global_control"), (None, "no")),
    "libmkl_rt.so.2": (
        ["-DMKL"], ("mkl", "2026.2-Product", "tbb", None, 5, "no", "MKL_THREADING_LAYER=GNU"), ("tbb", "no")),
    "libmkl_tbb_thread.so.2": (["-DNOTHING"], None, None),
    "libmkl_intel_lp64.so.2": (["-DMKL"], None, None),
    "libblis.so.4": (["-DBLIS"], ("blis", "0.9", "pthreads", "zen", 1, "no", "BLIS_NUM_THREADS=1"), ("pthreads", "no")),
    "libtorch_cpu.so": (["-DTORCH"], ("torch", None, None, None, None, "no", "set_num_interop_threads"), (None, "no")),
    "numba/np/ufunc/workqueue.cpython-311.so": (
        ["-DNOTHING"], ("numba", None, "workqueue", None, None, "no", "NUMBA_THREADING_LAYER=omp"),
        ("workqueue", "no")),
    "libgomp-3c.so.1": (["-DGOMP"], ("openmp", None, None, None, None, "yes", "a copy"), (None, "yes")),
}
FIELDS = ("user_api", "internal_api", "prefix", "filepath", "version", "threading_layer", "architecture", "num_threads",
          "ours", "advice")


class Checks:
    def __init__(self):
        self.number, self.failed = 0, 0

    def __call__(self, what, held, shown=""):
        self.number += 1
        self.failed += not held
        print(f"ok   {what}" if held else f"FAIL {what}: {shown}")


class Bench:
    """Programs in a folder, and psrun."""

    def __init__(self, psrun, work, source, compiler):
        self.psrun, self.work, self.compiler = psrun, work, compiler
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(("OMP_", "PSTHREADS_", "LD_"))}
        for file, (flags, _, _) in LIBRARIES.items():
            (work / file).parent.mkdir(parents=True, exist_ok=True)
            self.compile(file, source / "pools_fake.c", "-shared", "-fPIC", *flags)
        self.compile("user", source / "pools_user.c", "-ldl")
        self.compile("user_by_name", source / "pools_user.c", "-fopenmp", "-Wl,--no-as-needed", "-lgomp", "-ldl")
        (work / "openmp.c").write_text("int main(void)\n{\n    int n = 0;\n#pragma omp parallel reduction(+ : n)\n"
                                       "    n++;\n    return n == 0;\n}\n")
        self.compile("openmp", work / "openmp.c", "-fopenmp")
        (work / "serial.c").write_text("int main(void) { return 0; }\n")
        rpath = ["-Wl,--no-as-needed", f"-Wl,-rpath,{work}"]
        self.compile("linked", work / "serial.c", *rpath, work / "libscipy_openblas64_-1a.so")
        self.compile("serial", work / "serial.c")
        self.compile("static", work / "serial.c", "-static")
        self.libraries = [str(work / file) for file in LIBRARIES]

    def compile(self, name, source, *flags):
        subprocess.run([self.compiler, "-o", self.work / name, source, *flags], check=True)

    def run(self, *arguments, **more):
        """psrun's result."""
        env = {**self.env, **more.pop("env", {})}
        return subprocess.run([self.psrun, *map(str, arguments)], cwd=self.work, env=env, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, check=False, **more)

    def report(self, *arguments, options=(), env=None):
        """doctor's JSON, and its result."""
        file = self.work / "report.json"
        done = self.run(*options, "doctor", "--json", "-o", file, *arguments, env=env or {})
        return json.loads(file.read_text()), done


def pools_by_file(process):
    return {Path(pool["filepath"]).name: pool for pool in process["pools"]}


def check_run(check, bench):
    report, done = bench.report("./user", "3", *bench.libraries)
    check("a run: doctor's status", done.returncode == 0, done)
    check("a run: the program's output is its own", done.stdout == "ready\n" and done.stderr == "", done)
    check("a run: how it ended", (report["exit_status"], report["signal"]) == (3, None), report)
    check("a run: what was looked at", (report["source"], report["verdict"]) == ("run", "yes"), report)
    check("a run: one process", len(report["processes"]) == 1, report)
    process = report["processes"][0]
    check("a run: its command", process["command"].startswith("./user 3 /"), process)
    pools = pools_by_file(process)
    for file, (_, told, _) in LIBRARIES.items():
        pool = pools.pop(Path(file).name, None)
        if told is None:
            check(f"a run: {file} is no pool of its own", pool is None, pool)
            continue
        seen = pool and tuple(pool[name] for name in ("internal_api", "version", "threading_layer", "architecture",
                                                      "num_threads", "ours"))
        check(f"a run: {file}", seen == told[:-1] and told[-1] in pool["advice"] and tuple(pool) == FIELDS, pool)
    check("a run: psthreads is a pool, and there is no other",
          [pool["advice"] for pool in pools.values()] == ["this is psthreads"], pools)
    done = bench.run("doctor", "./user", "0", bench.libraries[0])
    lines = done.stdout.splitlines()
    check("a run: the report stands behind the output",
          lines[0] == "ready" and "with exit status 0" in done.stdout, done)
    row = ["blas", "openblas", "0.3.29,", "pthreads,", "Haswell", "4", "yes"]
    row += [f"{bench.work.name}/libscipy_openblas64_-1a.so"]
    check("a run: a table", any(line.split() == row for line in lines), done)


def check_ends(check, bench):
    report, done = bench.report("./user", "kill")
    check("killed: the signal", (report["exit_status"], report["signal"]) == (None, signal.SIGKILL), report)
    check("killed: nothing is told", done.returncode == 0 and report["processes"] == [], report)
    report, _ = bench.report("--until-idle", "./user", "rest", bench.libraries[0])
    check("--until-idle: ended by doctor", report["signal"] == signal.SIGTERM, report)
    check("--until-idle: told before", [len(process["pools"]) for process in report["processes"]] == [2], report)
    report, _ = bench.report("--until-idle", "./user", "3", bench.libraries[0])
    check("--until-idle: has ended before", (report["exit_status"], len(report["processes"])) == (3, 1), report)
    for what, program in (("_exit", "./user"), ("0", "./static")):
        done = bench.run("doctor", program, what)
        check(f"{program} {what}: not seen", "not seen       process" in done.stdout, done)
    report, _ = bench.report("./user", "fork", bench.libraries[0])
    pools = [process["pools"] for process in report["processes"]]
    numbers = {process["pid"] for process in report["processes"]}
    check("children: each tells", len(pools) == 3 and len(numbers) == 3, report)
    check("children: all have the parent's pools", pools[1:] == pools[:-1] and len(pools[0]) == 2, report)
    done = bench.run("doctor", "./user", "fork", bench.libraries[0])
    check("children: those alike are shown once", "thread pools of each of 3 processes: " in done.stdout, done)
    done = bench.run("doctor", "./user", "fork")
    check("children without a pool", "no thread pool that is known in 3 processes: " in done.stdout, done)
    report, _ = bench.report("sh", "-c", f"exec ./user 4 {bench.libraries[0]}")
    check("what is executed later", report["exit_status"] == 4 and len(report["processes"]) == 1, report)


def check_kinds(check, bench):
    report, _ = bench.report("--run", "./openmp")
    pools = report["processes"][0]["pools"]
    check("OpenMP by name: psthreads alone", [pool["advice"] for pool in pools] == ["this is psthreads"], report)
    check("OpenMP by name: its threads",
          pools and pools[0]["num_threads"] >= 1 and pools[0]["prefix"] == "libgomp", report)
    report, _ = bench.report("--run", "./linked")
    check("linked to a library that can be had", [pool["ours"] for pool in report["processes"][0]["pools"]] ==
          ["yes", "yes"], report)
    # What psrun itself would not take doctor does not take either.
    for program, options, env in (("./user", ("--pools", "none"), None), ("./user", (), {"PSTHREADS_POOLS": "none"}),
                                  ("./user_by_name", (), None), ("./user_by_name", ("--pools", "openblas"), None)):
        report, _ = bench.report(program, "0", bench.libraries[0], options=options, env=env)
        pool = pools_by_file(report["processes"][0])["libscipy_openblas64_-1a.so"]
        asked = options[1:] == ("openblas",)
        check(f"{program}, {options or env or 'nothing asked'}", pool["ours"] == ("yes" if asked else "could be") and
              (asked or "psrun --pools openblas" in pool["advice"]), pool)
    report, _ = bench.report("--run", "./serial")
    check("nothing to replace",
          report["verdict"] == "nothing to replace" and report["processes"][0]["pools"] == [], report)
    report, done = bench.report("--run", "/nothing/here")
    check("no program", done.returncode == 1 and report["verdict"] == "no" and "No such file" in report["why"], report)


def check_files(check, bench):
    for arguments in (["./user"], ["--static", "./user", "0"], ["--", "./user"]):
        done = bench.run("doctor", *arguments)
        check(f"{' '.join(arguments)}: not run", "ready" not in done.stdout and done.returncode == 0, done)
        check(f"{' '.join(arguments)}: it is not all", "psrun doctor --run ./user" in done.stdout, done)
        check(f"{' '.join(arguments)}: no OpenMP yet",
              "no OpenMP in the program itself; libraries are checked when they are loaded" in done.stdout, done)
    report, _ = bench.report("--static", "./linked", "0")
    check("files: no process", [process["pid"] for process in report["processes"]] == [None], report)
    check("files: a library", list(pools_by_file(report["processes"][0])) == ["libscipy_openblas64_-1a.so"], report)
    done = bench.run("doctor", "./linked")
    check("files: a table", "thread pools in these files:" in done.stdout, done)
    check("files: a verdict without OpenMP",
          "parallel calls of libscipy_openblas64_-1a.so run on our" in done.stdout, done)
    report, _ = bench.report("./openmp")
    pool = report["processes"][0]["pools"][0]
    check("files: an OpenMP runtime", (pool["user_api"], pool["ours"]) == ("openmp", "yes"), report)


def check_process(check, bench):
    command = [bench.work / "user", "wait", *bench.libraries]
    with subprocess.Popen(command, env=bench.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        report, _ = bench.report("--pid", process.pid)
        shown = bench.run("doctor", "--pid", process.pid)
        process.stdin.close()
    seen = report["processes"][0]
    check("a process: how many kernel threads",
          seen["kernel_threads"] == 1 and "kernel threads 1\n" in shown.stdout, seen)
    check("a process: its number and command", seen["pid"] == process.pid and " wait " in seen["command"], seen)
    pools = pools_by_file(seen)
    check("a process without psthreads", pools["libscipy_openblas64_-2b.so"]["ours"] == "no" and
          pools["libgomp-3c.so.1"]["ours"] == "could be" and len(pools) == 9, pools)
    command = [bench.psrun, bench.work / "user", "wait", *bench.libraries]
    with subprocess.Popen(command, env=bench.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        report, _ = bench.report("--pid", process.pid)
        process.stdin.close()
    pools = pools_by_file(report["processes"][0])
    for file, (_, _, told) in LIBRARIES.items():
        if told is not None:
            pool = pools.pop(Path(file).name, None)
            check(f"a process under psrun: {file}", pool and (pool["threading_layer"], pool["ours"]) == told, pool)
    check("a process under psrun: psthreads",
          [pool["advice"] for pool in pools.values()] == ["this is psthreads"], pools)
    done = bench.run("doctor", "--pid", process.pid)
    check("a process that has ended", done.returncode == 1 and "there is no such process" in done.stderr, done)


def check_wrong_use(check, bench):
    for arguments, text in ((["--pid", "x"], "--pid x: wanted a process's number"), ([], "no program given"),
                            (["--run", "--static", "./user"], "exclude one another"),
                            (["--pid", "1", "./user"], "--pid takes no program"),
                            (["--nothing", "./user"], "try psrun doctor --help"),
                            (["-o", "/nothing/here", "./user"], "/nothing/here: No such file")):
        done = bench.run("doctor", *arguments)
        check(f"doctor {' '.join(arguments)}", done.returncode == 125 and text in done.stderr and not done.stdout, done)
    done = bench.run("doctor", "--help")
    check("doctor --help", done.returncode == 0 and "Exit status" in done.stdout, done)
    done = bench.run("doctor", "./user", "0", env={"TMPDIR": "/nothing/here"})
    check("no place for what is told", done.returncode == 125 and "/nothing/here" in done.stderr, done)


def check_census(check, bench):
    file = bench.work / "census"
    file.unlink(missing_ok=True)
    for _ in range(2):
        bench.run("./user", "0", bench.libraries[0], env={"PSTHREADS_CENSUS": str(file)})
    lines = [line.split("\t") for line in file.read_text().splitlines()]
    check("census: appended", len(lines) == 6 and [len(line) for line in lines] == [3, 11, 11] * 2, lines)
    check("census: a process", lines[0][1:] == ["process", f"./user 0 {bench.libraries[0]}"], lines)
    check("census: its number", {line[0] for line in lines[:3]} == {lines[0][0]} != {lines[3][0]}, lines)
    done = bench.run("./user", "5", env={"PSTHREADS_CENSUS": "/nothing/here"})
    check("census: a file that cannot be written", done.returncode == 5 and done.stderr.count("\n") == 1 and
          "PSTHREADS_CENSUS=/nothing/here: No such file" in done.stderr, done)


def main():
    psrun, work, source, compiler = sys.argv[1:]
    work = Path(work).resolve()
    subprocess.run(["rm", "-rf", work], check=True)
    work.mkdir(parents=True)
    bench, check = Bench(psrun, work, Path(source), compiler), Checks()
    for part in (check_run, check_ends, check_kinds, check_files, check_process, check_wrong_use, check_census):
        part(check, bench)
    print(f"{check.number} checks, {check.failed} failed")
    return int(check.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
