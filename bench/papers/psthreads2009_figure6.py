"""psthreads-2009, figure 6: overheads of parallel and barrier at one level, from 8 to 64 threads, on 8 cores (4 Xeon
Paxville at 3 GHz).

The figure's values are not in the paper's text; its statements are: GCC, SUNCC and OMPi on kernel threads show
significant overheads, ICC is good up to 32 threads and unstable beyond, and only OMPi on psthreads grows linearly."""

PAPER = "psthreads-2009"
TITLE = "figure 6: one level, many threads"
SAID = ("paper (8 cores): kernel threads show significant overheads, ICC is good up to 32; only psthreads is linear "
        "to 64")
THREADS = [8, 16, 24, 32, 48, 64]
NEEDS = {str(n): ["parallel", "barrier"] for n in THREADS}
PANELS = ["parallel", "barrier"]


def draw(panel, which, data, style):
    panel.set_yscale("log")
    style.lines(panel, {n: found.get(which, {}) for n, found in data.items()}, f"{TITLE}: {which}", THREADS)
    panel.set_xlabel("threads in one team")
    panel.set_ylabel("overhead, microseconds")
