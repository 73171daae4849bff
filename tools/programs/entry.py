"""What the runner knows of a program: where it comes from, how it is made ready and started, and which of its output is
compared.

An entry's command runs unchanged under its own runtime and under ours. Results are lines "result NAME VALUE..." on
standard output, or what `results` takes out of it; numbers are compared with `tolerance` (relative; 0: the same text).
A line "time SECONDS" replaces the whole process's time, so that a Python import does not hide the work."""

import hashlib
import math
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

WORK = Path(__file__).resolve().parent / "work"
SYSTEM_PYTHON = "/usr/bin/python3"
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")


class NotHere(Exception):
    """Why a program cannot be run on this machine."""


@dataclass
class Program:
    name: str
    comes_from: str
    command: object  # of a Place: the arguments
    apt: list = field(default_factory=list)
    pip: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    prepare: object = lambda place: None
    results: object = lambda out, folder: re.findall(r"^result (.*)$", out, re.M)
    tolerance: float = 1e-6
    doctor: object = lambda place: []  # of a Place: [(file, name of the runtime it must report, how it is replaced)]
    quick: bool = False
    not_own: str = ""  # why it is not run under its own runtime; its command then has only our two columns
    seconds: int = 240


class Place:
    """Where a program's things are: `inputs` is made once, `venv` holds the wheels."""

    def __init__(self, inputs, venv, dropin):
        self.inputs, self.venv, self.dropin = inputs, venv, dropin
        self.python = venv / "bin" / "python"

    def make(self, *arguments, stdin=None, environment=None):
        done = subprocess.run([str(a) for a in arguments], cwd=self.inputs, text=True, errors="replace",
                              capture_output=True,
                              stdin=stdin or subprocess.DEVNULL, timeout=300, env={**os.environ, **(environment or {})})
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no message"]
            raise NotHere(f"{Path(str(arguments[0])).name}: {lines[-1]}")
        return done.stdout

    def compile(self, compiler, source, *libraries, flags=("-O2", "-fopenmp")):
        found = [c for c in compiler if shutil.which(c)]
        if not found:
            raise NotHere(f"no {compiler[0]}")
        for one in found:
            try:
                return self.make(one, *flags, WORK / source, "-o", self.inputs / Path(source).stem, *libraries)
            except NotHere:  # a Clang whose OpenMP is not installed
                if one == found[-1]:
                    raise

    def wheel_file(self, pattern):
        found = sorted((self.venv / "lib").glob(f"python3*/site-packages/{pattern}"))
        return found[0] if found else self.venv / pattern


def system(name):
    found = shutil.which(name, path="/usr/bin:/bin:/usr/local/bin")
    if not found:
        raise NotHere(f"no {name}")
    return found


def python_work(name, *arguments):
    return lambda place: [place.python, WORK / name, *arguments]


def in_wheel(pattern, runtime="libgomp-", how="by interposition"):
    return lambda place: [(place.wheel_file(pattern), runtime, how)]


def built(name):
    return lambda place: [(place.inputs / name, "libgomp.so.1", "by name")]


def file_bytes(name):
    """Results: all of a file."""
    def digest(_, folder):
        return [f"{name} {hashlib.sha256((folder / name).read_bytes()).hexdigest()}"]
    return digest


def differs(ours, own, tolerance):
    """None, or the first place where the results disagree."""
    if len(ours) != len(own):
        return f"{len(ours)} results instead of {len(own)}"
    for a, b in zip(ours, own):
        left, right = a.split(), b.split()
        same = len(left) == len(right)
        for x, y in zip(left, right):
            if x == y:
                continue
            numbers = NUMBER.match(x) and NUMBER.match(y) and tolerance
            same = same and bool(numbers) and math.isclose(float(x), float(y), rel_tol=tolerance,
                                                           abs_tol=tolerance * 1e-3)
        if not same:
            return f"'{a.strip()}' instead of '{b.strip()}'"
    return None
