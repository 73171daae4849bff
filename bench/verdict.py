"""From the runs' values to a verdict: ratios with intervals.

Values are {round: value}. In a round the peers run one after another, and rounds are far apart in time. The machine's
state is the same within most rounds, and another from round to round: two processors that are one core's or two cores',
the neighbours. So two peers are compared round by round: the ratio is the median of the rounds' ratios. The interval is
the bootstrap's: medians of the rounds drawn again, with a fixed seed, so that the same values give the same verdict.
95% of the draws lie inside."""

import random
import statistics

DRAWS = 1000
RESOLUTION = {"us": 0.002}  # what lies below is the clock and the neighbours
MET, MISSED, NOISE, ABSENT = "met", "not met", "noise", "-"


def interval(draws):
    draws = sorted(draws)
    return draws[int(0.025 * len(draws))], draws[min(len(draws) - 1, int(0.975 * len(draws)))]


def median(values):
    return statistics.median(values.values())


def median_interval(values):
    """(median, low, high)"""
    values = [values[k] for k in sorted(values)]
    if len(values) == 1:
        return values[0], values[0], values[0]
    r = random.Random(1)
    low, high = interval([statistics.median(r.choices(values, k=len(values))) for _ in range(DRAWS)])
    return statistics.median(values), low, high


def ratio_interval(above, below, unit=""):
    """How many times `above` is `below`: (ratio, low, high); None where both are too small to be compared, or no round
    has both."""
    least = RESOLUTION.get(unit, 0)
    both = sorted(set(above) & set(below))
    if not both or (median(above) <= least and median(below) <= least):
        return None
    return median_interval({k: max(above[k], least, 1e-9) / max(below[k], least, 1e-9) for k in both})


def judge(ratio, wanted):
    """ratio: (value, low, high), at least `wanted` is the goal."""
    if ratio is None:
        return NOISE
    return MET if ratio[1] >= wanted else MISSED if ratio[2] < wanted else NOISE


def worst(verdicts):
    for v in (MISSED, NOISE, MET):
        if v in verdicts:
            return v
    return ABSENT


def enough_of(verdicts, least):
    """The verdict where `least` of them must hold."""
    if sum(v == MET for v in verdicts) >= least:
        return MET
    return NOISE if sum(v in (MET, NOISE) for v in verdicts) >= least else MISSED


def line_through(points):
    """(a, b, largest relative distance of a point from a + b x); the line goes nearest in relative terms."""
    weights = [(1 / y if y > 0 else 0) ** 2 for _, y in points]
    sw = sum(weights)
    mx = sum(w * x for w, (x, _) in zip(weights, points)) / sw
    my = sum(w * y for w, (_, y) in zip(weights, points)) / sw
    b = (sum(w * (x - mx) * (y - my) for w, (x, y) in zip(weights, points))
         / sum(w * (x - mx) ** 2 for w, (x, _) in zip(weights, points)))
    a = my - b * mx
    return a, b, max(abs(y - a - b * x) / y for x, y in points if y > 0)
