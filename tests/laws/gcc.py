#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Read what users run with gcc, as far as its diagnostics: it must be C++ to gcc, too. With --warnings no warning of its own may come either.

    gcc.py SOURCE_DIR BUILD_DIR [--warnings]

The sources and their options are those of the build's compile_commands.json, which is clang's. A whole build with gcc is `cmake --preset gcc`.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import slices  # noqa: E402

# What is clang's alone, or about a precompiled header; with the word after it.
WITH_VALUE = ("-Xclang", "-mllvm", "-o", "-c", "-include", "-include-pch")
CLANG_ONLY = ("-Winvalid-pch", "-fpch-instantiate-templates")
TOPS = ("core", "apps", "plugins")
WARNINGS = "--warnings" in sys.argv


def arguments(entry):
    """Of a compilation by clang, what gcc takes to look at the same source."""
    out, skip = [], False
    for word in shlex.split(entry["command"])[1:]:
        if skip:
            skip = False
        elif word in WITH_VALUE:
            skip = True
        elif word not in CLANG_ONLY and not word.startswith("-O"):
            out.append(word)
    return ["g++", *out, "-Werror" if WARNINGS else "-w", "-fsyntax-only", entry["file"]]


def ours(entry, source, build):
    file = pathlib.Path(entry["file"])
    inside = file.relative_to(build) if file.is_relative_to(build) else file.relative_to(source) if file.is_relative_to(source) else None
    return inside is not None and inside.parts[0] in TOPS and "pch" not in file.name


def check(entry):
    done = subprocess.run(arguments(entry), cwd=entry["directory"], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def main():
    source, build = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    entries = [e for e in json.loads((build / "compile_commands.json").read_text()) if ours(e, source, build)]
    entries = slices.of_turn(entries)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [said for said in pool.map(check, entries) if said]
    print("\n".join(failed))
    print(f"{len(entries) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed or not entries else 0)


if __name__ == "__main__":
    main()
