#!/usr/bin/env python3
"""Checks the links of README.md, CHANGELOG.md, packaging/README.md and docs/: files that are not there, headings that are not there.

The exit status is 1 where a link leads nowhere.
"""
import glob
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(path):
    """The anchors of a page's headings, as GitHub and GitLab make them."""
    text = re.sub(r"^```.*?^```", "", open(path, encoding="utf-8").read(), flags=re.S | re.M)
    found = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower().replace("`", "")).replace(" ", "-") for h in found}


def main():
    broken = 0
    pages = [os.path.join(ROOT, p) for p in ("README.md", "CHANGELOG.md", "packaging/README.md")]
    for page in pages + sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)):
        for link in LINK.findall(open(page, encoding="utf-8").read()):
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
            if not os.path.exists(target) or (anchor and target.endswith(".md") and anchor not in anchors(target)):
                print(f"{os.path.relpath(page, ROOT)}: no {link}")
                broken = 1
    return broken


if __name__ == "__main__":
    sys.exit(main())
