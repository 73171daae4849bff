"""nthlib-2004, figure 4: speed-ups of four programs of the workqueueing model, translated by an experimental translator
to NthLib, on four processors (Pentium III at 550 MHz): BlockLU and Raytrace (SPLASH-2), FFT and Queens (Su et al.,
EWOMP 2002).

Here the programs of apps/workqueue, of one source each: by psthreads-taskqc on libpsthreads, and as OpenMP tasks
(psthreads-taskqc --openmp) under each runtime. The base is the sequential twin, run in turns with it by the same
process.

The values are not in the text, which says only that the programs run on the model's implementation; the figure's bars
show them scale."""

import statistics
import time

from harness import OURS, ROOT, Peer, json_lines, number, say

PAPER = "nthlib-2004"
TITLE = "figure 4, workqueueing"
SAID = "paper (4 processors): the workqueueing model runs on NthLib's threads and ready queues; its programs scale"
PANELS = ["2", "4"]
SCENE = ROOT / "apps" / "workqueue" / "scenes" / "flake.scene"
PROGRAMS = {"blocklu": ("BlockLU", ["--size", "768", "--block", "32"]),
            "raytrace": ("Raytrace", ["--compare", "--size", "320x240", SCENE]),
            "fft": ("FFT", ["--log2", "19"]), "queens": ("Queens", ["--size", "12", "--depth", "4"])}
DIRECT = Peer("libpsthreads", "libpsthreads")  # a translated program calls it: no OpenMP runtime is there
DIRECT_COLOUR = "#1B7F5C"


def speed_up(a, peer, name, threads):
    """(speed-up, None) or (None, why)."""
    program = a.build / "bin" / (f"wq-{name}" if peer is DIRECT else f"wq-{name}-omp")
    out, why = peer.run([program, "--json", "--samples", "3", "--threads", threads, *PROGRAMS[name][1]],
                        max(a.seconds, 120))
    if why:
        return None, why
    row = json_lines(out)[0]
    return row["serial"] / row["median"], None


def measure(a, peers):
    """{threads: {program: {peer: [speed-up, ...]}}}"""
    found, failed, start = {}, set(), time.monotonic()
    if not (a.build / "bin" / "wq-queens").exists():
        say("figure 4: there is no wq-queens (tools/install-deps apps installs libclang-19-dev, which it needs)")
        return found
    for this_round in range(a.rounds):
        if time.monotonic() - start > a.minutes * 60 / 3:
            break
        for threads in PANELS:
            for name in PROGRAMS:
                for peer in [*peers, DIRECT]:
                    if (threads, name, peer.name) in failed or not (a.build / "bin" / f"wq-{name}").exists():
                        continue
                    value, why = speed_up(a, peer, name, threads)
                    say(f"[round {this_round + 1} of {a.rounds}, {time.monotonic() - start:4.0f} s] {name}, {threads} "
                        f"threads, {peer.label}: "
                        + (why or f"{value:.2f} times the sequential"))
                    if why:
                        failed.add((threads, name, peer.name))
                    else:
                        found.setdefault(threads, {}).setdefault(name, {}).setdefault(peer.name, []).append(value)
    return found


def draw(panel, which, data, style):
    found = data[__name__].get(which, {})
    peers = [p for p in [*style.peers, DIRECT] if any(p.name in by_peer for by_peer in found.values())]
    width, handle = 0.8 / max(1, len(peers)), None
    for k, peer in enumerate(peers):
        for x, name in enumerate(PROGRAMS):
            values = found.get(name, {}).get(peer.name)
            if not values:
                continue
            at, value = x + (k - (len(peers) - 1) / 2) * width, statistics.median(values)
            direct = peer is DIRECT
            bar = panel.bar(at, value, width * 0.92, color=DIRECT_COLOUR if direct else style.colour(peer),
                            label=peer.label if x == 0 else None)
            handle = bar if direct else handle
            panel.text(at, value * 1.02, number(value), ha="center", fontsize=6, weight="bold" if peer.name == OURS
                       or direct else "normal")
    panel.axhline(1, color="#888888", linewidth=0.8)
    panel.margins(y=0.2)
    panel.set_xticks(range(len(PROGRAMS)), [label for label, _ in PROGRAMS.values()])
    panel.set_ylabel("speed-up")
    if handle:
        panel.legend([handle], [f"taskq on {DIRECT.label}"], fontsize=8, frameon=False, loc="upper right")
    panel.set_title(f"{TITLE}: {which} threads", loc="left", fontsize=10)
