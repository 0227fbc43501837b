#!/usr/bin/env python3
"""Add a device op and a graph op by patches to a copy of the tree, build what they concern, and run them from a graph: the device op to target golden, the
graph op to its lowered form.

    run.py SOURCE_DIR BUILD_DIR CMAKE

These are the patches of docs/internals/adding.md. The copy is built as BUILD_DIR is. A compiler cache, if CMake finds one, saves what the patches do not concern.
"""
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

PATCHES = ["rsqrt.patch", "tanhshrink.patch"]
TARGETS = ["tool_optimizer", "tool_balancer", "tool_runner", "plugin_policy_spread", "plugin_decomposition_nn", "netlist_conformance", "unit_op_pages"]
GRAPH = """{
  "schema": "buda.graph/1",
  "name": "roots",
  "level": "tensor",
  "nodes": [
    {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [1, 64, 96]}]},
    {"name": "s", "op": "square", "inputs": ["x"]},
    {"name": "one", "op": "constant", "types": [{"dtype": "F32", "shape": [1]}], "value": "one"},
    {"name": "a", "op": "add", "inputs": ["s", "one"]},
    {"name": "r", "op": "rsqrt", "inputs": ["a"]},
    {"name": "y", "op": "output", "inputs": ["r"]}
  ],
  "tensors": [{"name": "one", "dtype": "F32", "shape": [1], "values": [1]}]
}
"""


NUMBERS = [-3.0, -0.5, 0.0, 0.25, 4.0]
SHRUNK = """{
  "schema": "buda.graph/1",
  "name": "shrunk",
  "level": "tensor",
  "nodes": [
    {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [5]}]},
    {"name": "t", "op": "tanhshrink", "inputs": ["x"]},
    {"name": "y", "op": "output", "inputs": ["t"]}
  ]
}
"""


def write_npy(path, numbers):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(numbers)},), }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(numbers)}f", *numbers))


def try_graph_op(bin_dir, work):
    """By its reference evaluation, and by the ops that replace it."""
    graph, lowered, x, y = (work / name for name in ("shrunk.graph.json", "shrunk.device.graph.json", "x.npy", "y.npy"))
    graph.write_text(SHRUNK)
    write_npy(x, NUMBERS)
    write_npy(y, [n - math.tanh(n) for n in NUMBERS])
    run(bin_dir / "optimizer", graph, "-o", lowered, "--verify")
    assert "tanhshrink" not in re.findall(r'"op": "(\w+)"', lowered.read_text())
    for subject in (graph, lowered):
        run(bin_dir / "runner", subject, "--target", "cpu", "--inputs", x, "--expect", y, "--atol", "1e-6", "-o", work / "out.npz")


def run(*args, env=None, cwd=None):
    done = subprocess.run([str(a) for a in args], env={**os.environ, **(env or {})}, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}: exit {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def cached(build, variable):
    found = re.search(rf"^{variable}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    return found[1] if found else ""


def copy_tree(source, copy):
    """What belongs to the project; build trees stay behind."""
    tops = ["CMakeLists.txt", "apps", "core", "docs", "plugins", "schemas", "share", "tests"]
    for top in tops:
        if (source / top).is_dir():
            shutil.copytree(source / top, copy / top, symlinks=True)
        else:
            copy.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / top, copy / top)


def main():
    source, build, cmake = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work) / "tree"
        copy_tree(source, copy)
        for patch in PATCHES:
            run("patch", "-p1", "--no-backup-if-mismatch", "-i", source / "tests/adding" / patch, cwd=copy)
        # With the same options and at the same depth, so that the compiler cache has what the patches leave as it is.
        out = copy / (build.relative_to(source) if build.is_relative_to(source) else "build")
        env = {"BUDA_SOURCE_DIR": str(copy)}
        same = [f"-D{variable}={cached(build, variable)}" for variable in ("CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "BUDA_WERROR", "BUDA_UNITY")]
        run(cmake, "-S", copy, "-B", out, "-G", "Ninja", *same, "-DBUDA_BUILD_BENCHMARKS=OFF", env=env)
        # What the cache does not have is what the patches concern: it is compiled without optimisation, in less than half of the time, and not kept.
        unoptimised = {"CCACHE_READONLY": "1", "CCACHE_PREFIX": str(source / "tests/adding/unoptimised.sh")}
        run(cmake, "--build", out, "--target", *TARGETS, env={**env, **unoptimised})

        # The page of the op and its example are written from the row.
        unit = out / "tests/unit_op_pages"
        run(unit, "--gtest_filter=OpDocs.*", env={**env, "BUDA_UPDATE_DOCS": "1"})
        run(unit, "--gtest_filter=OpDocs.*", env=env)
        page = (copy / "docs/ops/rsqrt.md").read_text()
        assert "1 / sqrt(x) of each number x." in page, page

        graph, lowered, netlist = (pathlib.Path(work) / name for name in ("roots.json", "lowered.json", "roots.yaml"))
        graph.write_text(GRAPH)
        run(out / "bin/optimizer", graph, "-o", lowered, "--device", "n150")
        run(out / "bin/balancer", lowered, "-o", netlist, "--device", "n150")
        assert "type: rsqrt" in netlist.read_text(), netlist.read_text()
        example = copy / "share/examples/netlists/rsqrt.yaml"
        judge = [out / "tests/netlist_conformance", "--share", out / "share/buda"]
        print(run(*judge, netlist, example))
        print(run(*judge, "--quiet", "--generate", "60", "--seed", "7"))
        try_graph_op(out / "bin", pathlib.Path(work))


if __name__ == "__main__":
    main()
