"""balder-threads-2004, table 1: overheads in microseconds on two processors (Pentium III at 1 GHz), for the Intel
compiler 8.0 and for Balder on POSIX primitives alone and with its architecture support. Here the same two columns are
builds of this library: -DPS_PORTABLE=ON and the native one."""

PAPER = "balder-threads-2004"
TITLE = "table 1, two threads"
SAID = "paper (2 processors): the hatched bars are its numbers"
PANELS = ["parallel", "for", "barrier", "lock"]
NEEDS = {"2": PANELS}
PORTABLE = True
NUMBERS = {"Intel 8.0": {"parallel": 1.43, "for": 0.79, "barrier": 0.48, "lock": 0.48},
           "Balder, POSIX only": {"parallel": 27.15, "for": 10.59, "barrier": 11.14, "lock": 6.90},
           "Balder, native": {"parallel": 2.91, "for": 2.93, "barrier": 0.49, "lock": 0.47}}


def draw(panel, which, data, style):
    style.beside(panel, data.get("2", {}).get(which, {}), {name: v[which] for name, v in NUMBERS.items()}, "2004")
    panel.set_title(f"{TITLE}: {which}", loc="left", fontsize=10)
