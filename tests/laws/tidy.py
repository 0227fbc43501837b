#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run clang-tidy on the sources that a change touches, with the checks that find bugs and take seconds.

    tidy.py [JOBS [SLICE]]

With SLICE, a number, it looks at a slice of all sources instead, so that numbers in a row go through all of them.

A change is what differs from origin/main or, on main, from the last commit's parent; a clone without history has a few sources checked that
use much of the library. `make lint` runs all checks of .clang-tidy on all sources.
"""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile

CHECKS = """-* bugprone-assert-side-effect bugprone-copy-constructor-init bugprone-dangling-handle bugprone-inaccurate-erase
bugprone-infinite-loop bugprone-move-forwarding-reference bugprone-parent-virtual-call bugprone-sizeof-* bugprone-string-constructor
bugprone-suspicious-* bugprone-undelegated-constructor bugprone-unused-raii bugprone-use-after-move misc-redundant-expression
misc-unused-alias-decls misc-unused-using-decls performance-for-range-copy performance-move-const-arg
performance-unnecessary-copy-initialization""".split()
# Spelled out: unity builds have no command for a single source.
OPTIONS = ["-std=c++20", "-Icore", "-I.", "-Ishare", "-Iplugins/policies/spread", '-DBUDA_VERSION=""', '-DBUDA_LATE_ARCHIVE=""', '-DBUDA_LATE_DNNL=""', '-DBUDA_LATE_LINES=""']
WITHOUT_HISTORY = ["core/buda/cli/tool.cpp", "core/buda/graph/editor.cpp", "core/buda/netlist/text/parse.cpp"]
MOST = 24
OF_SLICE = 60
# Sources that include what only a build generates.
GENERATED_INCLUDES = ("plugins/frontends/onnx/", "plugins/frontends/tensorflow/", "plugins/frontends/tflite/")


def python_includes():
    """Where Python.h is, for the sources of the Python module; nothing without python3-dev, as in the build."""
    config = shutil.which("python3-config", path="/usr/bin") or shutil.which("python3-config")
    listed = subprocess.run([config, "--includes"], capture_output=True, text=True, check=True).stdout.split() if config else []
    return [word.replace("-I", "-isystem", 1) for word in listed]


def git(*arguments):
    """The output's lines; None when git fails."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else None


def base():
    """The commit that the change begins with, or None."""
    head = git("rev-parse", "HEAD")
    common = git("merge-base", "HEAD", "origin/main")
    if common and common != head:
        return common[0]
    parent = git("rev-parse", "--verify", "--quiet", "HEAD^")
    return parent[0] if parent else None


def changed_sources(since):
    """Sources that changed, and those of the same name as headers that did."""
    names = git("diff", "--name-only", "--diff-filter=d", since, "--", "core", "apps") or []
    paths = {pathlib.Path(n).with_suffix(".cpp") for n in names if n.endswith((".cpp", ".hpp"))}
    return sorted(str(p) for p in paths if p.exists())


def slice_of_all(number):
    """Every nth source, from another one on for each number."""
    sources = [n for n in git("ls-files", "core/*.cpp", "apps/*.cpp", "plugins/*.cpp") if not n.startswith(GENERATED_INCLUDES)]
    step = -(-len(sources) // OF_SLICE)
    return sources[number % step::step]


def generate_headers(folder):
    """What the build writes into its include folder."""
    header = pathlib.Path(folder) / "buda/plugin/abi_headers.h"
    values = ["-DLIST=core/public_headers.txt", "-DKINDS=share/cmake/plugin_headers", "-DROOT=core", f"-DOUT={header}"]
    subprocess.run(["cmake", *values, "-P", "share/cmake/AbiDigest.cmake"], check=True)


def check(source, includes):
    command = ["clang-tidy", "--quiet", "--checks=" + ",".join(CHECKS), "--warnings-as-errors=*", source, "--", *OPTIONS, *includes]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    since = base()
    if len(sys.argv) > 2:
        sources = slice_of_all(int(sys.argv[2]))
    else:
        changed = changed_sources(since) if since else WITHOUT_HISTORY
        sources = changed[:MOST]
        if len(changed) > MOST:
            print(f"tidy.py: {MOST} of {len(changed)} changed sources; `make lint` looks at all")
    with tempfile.TemporaryDirectory() as generated, concurrent.futures.ThreadPoolExecutor(int(sys.argv[1]) if len(sys.argv) > 1 else 2) as pool:
        generate_headers(generated)
        includes = ["-I" + generated, *python_includes()]
        results = list(pool.map(lambda source: check(source, includes), sources))
    for result in results:
        sys.stdout.write(result.stdout)
        if result.returncode != 0 and not result.stdout:
            sys.stdout.write(result.stderr)
    return 1 if any(r.returncode != 0 for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
