#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that every header of a folder compiles alone, as the first include of a file.

    headers.py COMPILER FOLDER [INCLUDE_DIR...]

Further folders are searched for what the headers include, too.

A header that another one includes, directly or not, may stand in front of it: the other's own text then comes after the same declarations as without
it. So the headers are divided into as few chains as possible, in each of which every header includes the one before, and a chain takes one compilation.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys


def compile_in_turn(compiler, folders, headers):
    source = "".join(f"#include <{h}>\n" for h in headers)
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", *(f"-I{f}" for f in folders), "-x", "c++", "-"], input=source.encode(),
                          capture_output=True)
    return done.stderr.decode(errors="replace") if done.returncode or done.stderr else ""


def reached(includes, header):
    """All headers that it includes, directly or not."""
    found, new = set(), [header]
    while new:
        for h in includes[new.pop()]:
            if h not in found:
                found.add(h)
                new.append(h)
    return found


def chains(includes):
    """As few chains as possible (Dilworth): each link is an edge of a largest matching of headers with those that include them."""
    below = {h: reached(includes, h) for h in includes}
    after = {}

    def place(header, tried):
        for h in sorted(below[header]):
            if h in tried or header in below[h]:
                continue
            tried.add(h)
            if h not in after or place(after[h], tried):
                after[h] = header
                return True
        return False

    for header in sorted(includes):
        place(header, set())
    out = []
    for first in sorted(set(includes) - set(after.values())):
        chain = [first]
        while chain[-1] in after:
            chain.append(after[chain[-1]])
        out.append(chain)
    return out


def check(compiler, folders, chain):
    """(header, what the compiler said) of each that fails. Alone when the chain fails, so that the right one is named."""
    if not compile_in_turn(compiler, folders, chain):
        return []
    return [(h, said) for h in chain if (said := compile_in_turn(compiler, folders, [h]))]


def main():
    compiler, core = sys.argv[1], pathlib.Path(sys.argv[2])
    folders = [core, *sys.argv[3:]]
    headers = {p.relative_to(core).as_posix(): p for p in core.rglob("*") if p.suffix in (".hpp", ".h")}
    includes = {name: set(re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.M)) & headers.keys() for name, path in headers.items()}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = [failure for failures in pool.map(lambda c: check(compiler, folders, c), chains(includes)) for failure in failures]
    for header, said in bad:
        print(f"{header}:\n{said}")
    print(f"{len(headers) - len(bad)} passed, {len(bad)} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
