#!/usr/bin/python3
"""Measures the constructs, tasks and the threads library beside their peers; writes results.json, table.txt and
plot.png.

  bench/run.py                              everything, into build/bench/results
  bench/run.py --only epcc --configs 2 4x4  a part
  bench/run.py --peer bolt=/opt/bolt/lib/libbolt.so --peer libomp=/usr/lib/llvm-14/lib/libomp.so.5

A peer is a shared object that answers GCC's entry points; it is run in libgomp's place under the same binary."""

import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness
from harness import Peer, Progress, json_lines, say

PARTS = ["epcc", "fib", "threads"]


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--out", type=Path, help="results folder (default: BUILD/bench/results)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--configs", nargs="+", default=["2", "2x2", "4x4", "8x8"], help="4: flat; 4x8: nested")
    parser.add_argument("--constructs", help="a,b,...: only these (epcc_nested --list names them)")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=90, help="time limit of one run")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=LIBRARY")
    parser.add_argument("--baseline", action="store_true",
                        help="our core on kernel threads as well (psrun --ee pthreads)")
    return parser.parse_args()


def summarize(values, unit):
    return {"median": statistics.median(values), "ci95": harness.interval95(values), "unit": unit, "values": values}


def run_named(peers, program, arguments, repetitions, seconds):
    """{bench name: {peer: summary or failed}} of a program that prints {"bench", "unit", "median"} lines."""
    raw, failed = {}, {}
    progress = Progress(repetitions * len(peers))
    for repetition in range(repetitions):
        for peer in peers:
            progress.step(f"{Path(program).name}, {peer.label} ({repetition + 1} of {repetitions})")
            if peer.name in failed:
                continue
            out, why = peer.run([program, *arguments], seconds)
            if why:
                failed[peer.name] = why
                say(f"          {peer.label}: {why}")
            for row in json_lines(out):
                raw.setdefault(row["bench"], {}).setdefault(peer.name, (row["unit"], []))[1].append(row["median"])
    result = {bench: {name: summarize(v, unit) for name, (unit, v) in by_peer.items()}
              for bench, by_peer in raw.items()}
    for name, why in failed.items():
        result.setdefault(Path(program).name, {})[name] = {"failed": why}
    return result


def named_text(result):
    lines = []
    for bench, by_peer in result.items():
        for name, s in by_peer.items():
            value = s.get("failed") or harness.with_interval(s["median"], s["ci95"]) + " " + s["unit"]
            lines.append(f"  {bench + (' (' + name + ')' if name else ''):58} {value}")
    return "\n".join(lines) + "\n"


def main():
    a = read_arguments()
    out = a.out or a.build / "bench" / "results"
    out.mkdir(parents=True, exist_ok=True)
    programs = a.build / "bench"
    machine = harness.machine_line()
    say(machine)
    peers = harness.Peers(a.build, a.peer, a.baseline)
    peers.check(programs / "epcc_nested")
    results, text = {"machine": machine, "peers": {p.name: p.label for p in peers.list}}, machine + "\n\n"
    if "epcc" in a.only:
        options = ["--samples", str(a.samples)] + (["--constructs", a.constructs] if a.constructs else [])
        table, failures = harness.run_epcc(peers.list, programs / "epcc_nested", a.configs, a.repetitions, options,
                                           a.seconds)
        results["epcc"], results["epcc_failures"] = table, failures
        text += harness.epcc_text(table, peers.list, failures) + "\n"
    if "fib" in a.only:
        results["fib"] = run_named(peers.list, programs / "fib_task", ["22"], a.repetitions, a.seconds)
        text += "tasks: fib(22), a task a call\n" + named_text(results["fib"]) + "\n"
    if "threads" in a.only:
        alone = [Peer("", "libpsthreads")]
        results["threads"] = {}
        for program in ("psthreads_switch", "psthreads_create", "psthreads_memory"):
            results["threads"].update(run_named(alone, programs / program, [], a.repetitions, a.seconds))
        text += "the threads library and its twins on kernel threads\n" + named_text(results["threads"])
    (out / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    (out / "table.txt").write_text(text)
    if "epcc" in results:
        try:
            import plot
            plot.draw(results["epcc"], peers.list, machine, out / "plot.png")
        except ImportError:
            say("no plot: python3-matplotlib is not there")
    print(text, end="")
    say(f"written: results.json, table.txt, plot.png in {out}")


if __name__ == "__main__":
    main()
