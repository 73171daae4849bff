"""nthlib-2004, figure 2: parallel and for, as threads grow past the four processors (Pentium III at 550 MHz), for two
compilers, each with its own runtime on kernel threads and with NthLib. Here: one core on kernel threads (psrun --ee
pthreads) and on user-level threads, and today's runtimes.

The values are not in the text. Its statements are:
- parallel costs less on NthLib with either compiler;
- for costs more under native OMPi's blocking barrier up to the number of processors;
- for costs much more under native Omni's busy-waiting barrier beyond that number."""

PAPER = "nthlib-2004"
TITLE = "figure 2"
SAID = ("paper (4 processors): parallel is cheaper on NthLib; past the processors a busy-waiting barrier makes for "
        "much dearer")
PANELS = ["parallel", "for"]
THREADS = [1, 2, 4, 8]
NEEDS = {str(n): PANELS for n in THREADS}


def draw(panel, which, data, style):
    panel.set_yscale("log")
    panel.set_xscale("log", base=2)
    style.lines(panel, {n: found.get(which, {}) for n, found in data.items()}, f"{TITLE}: {which}", THREADS,
                [str(n) for n in THREADS])
    panel.set_ylabel("overhead, microseconds")
