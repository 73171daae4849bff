"""Draws the constructs' costs: a panel a configuration, a group of bars a construct, a bar a runtime, logarithmic
scale."""

from harness import OURS, RESOLUTION_US, config_name, number, ratio, ratio_text

# Okabe and Ito's palette: told apart by everybody. Ours is the one dark bar.
COLOURS = {"libgomp": "#E69F00", "libomp": "#56B4E9", "bolt": "#CC79A7", "pthreads": "#999999", OURS: "#0B3C5D"}
SPARE = ["#F0E442", "#D55E00", "#009E73"]


def colour(name, others):
    if name in COLOURS:
        return COLOURS[name]
    unknown = [n for n in others if n not in COLOURS]
    return SPARE[unknown.index(name) % len(SPARE)]


def draw(table, peers, machine, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [p.name for p in peers]
    configs = list(table)
    rows = max(len(constructs) for constructs in table.values())
    figure, panels = plt.subplots(1, len(configs),
                                  figsize=(1.0 + 5.0 * len(configs), 1.8 + 0.21 * rows * (len(peers) + 1)),
                                  sharey=True, squeeze=False)
    for panel, config in zip(panels[0], configs):
        draw_panel(panel, table[config], peers, names, config_name(config))
    figure.suptitle("What an OpenMP construct costs: one GCC-built program, unchanged, under each runtime", x=0.01,
                    ha="left",
                    fontsize=14, weight="bold")
    figure.text(0.01, 0.012,
                f"Overhead in microseconds, logarithmic, less is better; in brackets: how many times ours. {machine}",
                fontsize=8, color="#555555")
    figure.tight_layout(rect=(0, 0.025, 1, 0.985))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_panel(panel, constructs, peers, names, title):
    height = 1.0 / (len(peers) + 1)
    values = [v["us"] for cell in constructs.values() for v in cell.values() if "us" in v]
    top = max(values + [1.0])
    panel.set_xscale("log")
    panel.set_xlim(RESOLUTION_US, top * 14)
    for row, (construct, cell) in enumerate(constructs.items()):
        for k, peer in enumerate(peers):
            y = row + (k - (len(peers) - 1) / 2) * height
            value = cell.get(peer.name, {})
            tint = colour(peer.name, names)
            if "us" not in value:
                panel.text(RESOLUTION_US * 1.15, y, "failed" if value else "not measured", va="center", fontsize=6.5,
                           color=tint)
                continue
            us = max(value["us"], RESOLUTION_US)
            panel.barh(y, us - RESOLUTION_US, left=RESOLUTION_US, height=height * 0.9, color=tint)
            text = number(value["us"]) if value["us"] >= RESOLUTION_US else f"under {RESOLUTION_US}"
            times = ratio(cell, peer.name)
            if peer.name != OURS and times is not None:
                text += f"  ({ratio_text(times)})"
            if row == 0:
                text = f"{peer.label}: {text}"
            panel.text(us * 1.12, y, text, va="center", fontsize=7, color="#222222",
                       weight="bold" if peer.name == OURS else "normal")
    panel.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    panel.set_title(title, loc="left", fontsize=11)
    panel.set_yticks(range(len(constructs)))
    panel.set_yticklabels(list(constructs), fontsize=10)
    panel.set_ylim(len(constructs) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
    panel.grid(axis="x", which="major", color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
