#!/usr/bin/python3
"""Real programs under libgomp, libomp and psthreads, and under what a careful user sets by hand: one thread in each
library that is called by threads (under libgomp). The four take turns, round by round, and their results must agree.

programs.py [--build build] [--rounds 5] [--filter TEXT ...] [--beside N] [--before-others]
Prints a table: medians of the rounds, and how many times as long as psthreads (the median of the rounds' ratios). The
programs are those of tools/programs, which says how each is made ready; one that is not installed costs a line.
--beside N: while N processes compute beside them. --before-others: at the highest priority, for a machine that has
other things to do (root)."""

import argparse
import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools" / "programs"), str(ROOT / "bench")]
import harness
from catalogue import PROGRAMS
from entry import NotHere, Place, differs

HAND = "by hand"
ONE = {"OMP_NUM_THREADS": "1"}
INNER_ONE = {"OMP_NUM_THREADS": f"{len(os.sched_getaffinity(0))},1"}

# What is set by hand, for each program. The outer level keeps its threads where they are OpenMP's or the program's own.
BY_HAND = {
    "FFTW inside a loop": INNER_ONE,
    "FFTW inside a loop of three": INNER_ONE,
    "NumPy on OpenBLAS, thread pool": ONE,
    "xtb on OpenBLAS": {"OPENBLAS_NUM_THREADS": "1"},
    "Tesseract": {"OMP_THREAD_LIMIT": "1"},
    "OpenBLAS": {"OPENBLAS_NUM_THREADS": "1"},
    "FFTW": ONE,
    "ImageMagick": ONE,
    "R data.table": ONE,
    "Octave on OpenBLAS": ONE,
    "FastTree": ONE,
    "MOPAC": ONE,
    "mgcv": ONE,
    "GraphicsMagick": ONE,
    "Enblend": ONE,
    "BLIS": {"BLIS_NUM_THREADS": "1"},
}


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--filter", action="append", default=[], metavar="TEXT", help="only programs with such a name")
    parser.add_argument("--beside", type=int, default=0, metavar="N")
    parser.add_argument("--before-others", action="store_true")
    return parser.parse_args()


def run_once(program, place, peer, environment):
    """(seconds, results); NotHere says what went wrong."""
    with tempfile.TemporaryDirectory(prefix="programs-") as folder:
        env = peer.clean_environment({**program.environment, **environment, "LC_ALL": "C"})
        start = time.monotonic()
        running = subprocess.Popen(peer.command(program.command(place)), cwd=folder, env=env, process_group=0,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   text=True, errors="replace")
        try:
            out, _ = running.communicate(timeout=program.seconds)
        except subprocess.TimeoutExpired:
            raise NotHere(f"{peer.label}: not finished in {program.seconds} s") from None
        finally:  # also what a program that hung would leave behind
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        seconds = time.monotonic() - start
        if running.returncode:
            raise NotHere(f"{peer.label}: exit status {running.returncode}")
        timed = [line.split()[1] for line in out.splitlines() if line.startswith("time ")]
        return float(timed[0]) if timed else seconds, program.results(out, Path(folder))


def measure(program, place, peers, rounds):
    """{peer: seconds of each round}; NotHere where a result differs."""
    times, wanted = {peer.name: [] for peer in peers}, None
    for number in range(rounds):
        for peer in peers:
            seconds, results = run_once(program, place, peer, BY_HAND[program.name] if peer.name == HAND else {})
            wanted = wanted or results
            wrong = differs(results, wanted, program.tolerance)
            if wrong:
                raise NotHere(f"{peer.label}: {wrong}")
            times[peer.name].append(seconds)
        harness.say(f"    round {number + 1}: " + "  ".join(f"{name} {t[-1]:.2f}" for name, t in times.items()))
    return times


def line_of(program, times):
    ours = times[harness.OURS]
    cells = ""
    for name, seconds in times.items():
        ratio = statistics.median(theirs / own for theirs, own in zip(seconds, ours))
        cells += f"{statistics.median(seconds):9.2f}" + (f" {ratio:6.2f}x" if name != harness.OURS else "")
    hand = " ".join(f"{name}={value}" for name, value in BY_HAND[program.name].items())
    return f"{program.name:34}{cells}   {hand}"


def main():
    a = read_arguments()
    machine = harness.machine_line()
    if a.before_others:
        harness.go_before_others()
        machine += ", before all other programs"
    held = harness.Peers(a.build)
    gnu = held.list[0]
    held.list.insert(-1, harness.Peer(HAND, "one thread a library", gnu.environment))
    beside = f", beside {a.beside} processes that compute" if a.beside else ""
    head = "".join(f"{peer.label[:16]:>17}" for peer in held.list[:-1])
    print(f"{machine}; medians of {a.rounds} rounds{beside}\n")
    print(f"{'seconds; how many times ours':34}{head}{harness.OURS:>11}   set by hand", flush=True)
    for program in PROGRAMS:
        if program.name not in BY_HAND or (a.filter and not any(f.lower() in program.name.lower() for f in a.filter)):
            continue
        harness.say(program.name)
        inputs = Path(tempfile.mkdtemp(prefix="programs-"))
        try:
            place = Place(inputs, a.build / "programs" / "venv", None)
            program.prepare(place)
            with harness.computing(a.beside):
                times = measure(program, place, held.list, a.rounds)
            print(line_of(program, times), flush=True)
        except NotHere as why:
            print(f"{program.name:34}  not measured: {why}", flush=True)
        finally:
            shutil.rmtree(inputs)


if __name__ == "__main__":
    main()
