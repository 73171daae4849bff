"""nthlib-2004, figure 5: speed-ups of PCURE's update phase. Both loops are parallel with schedule(static,10) and 2 or 4
threads each; there is a workqueueing version as well. 5000 image descriptors of dimension 24, one representative, 4000
steps, on four processors (Pentium III at 550 MHz). Here the same problem: the input is made by
apps/pcure/descriptors.py, the base is the sequential update phase in the same round.

The values are not in the text; its statements are: the application scales on NthLib only, work queues are slightly
better there, and the Intel and Omni compilers lose again with 4 threads a loop what they gain with 2."""

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from harness import OURS, ROOT, json_lines, number, say

PAPER = "nthlib-2004"
TITLE = "figure 5, PCURE's update phase"
SAID = "paper (4 processors): scales on NthLib only; others lose with 4 threads a loop; work queues are slightly better"
PANELS = ["2", "4"]
VARIANTS = {"nested": "two nested loops", "tasks": "work queues"}
STEPS, POINTS, SECONDS = 4000, 5000, 120


def make_input(path):
    """The descriptors, or points in spheres where the images or what reads them are not there."""
    folder = ROOT / "apps" / "pcure"
    if subprocess.run([folder / "descriptors.py", "--points", str(POINTS), path]).returncode:
        say("figure 5: points in spheres in place of image descriptors")
        subprocess.run([folder / "spheres.py", "--points", str(POINTS), path], check=True)


def update_seconds(a, peer, variant, threads, path):
    """(seconds, None) or (None, why). What pcure says of its times stands on standard error."""
    options = ["--variant", variant, "--threads", threads, "--inner", threads if variant == "nested" else 1]
    options += ["--representatives", 1, "--shrink", 1, "--outliers", "keep", "--k", POINTS - STEPS]
    command = ["sh", "-c", 'exec "$@" 2>&1 >/dev/null', "sh", a.build / "bin" / "pcure", "--times", *options, path]
    out, why = peer.run(command, max(a.seconds, SECONDS))
    return (None, why) if why else (json_lines(out)[0]["update_s"], None)


def measure(a, peers):
    """{threads: {variant: {peer: [speed-up, ...]}}}"""
    found, failed, start = {}, set(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pcure-") as folder:
        path = Path(folder) / "descriptors.npy"
        make_input(path)
        for this_round in range(a.rounds):
            if time.monotonic() - start > a.minutes * 60 / 3:
                break
            base, why = update_seconds(a, peers[0], "sequential", 1, path)
            if why:
                say(f"figure 5: pcure, sequential: {why}")
                break
            for threads in PANELS:
                for variant in VARIANTS:
                    for peer in peers:
                        if (threads, variant, peer.name) in failed:
                            continue
                        seconds, why = update_seconds(a, peer, variant, threads, path)
                        text = why or f"{seconds:.2f} s, {base / seconds:.2f} times the sequential"
                        say(f"[round {this_round + 1} of {a.rounds}, {time.monotonic() - start:4.0f} s] "
                            f"pcure {variant}, {threads} threads a loop, {peer.label}: {text}")
                        if why:
                            failed.add((threads, variant, peer.name))
                            continue
                        by_peer = found.setdefault(threads, {}).setdefault(variant, {})
                        by_peer.setdefault(peer.name, []).append(base / seconds)
    return found


def draw(panel, which, data, style):
    found = data[__name__].get(which, {})
    peers = [p for p in style.peers if any(p.name in by_peer for by_peer in found.values())]
    width = 0.8 / max(1, len(peers))
    for k, peer in enumerate(peers):
        for x, variant in enumerate(VARIANTS):
            values = found.get(variant, {}).get(peer.name)
            if values:
                at, value = x + (k - (len(peers) - 1) / 2) * width, statistics.median(values)
                panel.bar(at, value, width * 0.92, color=style.colour(peer), label=peer.label if x == 0 else None)
                weight = "bold" if peer.name == OURS else "normal"
                panel.text(at, value * 1.03, number(value), ha="center", fontsize=7, weight=weight)
    panel.axhline(1, color="#888888", linewidth=0.8)
    panel.set_yscale("log")
    panel.margins(y=0.15)
    panel.set_xticks(range(len(VARIANTS)), list(VARIANTS.values()))
    panel.set_ylabel("speed-up, logarithmic")
    panel.set_title(f"{TITLE}: {which} threads a loop", loc="left", fontsize=10)
