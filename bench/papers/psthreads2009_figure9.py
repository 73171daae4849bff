"""psthreads-2009, figure 9: speed-up of face detection in an image of 355 x 237 pixels over one thread, by one
level of parallelism (the scales) and by two (each scale's rows too); T threads a level. The paper's machine:
four cores (Xeon X5355).

Of the values two are in the text, with T = 4 on psthreads: 2.97 with one level, 3.66 with two; at T = 2 the
other runtimes gain more from two levels, since 2 x 2 kernel threads use all four cores and two virtual
processors do not; with more threads contention grows under them."""

from harness import ROOT

PAPER = "psthreads-2009"
TITLE = "figure 9: face detection"
SAID = "paper (4 cores): psthreads with T = 4 reaches 2.97 with one level and 3.66, the most of all, with two"
PANELS = ["one level", "two levels"]
NUMBERS = {"one level": {4: 2.97}, "two levels": {4: 3.66}}
THREADS = range(1, 9)
NEEDS = {}
IMAGE = ROOT / "apps" / "facedetect" / "tests" / "astronaut.jpg"
PROGRAM = "facedetect"  # in bin/ of the build folder; a line of JSON has the value
VALUE = "speedup"
RUNS = {
    f"face detection, {which}, T = {n}": ["--bench", "--samples", 11, "--levels", levels, "--threads", n, IMAGE]
    for levels, which in enumerate(PANELS, 1)
    for n in THREADS
}


def draw(panel, which, data, style):
    for peer in style.peers:
        found = [(n, data.get(f"face detection, {which}, T = {n}", {}).get(VALUE, {}).get(peer.name)) for n in THREADS]
        style.line(panel, peer, [(n, value) for n, value in found if value is not None])
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
