"""What the scripts here share: where the repository is, and what they do with the part of a page that they make."""

import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
from results import write_part  # noqa: E402


def run(parts):
    """Prints the parts, or, with `--write FILE`, puts each behind the line of FILE that is its key."""
    if len(sys.argv) == 1:
        print("\n".join(parts.values()), end="")
    else:
        sys.exit(max(write_part(sys.argv[2], begin, text) for begin, text in parts.items()))
