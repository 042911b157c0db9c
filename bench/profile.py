#!/usr/bin/env python3
"""Hardware counters of the solves of bench, by Nsight Compute: bandwidth and instruction counts, as in the papers.

  profile.py BENCH FILE.jsonl [-a ALGORITHM,...] MATRIX...

writes one JSON object a line: matrix, algorithm, and of its solves, both triangles together: kernels launched, warp
instructions executed, bytes read from and written to device memory, ns, the percentage of issue slots used while
multiprocessors were active, and the percentage of the time of warps in which they waited for a load from global memory
or L2.

Clocks are left alone (--clock-control none). Nsight Compute flushes the caches before every kernel, so bytes are those
of a first solve.
"""

import csv
import json
import os
import subprocess
import sys

ALGORITHMS = ["csc", "warp", "twophase", "thread", "fusion", "cusparse"]  # not `level`: thousands of kernels
METRICS = {
    "instructions": "smsp__inst_executed.sum",
    "read": "dram__bytes_read.sum",
    "written": "dram__bytes_write.sum",
    "ns": "gpu__time_duration.sum",
    "issued": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "waiting": "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct",
}
LIMIT = 60  # seconds


def counters(bench, algorithm, matrix):
    command = [
        "ncu",
        "--clock-control",
        "none",
        "--profile-from-start",
        "off",
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--metrics",
        ",".join(METRICS.values()),
        bench,
        "-m",
        "0",
        "-a",
        algorithm,
        matrix,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    lines = [l for l in done.stdout.splitlines() if l.startswith('"')]
    rows = [
        r for r in csv.DictReader(lines) if not r["Kernel Name"].startswith("Delay") and r["ID"]
    ]  # below the names stand units
    if done.returncode or not rows:
        raise RuntimeError((done.stdout + done.stderr)[-400:])
    total = {k: [float(r[m].replace(",", "")) for r in rows] for k, m in METRICS.items()}
    time = sum(total["ns"])
    return {
        "kernels": len(rows),
        "instructions": sum(total["instructions"]),
        "bytes": sum(total["read"]) + sum(total["written"]),
        "ns": time,
        **{k: sum(i * t for i, t in zip(total[k], total["ns"])) / time for k in ("issued", "waiting")},
    }


def main(bench, path, *matrices):
    failed, algorithms = 0, ALGORITHMS
    if matrices[0] == "-a":
        algorithms, matrices = matrices[1].split(","), matrices[2:]
    with open(path, "w") as out:
        for matrix in matrices:
            name = os.path.basename(matrix).split(".mtx")[0]
            for algorithm in algorithms:
                try:
                    line = {"matrix": name, "algorithm": algorithm, **counters(bench, algorithm, matrix)}
                except (RuntimeError, subprocess.TimeoutExpired) as e:
                    print(f"{name}, {algorithm}: {e}")
                    failed = 1
                    continue
                print(json.dumps(line))
                out.write(json.dumps(line) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
