"""libgomp's own test suite from Debian's gcc-N-source: unpacked, listed, compiled by GCC N. Nothing of it is kept in
the project."""

import glob
import hashlib
import json
import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import directives

TARBALLS = "/usr/src/gcc-{0}/gcc-{0}.*.tar.*"
COMPILE_SECONDS = 300
FORTRAN = (".f", ".f90", ".f95", ".f03", ".f08", ".F", ".F90", ".F95", ".F03", ".F08")


class SuiteError(Exception):
    pass


@dataclass
class Test:
    name: str       # folder/file, with the language where a file is built twice
    group: str      # the table's row
    language: str   # c, c++ or fortran
    source: str
    plan: directives.Plan
    work: str       # its own folder: the program, its module files, its logs
    program: str
    command: list
    built: bool = False
    problem: str = ""


def unpack(folder, gcc):
    """Unpacks the two directories of the tarball that the tests need; returns libgomp's."""
    pattern = TARBALLS.format(gcc)
    tarballs = sorted(glob.glob(pattern))
    if not tarballs:
        raise SuiteError(f"no {pattern}: install Debian's package gcc-{gcc}-source (tools/install-deps conformance)")
    stamp, source = os.path.join(folder, "unpacked"), os.path.join(folder, "source")
    if not os.path.exists(stamp):
        os.makedirs(source, exist_ok=True)
        subprocess.run(["tar", "-x", "-f", tarballs[-1], "-C", source, "--strip-components=1", "--wildcards",
                        "*/libgomp/*", "*/include/gomp-constants.h"], check=True)
        # The one test that includes libgomp's configuration asks it for this alone.
        os.makedirs(os.path.join(folder, "configured"), exist_ok=True)
        with open(os.path.join(folder, "configured", "config.h"), "w", encoding="ascii") as f:
            f.write("#define HAVE_PTHREAD_AFFINITY_NP 1\n")
        with open(stamp, "w", encoding="ascii") as f:
            f.write(tarballs[-1] + "\n")
    return os.path.join(source, "libgomp")


def files(folder, endings):
    return sorted(os.path.join(root, name) for root, _, names in os.walk(folder) for name in names
                  if name.endswith(endings))


def listed(libgomp, folder, target, gcc, compilers=""):
    """Every test of the suite for the host, the common ones once as C and once as C++. `compilers`: what the names of
    another processor's compilers begin with."""
    base = os.path.join(libgomp, "testsuite")
    include = [f"-I{os.path.join(folder, 'configured')}", f"-I{os.path.join(libgomp, '..', 'include')}", f"-I{libgomp}"]
    common = files(os.path.join(base, "libgomp.c-c++-common"), (".c",))
    rows = [("libgomp.c", "c", files(os.path.join(base, "libgomp.c"), (".c",))),
            ("libgomp.c-c++-common as C", "c", common),
            ("libgomp.c++", "c++", files(os.path.join(base, "libgomp.c++"), (".C",))),
            ("libgomp.c-c++-common as C++", "c++", common),
            ("libgomp.fortran", "fortran", files(os.path.join(base, "libgomp.fortran"), FORTRAN))]
    for group, language, sources in rows:
        for source in sources:
            name = os.path.relpath(source, base)
            if source in common:
                name += f":{language}"
            option = "-O" if language == "fortran" else "-O2"
            plan = directives.read(source, language, option, target)
            if plan.skip and language == "fortran":
                # gfortran's tests run at several levels; some leave out -O alone
                other = directives.read(source, language, "-O2", target)
                if not other.skip:
                    option, plan = "-O2", other
            work = os.path.join(folder, "work", name.replace("/", "~"))
            program = os.path.join(work, "program")
            yield Test(name, group, language, source, plan, work, program,
                       compile_command(gcc, compilers, language, option, source, plan, include, program))


def compile_command(gcc, compilers, language, option, source, plan, include, program):
    compiler = {"c": ["gcc"], "c++": ["g++", "-x", "c++"], "fortran": ["gfortran"]}[language]
    compiler[0] = f"{compilers}{compiler[0]}-{gcc}"
    if language == "fortran":
        options = [option] + (plan.options or [])
    else:
        options = [option] if plan.options is None else plan.options
    extra = [os.path.join(os.path.dirname(source), name) for name in plan.sources]
    return (compiler + ["-fopenmp", "-w", "-fmessage-length=0", "-fno-diagnostics-show-caret", "-foffload=disable"]
            + include
            + options + plan.additional + [source] + extra + ["-x", "none", "-lm", "-o", program])


def build(test):
    """Compiles one test unless that has been done with the same command; sets built or problem."""
    os.makedirs(test.work, exist_ok=True)
    record = os.path.join(test.work, "built.json")
    with open(test.source, "rb") as f:
        key = hashlib.sha256(shlex.join(test.command).encode() + f.read()).hexdigest()
    try:
        with open(record, encoding="utf-8") as f:
            known = json.load(f)
    except (OSError, ValueError):
        known = {}
    if known.get("key") != key:
        try:
            done = subprocess.run(test.command, cwd=test.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=COMPILE_SECONDS, env=dict(os.environ, LC_ALL="C"))
            problem = "" if done.returncode == 0 else (done.stdout.decode(errors="replace").strip()
                                                       or "compiler failed")
        except subprocess.TimeoutExpired:
            problem = f"the compiler needs more than {COMPILE_SECONDS} s"
        known = {"key": key, "problem": problem, "command": shlex.join(test.command)}
        with open(record, "w", encoding="utf-8") as f:
            json.dump(known, f, indent=1)
    test.problem, test.built = known["problem"], not known["problem"]


def build_all(tests, jobs, progress):
    with ThreadPoolExecutor(jobs) as pool:
        for done, _ in enumerate(pool.map(build, tests), 1):
            progress("compiling", done, len(tests))
