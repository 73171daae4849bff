#!/usr/bin/python3
"""Several processes of real programs at once: under their own runtime, with one thread each, and under psrun without
and with sharing (docs/sharing.md).

  bench/sharing_programs.py [--build FOLDER] [--rounds N] [--rows REGEX] [--python FILE]

--python: an interpreter with NumPy, joblib and pytest-xdist; without it those rows are left out. Tesseract is Debian's,
where it is installed. A row is a shell's command; its value is the time until all of its processes have ended, the
median of the rounds, in which each way has its turn. Shown are seconds, and how many times as fast as the program's own
runtime. Writes BUILD/bench/results/sharing-programs.txt."""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
from harness import ROOT, say

OWN, ONE, OFF, ON = "own runtime", "one thread", "psrun", "psrun, sharing"
WAYS = {
    OWN: {},
    ONE: {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS")},
    OFF: {"PSTHREADS_SHARE": "off"},
    ON: {"PSTHREADS_SHARE": "1"},
}
TESTS = """
import numpy, pytest
@pytest.mark.parametrize("n", range(60))
def test_product(n):
    a = numpy.random.default_rng(n).random((300, 300))
    assert abs(numpy.linalg.det(a @ numpy.linalg.inv(a)) - 1) < 1e-6
"""
LOKY = """
import numpy
from joblib import Parallel, delayed
def task(n):
    a = numpy.random.default_rng(n).random((400, 400))
    return float((a @ a)[0, 0])
for _ in range(4):
    Parallel(n_jobs=4, backend="loky")(delayed(task)(n) for n in range(40))
"""


def rows(build, folder, python):
    """[(name, command of a shell with RUN in the place of the runner)]"""
    bin_ = build / "bin"
    found = [
        ("make -j4, 16 short programs with OpenMP (NAS CG, class S)",
         f"for i in $(seq 16); do echo $i; done | xargs -P 4 -I N RUN {bin_}/nas-cg S >/dev/null"),
        ("4 processes of NAS MG, class W",
         f"for i in 1 2 3 4; do RUN {bin_}/nas-mg W >/dev/null & done; wait"),
    ]
    if (bin_ / "heat_mpi.openmpi").exists():
        found.append(("Open MPI, 4 ranks unbound, OpenMP in each (heat)",
                      "mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -n 4 RUN "
                      f"{bin_}/heat_mpi.openmpi --rows 2048 --columns 2048 --steps 60 --comm master >/dev/null"))
    if Path("/usr/bin/tesseract").exists() and Path("/usr/bin/convert-im6.q16").exists():
        page = folder / "page.png"
        words = "the quick brown fox jumps over lazy dogs while parallel programs share their processors".split()
        text = "\n".join(" ".join(words[(i * i + 3 * k * (i + 1)) % len(words)] for k in range(9)) for i in range(25))
        subprocess.run(["/usr/bin/convert-im6.q16", "-size", "1300x950", "xc:white", "-font", "DejaVu-Sans",
                        "-pointsize", "28", "-annotate", "+30+50", text, page], check=True)
        found.append(("4 Tesseracts, a page each",
                      f"for i in 1 2 3 4; do RUN /usr/bin/tesseract {page} {folder}/text$i >/dev/null 2>&1 & done; "
                      "wait"))
    if python:
        (folder / "test_products.py").write_text(TESTS)
        (folder / "loky.py").write_text(LOKY)
        found += [("joblib, 4 processes with NumPy", f"RUN {python} {folder}/loky.py"),
                  ("pytest-xdist, 4 processes with NumPy",
                   f"RUN {python} -m pytest -q -n 4 -p no:cacheprovider {folder}/test_products.py >/dev/null")]
    return found


def run(command, way, build):
    clean = {k: v for k, v in os.environ.items() if not re.match("(OMP|GOMP|OPENBLAS|PSTHREADS|LD)_", k)}
    runner = "" if way in (OWN, ONE) else str(build / "bin" / "psrun")
    start = time.monotonic()
    done = subprocess.run(["/bin/bash", "-c", command.replace("RUN", runner)], env={**clean, **WAYS[way]},
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"sharing_programs.py: {command} ({way}): {done.stderr.strip().splitlines()[-1:]}")
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", default="", help="regular expression: only rows whose name matches")
    parser.add_argument("--python")
    a = parser.parse_args()
    out = a.build / "bench" / "results"
    out.mkdir(parents=True, exist_ok=True)
    lines = [f"{harness.machine_line()}; medians of {a.rounds} rounds", "",
             f"{'seconds (times the speed of the own runtime)':60}" + "".join(f"{way:>18}" for way in WAYS)]
    with tempfile.TemporaryDirectory(prefix="sharing-") as folder:
        found = [r for r in rows(a.build.resolve(), Path(folder), a.python) if re.search(a.rows, r[0])]
        values = {}
        for this_round in range(a.rounds):
            for name, command in found:
                for way in WAYS:
                    values.setdefault((name, way), []).append(run(command, way, a.build.resolve()))
            say(f"round {this_round + 1} of {a.rounds}")
    for name, _ in found:
        middle = {way: statistics.median(values[name, way]) for way in WAYS}
        ratios = {way: statistics.median(o / v for o, v in zip(values[name, OWN], values[name, way])) for way in WAYS}
        lines.append(f"{name:60}" + "".join(f"{f'{middle[way]:.2f} ({ratios[way]:.2f})':>18}" for way in WAYS))
    lines.append(f"load {os.getloadavg()[0]:.1f} at the end")
    (out / "sharing-programs.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
