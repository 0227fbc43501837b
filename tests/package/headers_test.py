#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""headers.py finds what a header lacks, also where another header in front of it would supply that.

    headers_test.py COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

HEADERS = {
    "a.hpp": "#pragma once\nstruct A {};\n",
    "b.hpp": "#pragma once\n#include <a.hpp>\nstruct B { A a; };\n",
    "c.hpp": "#pragma once\n#include <b.hpp>\nstruct C { A a; B b; };\n",
    "lacks_a.hpp": "#pragma once\nstruct LacksA { A a; };\n",
    "of_the_bad.hpp": "#pragma once\n#include <a.hpp>\n#include <lacks_a.hpp>\n",
}


def run(compiler, names):
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            (pathlib.Path(folder) / name).write_text(HEADERS[name])
        done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("headers.py"), compiler, folder], stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout


good, said = run(sys.argv[1], ["a.hpp", "b.hpp", "c.hpp"])
assert good == 0 and "3 passed, 0 failed" in said, said
# One that is included after what it lacks.
bad, said = run(sys.argv[1], HEADERS)
assert bad == 1 and "4 passed, 1 failed" in said and "\nlacks_a.hpp:" in "\n" + said, said

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
import headers  # noqa: E402

found = headers.chains({"a": set(), "b": {"a"}, "c": {"b"}, "d": {"a"}, "e": set()})
assert sorted(h for chain in found for h in chain) == ["a", "b", "c", "d", "e"] and len(found) == 3, found
assert all(earlier in headers.reached({"a": set(), "b": {"a"}, "c": {"b"}, "d": {"a"}, "e": set()}, later)
           for chain in found for earlier, later in zip(chain, chain[1:])), found
