#!/usr/bin/env python3
"""Add a device op by a patch to a copy of the tree, build what it concerns, and run the op from a graph to target golden.

    run.py SOURCE_DIR BUILD_DIR CMAKE

docs/internals/adding.md counts the files that such an op takes; this test holds the page to it. The copy is built as BUILD_DIR is. A compiler
cache, if CMake finds one, saves what the patch does not concern.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST_FILES, MOST_FOLDERS = 5, 4
TARGETS = ["tool_optimizer", "tool_balancer", "plugin_policy_minimize_grid", "netlist_conformance", "unit_netlist"]
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
    patch = source / "tests/adding/rsqrt.patch"
    files = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)
    folders = {str(pathlib.PurePath(f).parent) for f in files}
    if len(files) > MOST_FILES or len(folders) > MOST_FOLDERS:
        sys.exit(f"the patch touches {len(files)} files in {len(folders)} folders; docs/internals/adding.md promises {MOST_FILES} in {MOST_FOLDERS}")

    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work) / "tree"
        copy_tree(source, copy)
        run("patch", "-p1", "--no-backup-if-mismatch", "-i", patch, cwd=copy)
        out = copy / "build"
        env = {"CCACHE_BASEDIR": str(copy), "CCACHE_NOHASHDIR": "1", "BUDA_SOURCE_DIR": str(copy)}
        run(cmake, "-S", copy, "-B", out, "-G", "Ninja", f"-DCMAKE_BUILD_TYPE={cached(build, 'CMAKE_BUILD_TYPE')}",
            f"-DCMAKE_CXX_COMPILER={cached(build, 'CMAKE_CXX_COMPILER')}", "-DBUDA_BUILD_BENCHMARKS=OFF", env=env)
        run(cmake, "--build", out, "--target", *TARGETS, env=env)

        # The page of the op and its example are written from the row.
        unit = out / "tests/unit_netlist"
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


if __name__ == "__main__":
    main()
