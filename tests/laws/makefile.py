#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each target of the Makefile can be made, as far as make can tell without making it.

    makefile.py SOURCE_DIR
"""
import pathlib
import re
import subprocess
import sys


def main():
    source = pathlib.Path(sys.argv[1])
    targets = re.findall(r"^([a-z][a-z-]*):(?!=)", (source / "Makefile").read_text(), re.M)
    failed = 0
    for target in sorted(set(targets)):
        done = subprocess.run(["make", "-n", "-C", source, target], capture_output=True, text=True)
        if done.returncode != 0:
            failed += 1
            print(f"make {target}: {done.stderr.strip()}")
    print(f"{len(set(targets))} targets, {failed} fail")
    return 1 if failed or not targets else 0


if __name__ == "__main__":
    sys.exit(main())
