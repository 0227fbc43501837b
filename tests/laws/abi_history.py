#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tell how many of the last commits would have invalidated the plugins of each kind, by the headers that a kind can reach today.

    abi_history.py SOURCE_DIR [--until COMMIT] [--count N]

A commit counts for a kind when the text of a header of share/cmake/plugin_headers/KIND.txt changed in it, without comments and white space;
MOVED says where headers stood before. "all" is what one digest of all public headers would count. Needs the history; no test.
"""
import argparse
import pathlib
import re
import subprocess

# Old path → path now; of folders.
MOVED = {
    "core/buda/balance/legalize/edge.hpp": "core/buda/balance/resources/edge.hpp",
    "core/buda/balance/legalize/resources.hpp": "core/buda/balance/resources/resources.hpp",
    "core/buda/balance/solve/policy.hpp": "core/buda/balance/policy/policy.hpp",
    "core/buda/balance/legalize/neighbours.hpp": "core/buda/balance/policy/neighbours.hpp",
    "core/buda/balance/queues/epoch_span.hpp": "core/buda/balance/policy/epoch_span.hpp",
    "core/buda/balance/solve/relaxed_epochs.hpp": "core/buda/balance/bounds/relaxed_epochs.hpp",
}


def git(root, *args):
    return subprocess.run(["git", "-C", root, *args], capture_output=True, text=True, errors="replace").stdout


def meaning(text):
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text))


def headers_of(path):
    return {f"core/{line}" for line in path.read_text().splitlines() if line.startswith("buda/")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--until", default="HEAD")
    parser.add_argument("--count", type=int, default=150)
    args = parser.parse_args()
    kinds = {path.stem: headers_of(path) for path in sorted((args.root / "share/cmake/plugin_headers").glob("*.txt"))}
    kinds["all"] = headers_of(args.root / "core/public_headers.txt")
    counts = dict.fromkeys(kinds, 0)
    for commit in git(args.root, "rev-list", "--no-merges", f"-{args.count}", args.until).split():
        names = git(args.root, "diff-tree", "--no-commit-id", "--name-only", "--no-renames", "-r", commit, "--", "core/*.hpp", "core/*.h").split()
        changed = {MOVED.get(name, name) for name in names
                   if meaning(git(args.root, "show", f"{commit}~:{name}")) != meaning(git(args.root, "show", f"{commit}:{name}"))}
        for kind, headers in kinds.items():
            counts[kind] += bool(changed & headers)
    for kind, count in counts.items():
        print(f"{kind:14} {count:4} of {args.count} commits, {len(kinds[kind])} headers")


if __name__ == "__main__":
    main()
