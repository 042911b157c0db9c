"""What the plots in docs/ have in common: matplotlib without a display, their style, and how they are written."""

import os
import sys

from results import ROOT

try:
    import matplotlib
except ImportError:
    sys.exit("the plots need matplotlib: python3 -m pip install matplotlib, or apt-get install python3-matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402

PLAIN = FuncFormatter(lambda value, _: f"{value:g}")  # 0.01 instead of a power of ten

plt.rcParams.update(
    {
        "font.size": 10,
        "axes.grid": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.dpi": 120,
        "legend.frameon": False,
    }
)


def draw_line_at_1(axis):
    axis.axhline(1, color="#444444", linewidth=0.9)


def save(figure, name):
    """As docs/NAME."""
    figure.savefig(os.path.join(ROOT, "docs", name), bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
