#!/usr/bin/env python3
"""Take the digits model to a board that is one file: compiled, and executed on golden.

    board.py SOURCE_DIR BUILD_DIR
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*args):
    done = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def main():
    source, tools = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "bin"
    board, digits = source / "tests/adding/board.yaml", source / "share/examples/digits"
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        image = work / "digits.tti"
        print(run(tools / "buda", "compile", digits / "digits.onnx", "-o", image, "--device", board, "--check", "--build-dir", work))
        print(run(tools / "buda", "run", image, "--inputs", digits / "digits.images.npz", "--expect", digits / "digits.expected.npz", "--pcc", "0.999"))
        netlist = (work / "digits.yaml").read_text()
        rows = [int(r) for r in re.findall(r"grid_loc: \[(\d+),", netlist)]
        if not rows or max(rows) > 3:
            sys.exit(f"ops are on rows {rows} of 4")


if __name__ == "__main__":
    main()
