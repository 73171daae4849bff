"""psthreads-2009, figure 8: loops with static and guided schedule (chunk 1), one level of 8 threads and two of 8 x 8,
on 8 cores.

The values are not in the text; its statements are: both grow substantially under ICC and considerably under GCC and
OMPi on kernel threads, while guided becomes cheaper with two levels under SUNCC and psthreads."""

PAPER = "psthreads-2009"
TITLE = "figure 8: loops"
SAID = "paper (8 cores): both schedules grow with two levels under kernel threads; guided gets cheaper on psthreads"
PANELS = ["static", "guided"]
NEEDS = {"8": PANELS, "8x8": PANELS}


def draw(panel, which, data, style):
    style.bars(panel, ["8", "8x8"], ["8", "8 x 8"], lambda config: data.get(config, {}).get(which, {}))
    panel.set_title(f"{TITLE}: {which}, chunk 1", loc="left", fontsize=10)
