#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every part of a name that passes and decompositions give to their ops is on the page of op names, and nothing else is: op_names.py ROOT"""
import pathlib
import re
import subprocess
import sys

PAGE = "docs/internals/op-names.md"
PLACES = ["core/buda/passes", "core/buda/ops", "core/buda/balance", "core/buda/autograd", "plugins/decompositions"]
NAMED = re.compile(r'\bnamed\("([a-z0-9_.]+)"')
# What makes an op, with its name and its type.
MADE = re.compile(r'\b(?:op|add|unary|binary|make)\((?:\w+, )?"([a-z_.]+)", ?"[a-z_0-9]+"')
# The type is found out first; the name goes on that of another op.
ADDED = re.compile(r'\beditor\.add\("([a-z_.]+)", (?!")')
CONTINUED = re.compile(r'\brename\(\w+, \w+\.fresh_name\(cat\(\w+, "\.([a-z_.]+)"')
GATHERED = re.compile(r'\b(?:gathered_rows|spliced_parts)\(\w+, "([a-z_]+)"')

root = pathlib.Path(sys.argv[1])


def parts_in(places, *patterns):
    listed = subprocess.run(["git", "ls-files", "-z", *places], cwd=root, capture_output=True, text=True, check=True).stdout
    for name in listed.split("\0"):
        if not name.endswith((".cpp", ".hpp")):
            continue
        text = (root / name).read_text()
        for pattern in patterns:
            for match in pattern.finditer(text):
                for part in match[1].split("."):
                    yield part, f"{name}:{text.count(chr(10), 0, match.start()) + 1}"


used = dict(parts_in(PLACES, NAMED, MADE, ADDED, CONTINUED, GATHERED)) | dict(parts_in(["plugins/frontends"], NAMED))
page = (root / PAGE).read_text()
explained = {part for row in re.findall(r"^\| (`[^|]*`) \|", page, re.M) for part in re.findall(r"`([^`]*)`", row)}
faults = [f"{place}: ops are called '.{part}', which {PAGE} does not explain" for part, place in sorted(used.items()) if part not in explained]
faults += [f"{PAGE}: nothing is called '.{part}'" for part in sorted(explained - used.keys())]
print("\n".join(faults + [f"{len(used)} parts of names, {len(faults)} faults"]))
sys.exit(1 if faults or len(used) < 50 else 0)
