#!/usr/bin/python3
"""What does a trace cost, beside libomp with a tracer?

  bench/traces.py --build build [--rounds 15] [--keep]

In turns: each runtime without a trace, with the recorder of `psrun --trace` (a tool that any runtime with OMPT takes),
and with EZTrace's, where that is installed. Writes traces.txt; --keep: into bench/results."""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness
import verdict
from harness import OURS, json_lines, say

EZTRACE = Path("/usr/lib/x86_64-linux-gnu/libeztrace-ompt.so")


def variants(peers, build, folder):
    """(name, peer, environment, tracer)"""
    recorder = build / "lib" / "trace" / "libpsthreads-trace.so"
    for peer in peers.list:
        if peer.name == "libgomp":
            continue
        yield f"{peer.label}", peer, {}, None
        yield (f"{peer.label}, recorder", peer,
               {"OMP_TOOL_LIBRARIES": str(recorder), "PSTHREADS_RECORDING": str(folder / peer.name),
                "PSTHREADS_TRACE_LIMIT": "16M"}, "recorder")
        if EZTRACE.exists():
            yield (f"{peer.label}, EZTrace", peer,
                   {"OMP_TOOL_LIBRARIES": str(EZTRACE), "EZTRACE_TRACE_DIR": str(folder / f"ez-{peer.name}"),
                    "EZTRACE_TRACE": "ompt", "EZTRACE_NO_SIGNAL_HANDLER": "1"}, "EZTrace")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--rounds", default=15, type=int)
    parser.add_argument("--keep", action="store_true", help="write into bench/results")
    a = parser.parse_args()
    out = harness.ROOT / "bench" / "results" if a.keep else a.build / "bench" / "results"
    out.mkdir(parents=True, exist_ok=True)
    program = a.build / "bench" / "traces"
    peers = harness.Peers(a.build)
    machine = harness.machine_line()
    values, failed = {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        list_of = list(variants(peers, a.build.resolve(), folder))
        for round_ in range(a.rounds):
            for label, peer, environment, _ in list_of:
                if label in failed:
                    continue
                text, why = peer.run([program, "5", "2"], 120, environment)
                if why:
                    failed[label] = why
                    say(f"{label}: {why}")
                for row in json_lines(text):
                    values.setdefault(row["bench"], {}).setdefault(label, []).append(row["median"])
                for old in folder.glob("*.recording"):
                    old.unlink()
            say(f"[round {round_ + 1} of {a.rounds}]")
    lines = [f"{machine}; {a.rounds} rounds in turns, 2 threads",
             "Nanoseconds of one task, region or loop (bench/traces.c): the median of the rounds [its 95 % interval].",
             "Ratio: to the same runtime without a trace, the median of the rounds' ratios. The recorder is that of",
             "psrun --trace, with rings of 16 MB; EZTrace writes its trace while the program runs.", ""]
    for bench, by_label in values.items():
        lines.append(bench)
        for label, peer, _, tracer in list_of:
            if label not in by_label:
                continue
            middle, low, high = verdict.median_interval(dict(enumerate(by_label[label])))
            line = f"  {label:32} {middle:8.0f} [{low:.0f} {high:.0f}]"
            if tracer:
                pairs = zip(by_label[label], by_label[peer.label])
                line += f"   ratio {statistics.median(x / y for x, y in pairs):.2f}"
            lines.append(line)
        lines.append("")
    lines += [f"{label}: {why}" for label, why in failed.items()]
    (out / "traces.txt").write_text("\n".join(lines).rstrip() + "\n")
    say("\n".join(lines))


if __name__ == "__main__":
    main()
