"""psthreads-2009, figure 7: parallel and barrier with one level of 8 threads, and with two levels of 8 x 8, on 8 cores.

The values are not in the text. Its statements are:
- with two levels parallel grows by more than an order of magnitude under GCC, ICC and OMPi on kernel threads;
- barrier grows for all of them;
- psthreads is best at both, with inner teams living on their parent's processor."""

PAPER = "psthreads-2009"
TITLE = "figure 7: one level and two"
SAID = ("paper (8 cores): on kernel threads, but for Sun's, two levels cost over 10 times one; psthreads is best at "
        "both")
PANELS = ["parallel", "barrier"]
NEEDS = {"8": PANELS, "8x8": PANELS}


def draw(panel, which, data, style):
    style.bars(panel, ["8", "8x8"], ["8", "8 x 8"], lambda config: data.get(config, {}).get(which, {}))
    panel.set_title(f"{TITLE}: {which}", loc="left", fontsize=10)
