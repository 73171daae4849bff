"""psthreads-2009, figure 9: speed-up of face detection in an image of 355 x 237 pixels over one thread, by one
level of parallelism (the scales) and by two (each scale's rows too); T threads a level. The paper's machine:
four cores (Xeon X5355).

Of the values two are in the text, with T = 4 on psthreads: 2.97 with one level, 3.66 with two. At T = 2 the
other runtimes gain more from two levels: 2 x 2 kernel threads use all four cores, and two virtual processors do
not. With more threads contention grows under them."""

import statistics
import time

from harness import ROOT, json_lines, say

PAPER = "psthreads-2009"
TITLE = "figure 9: face detection"
SAID = "paper (4 cores): psthreads with T = 4 reaches 2.97 with one level and 3.66, the most of all, with two"
PANELS = ["one level", "two levels"]
NUMBERS = {"one level": {4: 2.97}, "two levels": {4: 3.66}}
THREADS = range(1, 9)
IMAGE = ROOT / "apps" / "facedetect" / "tests" / "astronaut.jpg"


def measure(a, peers):
    """{panel: {threads: {peer: [speed-up, ...]}}}"""
    found, failed, start = {}, set(), time.monotonic()
    program = a.build / "bin" / "facedetect"
    if not program.exists():
        say("figure 9: there is no facedetect (tools/install-deps apps installs libpng-dev and libjpeg62-turbo-dev, "
            "which it needs)")
        return found
    for this_round in range(a.rounds):
        if time.monotonic() - start > a.minutes * 60 / 3:
            break
        for levels, panel in enumerate(PANELS, 1):
            for n in THREADS:
                for peer in peers:
                    if (panel, n, peer.name) in failed:
                        continue
                    out, why = peer.run([program, "--bench", "--samples", 11, "--levels", levels, "--threads", n,
                                         IMAGE], a.seconds)
                    if why:
                        failed.add((panel, n, peer.name))
                    for row in json_lines(out):
                        found.setdefault(panel, {}).setdefault(str(n),
                                                               {}).setdefault(peer.name, []).append(row["speedup"])
                say(f"[round {this_round + 1} of {a.rounds}, {time.monotonic() - start:4.0f} s] face detection, "
                    f"{panel}, {n} threads")
    return found


def draw(panel, which, data, style):
    found = data[__name__].get(which, {})
    for peer in style.peers:
        style.line(panel, peer, [(n, statistics.median(found[str(n)][peer.name])) for n in THREADS
                                 if peer.name in found.get(str(n), {})])
    for n, value in NUMBERS[which].items():
        panel.plot([n], [value], marker="*", markersize=11, color="#888888", linestyle="none")
        panel.annotate("psthreads (2009, 4 cores)", (n, value),
                       textcoords="offset points",
                       xytext=(8, -3),
                       fontsize=8,
                       color="#555555")
    panel.set_ylim(bottom=0)
    panel.set_xticks(list(THREADS))
    panel.set_xlabel("threads of a level")
    panel.set_ylabel("speed-up, more is better")
    panel.set_title(f"{TITLE}, {which}", loc="left", fontsize=10)
