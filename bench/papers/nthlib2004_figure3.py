"""nthlib-2004, figure 3: speed-ups of NAS CG, FT, LU and MG over their sequential versions, one level of parallelism,
up to four processors (Pentium III at 550 MHz). Here class W, each program's own timed part; the base is one thread
under libgomp in the same round.

The values are not in the text; its statement is: despite their different overheads, all runtimes give very similar
times."""

import statistics
import time

from harness import json_lines, say

PAPER = "nthlib-2004"
TITLE = "figure 3, NAS class W"
SAID = "paper (4 processors): all runtimes give very similar times"
PANELS = ["cg", "ft", "lu", "mg"]
THREADS = [1, 2, 4]
BASE = "libgomp"


def measure(a, peers):
    """{program: {threads: {peer: [speed-up, ...]}}}"""
    found, failed, start = {}, set(), time.monotonic()
    for this_round in range(a.rounds):
        if time.monotonic() - start > a.minutes * 60 / 3:
            break
        for program in PANELS:
            seconds = {}
            for threads in THREADS:
                for peer in peers:
                    if (program, threads, peer.name) in failed:
                        continue
                    command = [a.build / "bin" / f"nas-{program}", "--threads", threads, "--json", "W"]
                    out, why = peer.run(command, a.seconds)
                    for row in json_lines(out) if not why else []:
                        seconds[threads, peer.name] = row["seconds"]
                    if why:
                        failed.add((program, threads, peer.name))
                    say(f"[round {this_round + 1} of {a.rounds}, {time.monotonic() - start:4.0f} s] nas-{program} W, "
                        f"{threads} threads, {peer.label}: {why or seconds.get((threads, peer.name))}")
            for (threads, name), value in seconds.items() if (1, BASE) in seconds else []:
                by_peer = found.setdefault(program, {}).setdefault(str(threads), {})
                by_peer.setdefault(name, []).append(seconds[1, BASE] / value)
    return found


def draw(panel, which, data, style):
    found = data[__name__].get(which, {})
    for peer in style.peers:
        there = [n for n in THREADS if peer.name in found.get(str(n), {})]
        points = [(n, statistics.median(found[str(n)][peer.name])) for n in there]
        style.line(panel, peer, points)
    panel.set_xticks(THREADS, [str(n) for n in THREADS])
    panel.set_ylim(bottom=0)
    panel.set_xlabel("threads")
    panel.set_ylabel("speed-up")
    panel.set_title(f"{TITLE}: {which.upper()}", loc="left", fontsize=10)
