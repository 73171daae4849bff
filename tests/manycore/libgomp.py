#!/usr/bin/python3
"""Runs the C tests of libgomp's own suite on the virtual manycore: a table of what passes, what fails, and what is left
out and why.

Tests come from Debian's gcc-12-source, as for tests/conformance/run (tools/install-deps conformance). Each test is
compiled by manycore-cc, with the variables that it asks for as the program's environment. The test runs on a machine of
4 clusters of 4 cores, each with 1 MB of TCDM; tests that libgomp.txt calls wide run on one of 64 cores. libgomp.txt
names also what is left out or known to fail. Exit status 1 when anything else fails, or when something named there as
failing passes."""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
CONFORMANCE = os.path.join(HERE, "..", "conformance")
sys.path.insert(0, CONFORMANCE)
sys.dont_write_bytecode = True

import directives  # noqa: E402
import suite  # noqa: E402

GCC = 12
KNOWN = os.path.join(HERE, "libgomp.txt")
# Before a test's own variables, which count where both have one: those of a program that has none (src/os/bare/os.c).
ENVIRONMENT = {"OMP_PLACES": "numa_domains", "OMP_PROC_BIND": "close", "OMP_MAX_ACTIVE_LEVELS": "255"}
TCDM = 1 << 20  # bytes, the most that there can be: tests have frames of some 100 KB
WIDE = (16, 40960)  # cores of a cluster, bytes of a stack
COMPILE_SECONDS = 300
RUN_SECONDS = 900  # the limit that counts is one of cycles; this one ends a simulator that hangs


class Manycore(directives.Target):
    """What GCC's questions have for answers where the target is RV32 without a system."""

    def __init__(self):
        super().__init__()
        self.triplet = "riscv32-unknown-elf"
        self.facts |= {"ilp32": True, "lp64": False, "fd_truncate": False, "shared": False, "fpic": False, "lto": False,
                       "__float128": False, "large_long_double": True, "vect_simd_clones": False,
                       "sse2_runtime": False, "avx_runtime": False, "cas_int": True}


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default="build", help="the build folder (default: build)")
    p.add_argument("--hal", help="of manycore-cc (default: its own)")
    p.add_argument("--clusters", type=int, default=4, help="clusters of the machine (default: 4)")
    p.add_argument("--cores", type=int, default=4, help="cores of a cluster (default: 4)")
    p.add_argument("--stack", type=int, default=131072, help="bytes of a core's stack (default: 131072)")
    p.add_argument("--limit", type=int, default=2_000_000_000, metavar="CYCLES",
                   help="a run is stopped after so many (default: 2000 million)")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at a time (default: processors)")
    p.add_argument("--filter", metavar="TEXT", action="append",
                   help="only tests whose name contains TEXT (repeatable: any)")
    p.add_argument("--all", action="store_true", help="also try what libgomp.txt leaves out")
    return p.parse_args()


def known_tests(path):
    """{name: (kind, reason)}, the kind out, fails or wide"""
    found = {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            parts = line.split("#", 1)[0].split(None, 2)
            if not parts:
                continue
            if len(parts) != 3 or parts[1] not in ("out", "fails", "wide"):
                sys.exit(f"{path}:{number}: expected NAME out|fails|wide REASON")
            found[parts[0]] = (parts[1], parts[2].strip())
    return found


def compile_problem(text):
    """Why a test was not compiled, in a few words."""
    header = re.search(r"fatal error: (\S+): No such file", text)
    if header:
        return f"needs {header.group(1)}"
    missing = sorted(set(re.findall(r"undefined reference to [`'](\w+)'", text)))
    if missing:
        return f"needs {', '.join(missing[:3])}"
    error = re.search(r"(?:error|ld): (.*)", text)
    return f"not compiled: {error.group(1)[:100] if error else text.strip()[-100:]}"


def environment_file(test):
    """A source with the program's environment, where the test asks for one."""
    lines = [f'"{name}={value}"' for name, value in {**ENVIRONMENT, **test.plan.environment}.items()]
    path = os.path.join(test.work, "environment.c")
    with open(path, "w", encoding="ascii") as f:
        f.write("const char *const manycore_environment[] = {" + ", ".join(lines) + ", 0};\n")
    return path


def attempt(test, args, folder, wide):
    """(how it went: passes, fails or out; why)"""
    plan, cores, stack = test.plan, args.cores, args.stack
    if wide:
        cores, stack = WIDE
    os.makedirs(test.work, exist_ok=True)
    libgomp = os.path.join(folder, "source", "libgomp")
    extra = [os.path.join(os.path.dirname(test.source), name) for name in plan.sources]
    if plan.environment:
        extra.append(environment_file(test))
    options = ["-O2"] if plan.options is None else plan.options
    command = [os.path.join(os.path.abspath(args.build), "bin", "manycore-cc"),
               *([f"--hal={args.hal}"] if args.hal else []), "--data=main", f"--stack={stack}",
               f"-Wl,--defsym=__cores_most={cores},--defsym=__tcdm_size={TCDM}", "-w",
               "-fmessage-length=0", "-fno-diagnostics-show-caret", f"-I{os.path.join(folder, 'configured')}",
               f"-I{os.path.join(libgomp, '..', 'include')}", f"-I{libgomp}", *options, *plan.additional, test.source,
               *extra, "-o", test.program]
    environment = dict(os.environ, LC_ALL="C")
    try:
        done = subprocess.run(command, cwd=test.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=COMPILE_SECONDS, env=environment, check=False)
        if done.returncode:
            return "out", compile_problem(done.stdout.decode(errors="replace"))
        command = [os.path.join(os.path.abspath(args.build), "bin", "manycore"), "--clusters", str(args.clusters),
                   "--set", f"platform.cores={cores}", "--set", f"tcdm.size={TCDM}", "--set",
                   f"run.limit={args.limit}", test.program]
        done = subprocess.run(command, cwd=test.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=RUN_SECONDS, env=environment, check=False)
    except subprocess.TimeoutExpired as e:
        return "fails", f"more than {e.timeout:g} s"
    text = done.stdout.decode(errors="replace").replace("\r\n", "\n")
    with open(os.path.join(test.work, "log"), "w", encoding="utf-8") as f:
        f.write(text)
    last = text.strip().splitlines()[-1][:110] if text.strip() else ""
    if plan.should_fail != bool(done.returncode):
        return "fails", f"exit status {done.returncode}: {last}"
    if plan.output and not re.search(plan.output, text):
        return "fails", "output is not what is expected"
    return "passes", ""


def selected(test, known, args):
    """Why a test is left out before it is tried; '' if it is not."""
    if test.plan.action != "run":
        return "is not run (compiler's)"
    if test.plan.skip:
        return test.plan.skip
    kind, reason = known.get(test.name, ("", ""))
    return reason if kind == "out" and not args.all else ""


def kind_of(reason):
    """Reasons that differ in a name alone are one row of the table."""
    return "for other targets" if reason.startswith("for other targets") else reason


def report(results, known, where):
    names = {"passes": "passes", "fails": "fails", "out": "left out"}
    groups = sorted({test.group for test, _, _ in results})
    print(f"\n{'folder':30}{'tests':>8}" + "".join(f"{names[k]:>10}" for k in names))
    for group in [*groups, "all"]:
        rows = [how for test, how, _ in results if group in ("all", test.group)]
        print(f"{group:30}{len(rows):8}" + "".join(f"{rows.count(k):10}" for k in names))
    out = {}
    for _, how, why in results:
        if how == "out":
            out[kind_of(why)] = out.get(kind_of(why), 0) + 1
    print("\nleft out because:")
    for why, n in sorted(out.items(), key=lambda item: (-item[1], item[0])):
        print(f"{n:5}  {why}")
    news = [(test.name, why) for test, how, why in results
            if how == "fails" and known.get(test.name, ("",))[0] != "fails"]
    expected = [(test.name, why) for test, how, why in results
                if how == "fails" and known.get(test.name, ("",))[0] == "fails"]
    mended = [test.name for test, how, _ in results if how == "passes" and known.get(test.name, ("",))[0] == "fails"]
    print()
    for name, why in expected:
        print(f"known to fail: {name}: {why} [{known[name][1]}]")
    for name, why in news:
        print(f"fails: {name}: {why}")
    for name in mended:
        print(f"listed as failing, but passes: {name} (take it out of libgomp.txt)")
    print(f"libgomp's suite on the manycore: {sum(how == 'passes' for _, how, _ in results)} passed,"
          f" {len(news) + len(expected)} failed ({len(expected)} known), {sum(out.values())} left out; logs in {where}")
    return 1 if news or mended else 0


def main():
    args = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    folder = os.path.join(os.path.abspath(args.build), "conformance")
    for program in ("manycore", "manycore-cc"):
        if not os.path.exists(os.path.join(args.build, "bin", program)):
            sys.exit(f"libgomp.py: no {program} in {args.build}/bin: build first (make manycore)")
    os.makedirs(folder, exist_ok=True)
    try:
        tests = [test for test in suite.listed(suite.unpack(folder, GCC), folder, Manycore(), GCC)
                 if test.language == "c" and (not args.filter or any(text in test.name for text in args.filter))]
    except suite.SuiteError as e:
        sys.exit(f"libgomp.py: {e}")
    if not tests:
        sys.exit(f"libgomp.py: no test has {' or '.join(args.filter)} in its name")
    known = known_tests(KNOWN)
    where = os.path.join(os.path.abspath(args.build), "conformance-manycore")
    for test in tests:
        test.work = os.path.join(where, test.name.replace("/", "~"))
        test.program = os.path.join(test.work, "program.elf")

    def one(test):
        why = selected(test, known, args)
        wide = known.get(test.name, ("", ""))[0] == "wide"
        return (test, "out", why) if why else (test, *attempt(test, args, folder, wide))

    results = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for done, result in enumerate(pool.map(one, tests), 1):
            results.append(result)
            if result[1] == "fails":
                print(f"fails: {result[0].name}: {result[2]}")
            if done % 100 == 0:
                print(f"{done} of {len(tests)}", file=sys.stderr)
    status = report(results, known, os.path.relpath(where))
    with open(os.path.join(where, "results.json"), "w", encoding="utf-8") as f:
        json.dump({test.name: [how, why] for test, how, why in results}, f, indent=1, sort_keys=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
