#!/usr/bin/python3
"""What do thread-local blocks cost? Regions and barriers of empty members with a block for each member, as they are by
default, beside members that share their kernel thread's (PSTHREADS_TLS=never).

  bench/blocks.py [--rounds 9] [--peer bolt=LIBRARY]

The two run in turns with the peers; a ratio is the median of the rounds' ratios. Before them stands what one write of
the thread pointer takes on this processor (thread_pointer.c). The second table has the same without peers on one
virtual processor. It also says how often a construct writes the thread pointer there (pointer_writes.c), and what
blocks cost beyond those writes. The last number is the share of what remains above the time without blocks and the
writes' time. A region of n members needs n writes, a barrier n - 1; teams that share the processor go through their
barriers at the same time, so their writes are added up. Text on standard output."""

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
ONE = {"PSTHREADS_NUM_VPS": "1"}
TRIES, SECONDS = 5, 5  # of the writes' count


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=harness.ROOT / "build", type=Path, help="build folder (default: build)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=LIBRARY")
    a = parser.parse_args()
    if a.rounds < 1:
        parser.error("--rounds: want at least 1")
    return a


def measure(a, ours, runs):
    """({(config, construct): {runtime: [us of each round]}}, whether ours ended well each time). runs: name, peer and
    environment."""
    found, right = {}, True
    program = a.build / "bench" / "epcc_nested"
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


def count_writes(a, ours, config, construct):
    """How often the construct writes the thread pointer on one virtual processor; None: it cannot be counted here. The
    most of some tries: to the watchdog a thread that goes step by step stands still, and another one runs its members,
    uncounted."""
    outer, _, inner = config.rpartition("x")
    kind = "inner" if outer and construct == "parallel" else construct
    teams = int(outer) if outer and construct == "barrier" else 1
    counted = []
    for _ in range(min(TRIES, a.rounds)):
        out, why = ours.run([a.build / "bench" / "pointer_writes", kind, inner], SECONDS,
                            {**ONE, "PSTHREADS_TLS": "always"})
        rows = json_lines(out)
        if not why and rows:
            counted.append(rows[0]["mean"])
    return max(counted) * teams if counted else None


def say_writes(a, ours, write_ns):
    """The second table; whether all ended well."""
    found, right = measure(a, ours, [(OURS, ours, ONE), (SHARED, ours, {**ONE, "PSTHREADS_TLS": "never"})])
    print(f"\none virtual processor\n\n{'':22}{'blocks':>10}{SHARED:>12}{'writes':>8}{'they take':>11}{'beyond':>8}")
    for (config, construct), values in found.items():
        ones, shared = values.get(OURS, []), values.get(SHARED, [])
        writes = count_writes(a, ours, config, construct)
        if not ones or not shared:
            continue
        line = f"{config + ' ' + construct:22}{statistics.median(ones):10.3f}{statistics.median(shared):12.3f}"
        if writes is not None:
            beyond = statistics.median(x / (y + writes * write_ns / 1000) - 1 for x, y in zip(ones, shared))
            line += f"{writes:8.0f}{writes * write_ns / 1000:11.3f}{100 * beyond:7.0f}%"
        print(line, flush=True)
    return right


def main():
    a = read_arguments()
    print(harness.machine_line())
    pointer, why = harness.Peer("pointer", "").run([a.build / "bench" / "thread_pointer"], 20, bare=True)
    write_ns = next((row["median"] for row in json_lines(pointer)), None)
    if write_ns is not None:
        print(f"a write of the thread pointer: {write_ns:.1f} ns")
    if why:
        print(f"a write of the thread pointer: {why}")
    peers = harness.Peers(a.build, a.peer)
    peers.check(a.build / "bench" / "epcc_nested")
    ours = next(p for p in peers.list if p.name == OURS)
    runs = [(p.name, p, {}) for p in peers.list] + [(SHARED, ours, {"PSTHREADS_TLS": "never"})]
    found, right = measure(a, ours, runs)
    others = [p for p in peers.list if p.name != OURS]
    print(f"medians of {a.rounds} rounds in turns, us\n")
    print(f"{'':22}{'blocks':>10}{SHARED:>12}{'ratio':>8}" + "".join(f"{p.label:>14}{'ratio':>8}" for p in others))
    for (config, construct), values in found.items():
        ones, shared = values.get(OURS, []), values.get(SHARED, [])
        if not ones or not shared:
            continue
        line = f"{config + ' ' + construct:22}{statistics.median(ones):10.3f}{statistics.median(shared):12.3f}"
        line += f"{ratio(ones, shared):>8}"
        for peer in others:
            theirs = values.get(peer.name, [])
            line += f"{statistics.median(theirs):14.3f}{ratio(theirs, ones):>8}" if theirs else f"{'-':>14}{'-':>8}"
        print(line, flush=True)
    if write_ns is not None:
        right = say_writes(a, ours, write_ns) and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
