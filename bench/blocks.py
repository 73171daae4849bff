#!/usr/bin/python3
"""What do thread-local blocks cost? Regions and barriers of empty members with a block for each member, as they are by
default, beside members that share their kernel thread's (PSTHREADS_TLS=never).

  bench/blocks.py [--rounds 9] [--peer bolt=LIBRARY]

The two run in turns with the peers; a ratio is the median of the rounds' ratios. Before them stands what one write of
the thread pointer takes on this processor (thread_pointer.c): a member that its parent calls needs one, and a region
one more. Text on standard output."""

import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import harness
from harness import OURS, json_lines, say

CONFIGS = {"2": ["parallel", "barrier"], "8": ["parallel", "barrier"], "64": ["parallel", "barrier"],
           "2x2": ["parallel", "barrier"], "4x4": ["parallel", "barrier"], "8x8": ["parallel", "barrier"]}
SHARED = "no blocks"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=LIBRARY")
    a = parser.parse_args()
    if a.rounds < 1:
        parser.error("--rounds: want at least 1")
    return a


def measure(a, peers):
    """({(config, construct): {runtime: [us of each round]}}, whether ours ended well each time)"""
    found, right = {}, True
    program = a.build / "bench" / "epcc_nested"
    ours = next(p for p in peers.list if p.name == OURS)
    runs = [(p.name, p, {}) for p in peers.list] + [(SHARED, ours, {"PSTHREADS_TLS": "never"})]
    for this_round in range(a.rounds):
        for config, constructs in CONFIGS.items():
            for name, peer, environment in runs:
                out, why = peer.run([program, "--samples", 9, "--sample-us", 500, "--constructs", ",".join(constructs),
                                     config], 60, environment)
                if why:
                    say(f"{name}, {config}: {why}")
                    right = right and peer is not ours
                for row in json_lines(out):
                    found.setdefault((config, row["construct"]), {}).setdefault(name, []).append(row["median_us"])
        say(f"round {this_round + 1} of {a.rounds}")
    return found, right


def ratio(ones, others):
    pairs = [x / y for x, y in zip(ones, others) if y > 0]
    return f"{statistics.median(pairs):.2f}" if pairs else "-"


def main():
    a = read_arguments()
    print(harness.machine_line())
    pointer, why = harness.Peer("pointer", "").run([a.build / "bench" / "thread_pointer"], 20, bare=True)
    for row in json_lines(pointer):
        print(f"a write of the thread pointer: {row['median']:.1f} ns")
    if why:
        print(f"a write of the thread pointer: {why}")
    peers = harness.Peers(a.build, a.peer)
    peers.check(a.build / "bench" / "epcc_nested")
    found, right = measure(a, peers)
    others = [p for p in peers.list if p.name != OURS]
    print(f"medians of {a.rounds} rounds in turns, us\n")
    print(f"{'':22}{'blocks':>10}{SHARED:>12}{'ratio':>8}" + "".join(f"{p.label:>14}{'ratio':>8}" for p in others))
    for (config, construct), values in found.items():
        ours, shared = values.get(OURS, []), values.get(SHARED, [])
        if not ours or not shared:
            continue
        line = f"{config + ' ' + construct:22}{statistics.median(ours):10.3f}{statistics.median(shared):12.3f}"
        line += f"{ratio(ours, shared):>8}"
        for peer in others:
            theirs = values.get(peer.name, [])
            line += f"{statistics.median(theirs):14.3f}{ratio(theirs, ours):>8}" if theirs else f"{'-':>14}{'-':>8}"
        print(line)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
