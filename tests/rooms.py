#!/usr/bin/env python3
"""The rooms of src/kernels: what may use what, and how large things may be.

    rooms.py          checks; the last line sums up, and the exit status says whether anything failed
    rooms.py --map    prints lines, files and arrows of each room as a table for docs/developing.md

A room is a folder below src/kernels. It may use rooms of a lower floor, and the one room of its own floor that is named for it. Read are the includes, and calls by
name of functions that another room defines. Exceptions are listed below, each with its count: a count that has fallen has to be lowered here.
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SRC = os.path.join(ROOT, "src", "kernels")

# what each room may use, itself and what is below these included
MAY = {
    "base": [],
    "device": ["base"],
    "analysis": ["device"],
    "ordering": ["analysis"],
    "factor": ["analysis"],
    "solve/model": ["analysis"],
}
