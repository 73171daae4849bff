#!/usr/bin/python3
"""mpi4py.py [OPTIONS] PSRUN FOLDER - mpi4py's own tests under psrun, file by file.

The tests are those of the sdist on PyPI whose version is that of the installed package; pip puts it into FOLDER. Each
file is run by two ranks, under psrun within an OpenMP region, so that its calls are made by a thread that can wait.
What fails there is run by MPI alone: a file that passes there and not under psrun is an error. Prints a table; exit
status 77 where mpi4py or its tests are missing. Takes minutes.

Debian's package is built for Open MPI. For MPICH: a virtual environment with mpi4py built from the sdist (in it, with
setuptools and wheel: MPICC=mpicc.mpich python setup.py install), and --mpi=mpich --python=ENVIRONMENT/bin/python."""

import argparse
import os
import re
import subprocess
import sys
import tarfile
import time
from pathlib import Path

LIMIT_S = 60  # for a file; a few seconds as a rule
SKIPPED = 77
# Files that are not run, and why.
LEFT_OUT = {
    "test_spawn": "starts processes by MPI_Comm_spawn, which want slots of the launcher's; nothing here answers it",
    "test_dynproc": "connects jobs by ports, which want a name server",
    "test_doc": "the documentation strings of the module; no call of MPI",
    "test_dl": "opens shared objects; no call of MPI",
    "test_rc": "starts interpreters to see options read; no call that waits",
}
RUN = """
import ctypes, runpy, sys
sys.argv = ["runtests.py", "-q", "--no-builddir", "-i", "^%(name)s$"]
ended = []
def body(_):
    try:
        runpy.run_path("runtests.py", run_name="__main__")
    except SystemExit as status:
        ended.append(status.code or 0)
if %(region)d:
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    ctypes.CDLL("libgomp.so.1").GOMP_parallel(kind(body), None, 1, 0)
else:
    body(None)
sys.exit(ended[0] if ended else 1)
"""


def skip(why):
    print(f"mpi4py.py: skipped: {why}")
    sys.exit(SKIPPED)


def tests_of(folder, python):
    """The folder with the tests."""
    done = subprocess.run([python, "-c", "import mpi4py; print(mpi4py.__version__)"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        skip(f"{python} has no mpi4py (Debian's package: python3-mpi4py)")
    version = done.stdout.strip()
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"mpi4py-{version}.tar.gz"
    if not archive.exists():
        command = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "mpi4py", f"mpi4py=={version}"]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if not archive.exists():
        skip(f"pip does not get the sdist of mpi4py {version}")
    at = folder / f"mpi4py-{version}" / "test"
    if not at.exists():
        with tarfile.open(archive) as tar:
            tar.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return at


def run(launcher, python, folder, name, region):
    """("passed" | what else, seconds, tests, output)."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMP_NUM_THREADS="2", PYTHONDONTWRITEBYTECODE="1")
    command = launcher + ["-n", "2", *python, "-c", RUN % {"name": name, "region": region}]
    began = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, errors="replace") as job:
        try:
            text = job.communicate(timeout=LIMIT_S)[0]
            status = "passed" if job.returncode == 0 else f"status {job.returncode}"
        except subprocess.TimeoutExpired:
            job.terminate()  # the launcher ends its ranks
            text = job.communicate()[0]
            status = f"no end in {LIMIT_S} s"
    tests = re.findall(r"Ran (\d+) tests?", text)
    if status == "passed" and not tests:
        status = "ran no test"
    return status, time.monotonic() - began, int(tests[0]) if tests else 0, text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="openmpi", help="the MPI that mpi4py is built for: %(default)s")
    parser.add_argument("--python", default="/usr/bin/python3", help="whose mpi4py it is: %(default)s")
    parser.add_argument("--off", action="store_true", help="without the layer: psrun --mpi=off")
    parser.add_argument("--only", default="", metavar="TEXT", help="files whose names have it")
    parser.add_argument("psrun")
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    launcher = [f"mpirun.{args.mpi}"] + (["--oversubscribe"] if args.mpi == "openmpi" else [])
    folder = tests_of(args.folder, args.python)
    under = [os.path.abspath(args.psrun)] + (["--mpi=off"] if args.off else []) + [args.python]
    wrong, passed, left = [], 0, []
    for name in sorted(path.stem for path in folder.glob("test_*.py") if args.only in path.stem):
        if name in LEFT_OUT:
            left.append((name, LEFT_OUT[name]))
            continue
        ours, seconds, tests, text = run(launcher, under, folder, name, True)
        row = f"{name:26} {ours:16} {tests:5} tests {seconds:6.1f} s"
        if ours != "passed":
            plain = run(launcher, [args.python], folder, name, False)[0]
            row += f"   MPI alone: {plain}"
            if plain == "passed":
                wrong.append(name)
                print(text[-6000:])
            else:
                left.append((name, f"MPI alone: {plain}"))
        else:
            passed += 1
        print(row, flush=True)
    print(f"\n{passed} files pass under psrun; left out:")
    for name, why in left:
        print(f"{name:26} {why}")
    if wrong:
        print(f"pass by MPI alone, and not under psrun: {' '.join(wrong)}")
    return 1 if wrong or not passed else 0


sys.exit(main())
