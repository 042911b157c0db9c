"""papers.py's plots of documents 000 to 003, from what it has read."""

from figures import PLAIN, draw_line_at_1, plt, save
from results import LEAST_ROWS, mean


def logarithmic(axis):
    axis.set_yscale("log")
    axis.yaxis.set_major_formatter(PLAIN)


def capellini(cases, duels):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2))
    for (h, l), color, marker in zip(duels, ("#E69F00", "#0072B2", "#CC79A7"), "^os"):
        some = [c for c in cases if c.counts and h in c.ms and l in c.ms]
        left.scatter(
            [c.granularity for c in some],
            [c.ms[l] / c.ms[h] for c in some],
            s=20,
            marker=marker,
            c=color,
            alpha=0.75,
            label=f"{h} over {l}",
        )
    for a, color, marker in (
        ("level", "#666666", "X"),
        ("csc", "#0072B2", "o"),
        ("fusion", "#009E73", "D"),
        ("thread", "#E69F00", "^"),
    ):
        some = [c for c in cases if c.counts and a in c.ms]
        right.scatter(
            [c.granularity for c in some],
            [c.gflops(c, a) for c in some],
            s=20,
            marker=marker,
            c=color,
            alpha=0.75,
            label=a,
        )
    left.set_ylabel("times as fast: thread level over warp level")
    right.set_ylabel("GFLOPS/s (2 nnz / time)")
    draw_line_at_1(left)
    for axis in (left, right):
        logarithmic(axis)
        axis.set_xlabel("parallel granularity (Equation 1)")
        axis.axvline(0.7, color="#444444", linewidth=0.9, linestyle=":")
        axis.legend(fontsize=8, handletextpad=0.2)
    figure.suptitle(
        f"CapelliniSpTRSV's Figures 3 and 5 on one H200: real matrices of {LEAST_ROWS:,} rows or more, double"
        " precision",
        fontsize=10.5,
    )
    figure.tight_layout()
    save(figure, "capellini.png")


def recblock(groups, autos):
    """Over cuSPARSE by level sets, and by depth."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2))
    words = "type=recursive depth={} thresholds={}".format
    speed = lambda g, setting: g["line"]["cusparse_ms"] / g["recblock"][setting]["ms"]
    levels = [g["line"]["levels"] for g in groups.values()]
    for label, times, color, marker in (
        ("the paper's thresholds, one cut", [speed(g, words(1, "paper")) for g in groups.values()], "#CC79A7", "v"),
        (
            "fitted",
            [speed(g, words(int(g["line"]["levels"] > 200), "fitted")) for g in groups.values()],
            "#0072B2",
            "o",
        ),
        ("auto", [g["line"]["cusparse_ms"] / autos[k][1] for k, g in groups.items()], "#009E73", "^"),
    ):
        left.scatter(levels, times, s=22, marker=marker, c=color, alpha=0.75, label=label)
    left.set_xscale("log")
    left.set_xlabel("level sets")
    for thresholds, color, marker in (("paper", "#CC79A7", "v"), ("fitted", "#0072B2", "o")):
        for deep, line in ((False, ":"), (True, "-")):
            some = [g for g in groups.values() if (g["line"]["levels"] > 50) == deep]
            depths = [d for d in range(13) if all(words(d, thresholds) in g["recblock"] for g in some)]
            right.plot(
                depths,
                [mean(speed(g, words(d, thresholds)) for g in some) for d in depths],
                color=color,
                linestyle=line,
                marker=marker,
                markersize=5,
                label=f"{thresholds}, {'more than' if deep else 'up to'} 50 level sets",
            )
    right.set_ylim(0, 3.3)
    right.set_xlabel("depth: 2^depth triangular blocks")
    logarithmic(left)
    for axis in (left, right):
        axis.set_ylabel("times as fast as cuSPARSE")
        draw_line_at_1(axis)
        axis.legend(fontsize=8, handletextpad=0.4)
    figure.suptitle(
        f"Recursive blocks on one H200: {len(groups)} triangles of real matrices, double precision", fontsize=10.5
    )
    figure.tight_layout()
    save(figure, "recblock.png")


def ag(data):
    """The paper's Figures 10 and 9."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2))
    for rival, label, color, marker in (
        ("csc", "over SyncFree", "#0072B2", "o"),
        ("cusparse", "over cuSPARSE", "#666666", "X"),
        ("fusion", "over YYSpTRSV (fusion)", "#009E73", "D"),
        ("thread", "over thread", "#E69F00", "^"),
    ):
        some = [x for x in data.some if rival in x["case"].ms]
        left.scatter(
            [x["case"].nnz for x in some],
            [x["case"].ms[rival] / x["best"] for x in some],
            s=20,
            marker=marker,
            c=color,
            alpha=0.75,
            label=label,
        )
    left.set_xscale("log")
    logarithmic(left)
    left.set_xlabel("entries")
    left.set_ylabel("times as fast: best of the schemes")
    draw_line_at_1(left)
    left.legend(fontsize=8, handletextpad=0.2)
    spaces = list(data.spaces())
    for shift, label, values, color in (
        (-0.2, "the paper, A100, best of 1,600", [s[3] for s in spaces], "#CC79A7"),
        (0.2, f"here, H200, best of {len(data.schemes)}", [s[2] for s in spaces], "#0072B2"),
    ):
        right.bar([i + shift for i in range(len(spaces))], values, 0.4, color=color, label=label)
    right.set_xticks(range(len(spaces)), [s[0] for s in spaces])
    right.set_ylabel("times as fast as YYSpTRSV (geometric mean)")
    draw_line_at_1(right)
    right.legend(fontsize=8, loc="upper left")
    right.set_ylim(0, 3)
    figure.suptitle(
        f"AG-SpTRSV's Figures 10 and 9 on one H200: real matrices of {LEAST_ROWS:,} rows or more, double precision",
        fontsize=10.5,
    )
    figure.tight_layout()
    save(figure, "ag.png")
