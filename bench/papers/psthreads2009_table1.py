"""psthreads-2009, table 1: parallel and for with 4 tasks of 4 threads each, on 4 cores (Xeon X5355 at 2.66 GHz), in
microseconds."""

PAPER = "psthreads-2009"
TITLE = "table 1: nested 4 x 4"
SAID = "paper (4 cores): the hatched bars are its numbers"
PANELS = ["parallel", "for"]
NEEDS = {"4x4": PANELS}
NUMBERS = {"GCC 4.2": {"parallel": 553.24, "for": 21.39}, "Sun Studio 12": {"parallel": 38.63, "for": 14.86},
           "Intel 10.0": {"parallel": 60.81, "for": 8.35}, "OMPi on psthreads": {"parallel": 3.51, "for": 3.65}}


def draw(panel, which, data, style):
    style.beside(panel, data.get("4x4", {}).get(which, {}), {name: v[which] for name, v in NUMBERS.items()}, "2009")
    panel.set_title(f"{TITLE}: {which}", loc="left", fontsize=10)
