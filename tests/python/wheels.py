#!/usr/bin/env python3
"""wheels.py SOURCE BUILD [JOB...] - PyPI's wheels: the jobs of wheels_job.py have the same results under psrun, with
psthreads.enable() and without either; those of wheels_ours.py find the runtime. Makes BUILD/python/venv the first time,
by pip (the network). Each job has a process of its own under tests/run-with-watch, which shows where one that hangs
stands."""

import json
import math
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

# What was tried together. numba wants a NumPy that is not too new.
WHEELS = (Path(__file__).resolve().parent / "wheels.txt").read_text().split()
SECONDS = 120
TOLERANCE = {"xgboost": 1e-4, "faiss": 1e-4}  # sums of floats, in an order that depends on the threads
SOURCE, BUILD = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
FOLDER = BUILD / "python"
PYTHON = FOLDER / "venv/bin/python"


def make_venv():
    stamp = FOLDER / "venv/wheels"
    if stamp.exists() and stamp.read_text() == "\n".join(WHEELS):
        return
    venv.create(FOLDER / "venv", with_pip=True, clear=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *WHEELS], check=True)
    stamp.write_text("\n".join(WHEELS))


def run(script, *arguments, under=()):
    """(the results, or None, and what was said beside)."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE / "python"), "PSTHREADS_HOME": str(BUILD),
                   "JUPYTER_PATH": "", "JUPYTER_DATA_DIR": str(FOLDER / "jupyter")}
    done = subprocess.run([SOURCE / "tests/run-with-watch", str(SECONDS), *under, PYTHON, script, *arguments],
                          capture_output=True, text=True, cwd=FOLDER, env=environment)
    lines = done.stdout.splitlines()
    try:
        results = json.loads(lines[-1]) if done.returncode == 0 else None
    except (IndexError, ValueError):
        results = None
    return results, "\n".join([*(lines[:-1] if results is not None else lines), *done.stderr.splitlines()])


def same(a, b, tolerance):
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=tolerance)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], tolerance) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b, [tolerance] * len(a)))
    return a == b


def names_of(script):
    """{job: whether it has no results without us} of a script."""
    listed = subprocess.run([sys.executable, script, "--list"], capture_output=True, text=True, check=True,
                            env={**os.environ, "PYTHONPATH": str(SOURCE / "python")}).stdout
    return json.loads(listed)


def judge(script, job, only_ours):
    """What is wrong, or None."""
    if script.stem == "wheels_ours":
        ways = {"": run(script, job)}
    else:
        ways = {"under psrun": run(script, job, under=[BUILD / "bin/psrun"]),
                "with enable()": run(script, job, "enable")}
    own, own_said = (None, "") if only_ours else run(script, job)
    for way, (found, said) in ways.items():
        if found is None:
            return f"no results {way}\n{said}"
        if only_ours and not all(found.values()):
            return f"{way} {found}\n{said}"
        if not only_ours and own is None:
            return f"no results of the wheels' own\n{own_said}"
        if not only_ours and not same(own, found, TOLERANCE.get(job, 1e-8)):
            return f"{way} {found}\n    their own {own}"
    return None


def main():
    make_venv()
    wanted, failed, passed = sys.argv[3:], 0, 0
    for name in ("wheels_job.py", "wheels_ours.py"):
        script = SOURCE / "tests/python" / name
        for job, only_ours in names_of(script).items():
            if wanted and job not in wanted:
                continue
            start = time.monotonic()
            wrong = judge(script, job, only_ours)
            failed, passed = failed + bool(wrong), passed + (not wrong)
            print(f"{job}: {wrong or 'right'} ({time.monotonic() - start:.1f} s)", flush=True)
    print(f"wheels: {passed} passed, {failed} failed")
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
