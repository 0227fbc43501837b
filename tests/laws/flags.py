#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flags that harden are used where the compiler has them, and leave alone what who builds has chosen.

    flags.py SOURCE_DIR [COMPILER…]
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STACK, FORMAT, FORTIFY, RELRO = "-fstack-protector-strong", "-Werror=format-security", "-D_FORTIFY_SOURCE=2", "-z,relro"
ALL = {STACK, FORMAT, FORTIFY, RELRO}
CASES = [
    ("nothing given", [], ALL),
    ("a distribution's flags", ["-DCMAKE_CXX_FLAGS=-O2 -fstack-protector-all -D_FORTIFY_SOURCE=3 -Wformat=2", "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,-z,relro,-z,now"], set()),
    ("no optimisation", ["-DCMAKE_CXX_FLAGS_RELEASE=-O0"], ALL - {FORTIFY}),
    ("a sanitizer", ["-DCMAKE_CXX_FLAGS=-fsanitize=address"], set()),
    ("a sanitizer of the project", ["-DBUDA_SANITIZE=thread"], set()),
    ("warnings off", ["-DCMAKE_CXX_FLAGS=-Wno-format"], ALL - {FORMAT}),
]


def chosen(source, compiler, given):
    with tempfile.TemporaryDirectory() as build:
        command = ["cmake", "-S", source / "tests/laws/flags", "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release", *given]
        run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return None, run.stdout + run.stderr
    text = " ".join(re.findall(r"^-- (?:COMPILE|LINK): (.*)$", run.stdout, re.M))
    return {flag for flag in ALL if flag in text}, text


def main():
    source, failed = pathlib.Path(sys.argv[1]).resolve(), 0
    compilers = sys.argv[2:] or [c for c in ("clang++", "g++") if shutil.which(c)]
    for compiler in compilers:
        for name, given, wanted in CASES:
            flags, text = chosen(source, compiler, given)
            if flags != wanted:
                failed += 1
                print(f"{compiler}, {name}: {text}\n  wanted: {', '.join(sorted(wanted)) or 'none'}", file=sys.stderr)
    print(f"{len(compilers)} compilers, {len(CASES)} cases, {failed} wrong")
    return 1 if failed or not compilers else 0


if __name__ == "__main__":
    sys.exit(main())
