#!/usr/bin/env python3
"""Check that every header of a folder compiles alone, as the first include of a file.

    headers.py COMPILER FOLDER [INCLUDE_DIR...]

Further folders are searched for what the headers include, too.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys


def compile_alone(compiler, folders, header):
    source = f"#include <{header}>\n"
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", *(f"-I{f}" for f in folders), "-x", "c++", "-"], input=source.encode(),
                          capture_output=True)
    return header, done.stderr.decode(errors="replace") if done.returncode or done.stderr else ""


def main():
    compiler, core = sys.argv[1], pathlib.Path(sys.argv[2])
    headers = sorted(p.relative_to(core) for p in core.rglob("*") if p.suffix in (".hpp", ".h"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda h: compile_alone(compiler, [core, *sys.argv[3:]], h), headers))
    bad = [(h, said) for h, said in results if said]
    for header, said in bad:
        print(f"{header}:\n{said}")
    print(f"{len(headers) - len(bad)} passed, {len(bad)} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
