#!/usr/bin/env python3
"""Runs the commands of pages: the indented lines that start with ./app, ./ex4, mpiexec or PETSC_OPTIONS=.

  commands.py EXAMPLES LIB FILE...

./app is ex1 in the folder EXAMPLES. Each command must end well and use all of its options. Without a GPU the types of
the GPU are left out, and lines that name an algorithm of the GPU are not run. The last line says how many ran.
"""

import os
import re
import shutil
import subprocess
import sys

GPU_TYPES = re.compile(r" -(?:dm_)?(?:mat_type aijcusparse|vec_type cuda)")
GPU_ALGORITHM = re.compile(r"-mat_sptrsvgpu_(algorithm|lower|upper) (?!auto|serial)[a-z]")


def commands(page):
    with open(page, encoding="utf-8") as f:
        for line in f:
            if re.match(r"    (\./(app|ex4)|mpiexec|PETSC_OPTIONS=)", line):
                yield re.sub(r"\s+# .*", "", line.strip())


def main(examples, library, *pages):
    gpu = (
        bool(shutil.which("nvidia-smi"))
        and not subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode
    )
    ran = left_out = failed = 0
    for page in pages:
        for command in commands(page):
            if not gpu and GPU_ALGORITHM.search(command):
                left_out += 1
                continue
            line = command if gpu else GPU_TYPES.sub("", command)
            line = line.replace("./app", f"{examples}/ex1 -n 20").replace("./ex4", f"{examples}/ex4")
            line = re.sub(r"/(usr/local/lib|path/to)/libsptrsvgpu.so", library, line)
            environment = dict(
                os.environ,
                PETSC_OPTIONS=f"-dll_append {library} -options_left" + (" -use_gpu_aware_mpi 0" if gpu else ""),
            )
            if line.startswith("PETSC_OPTIONS="):
                line += " -options_left"
            done = subprocess.run(
                ["bash", "-c", line], env=environment, capture_output=True, text=True, timeout=120, check=False
            )
            output = done.stdout + done.stderr
            ran += 1
            if done.returncode or ("-help" not in line and "There are no unused options" not in output):
                failed += 1
                print(f"{page}: {command}\n" + "\n".join(output.splitlines()[-12:]))
    print(f"{ran} commands ran, {failed} failed, {left_out} need a GPU")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
