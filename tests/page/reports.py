# SPDX-License-Identifier: Apache-2.0
"""Folders of reports for the tests: one of a real compilation, and made ones that are large or hostile."""
import json
import subprocess

HOSTILE = "</script><script>window.harmed=1</script><img src=x onerror=window.harmed=1>\"'&__proto__"


def run(*command, ok=True):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120)
    if ok and done.returncode != 0:
        raise AssertionError(f"{command}: {done.stderr}")
    return done


def compiled(build, source, folder):
    """digits, a convolutional network, with its passes and a simulated run."""
    digits = source / "share/examples/digits"
    folder.mkdir(parents=True)
    run(build / "bin/buda", "compile", digits / "digits-conv.onnx", "-o", folder / "digits.tti", "--build-dir", folder / "digits", "--dump-dir",
        folder / "digits/passes")
    run(build / "bin/runner", folder / "digits.tti", "--inputs", digits / "digits-conv.images.npz", "--target", "grid", "--perf", folder / "digits/perf")
    run(build / "bin/runner", folder / "digits.tti", "--inputs", digits / "digits-conv.images.npz", "--accuracy", folder / "digits/accuracy.json")
    return folder


def compiled_twice(build, source, folder):
    """digits by two policies."""
    digits = source / "share/examples/digits"
    for policy in ("minimize_grid", "spread"):
        run(build / "bin/buda", "compile", digits / "digits-conv.onnx", "-o", folder / f"{policy}.tti", "--reports", folder / policy, "--policy", policy)
        (folder / policy / "digits-conv").rename(folder / f"reports-{policy}")
        (folder / policy).rmdir()
    (folder / "both").mkdir()
    for policy in ("minimize_grid", "spread"):
        (folder / f"reports-{policy}").rename(folder / "both" / policy)
    return folder / "both"


def write_graph(path, name, nodes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"schema": "buda.graph/1", "name": name, "level": "tensor", "nodes": nodes}))


def large(folder, count):
    """A chain of blocks, in each of which the value forks and joins."""
    nodes = [{"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [1, 32]}]}]
    last = "x"
    for block in range((count - 2) // 5):
        scope = f"/layers.{block}/"
        for name, op, inputs in (("a", "relu", [last]), ("b", "tanh", [scope + "a"]), ("c", "sigmoid", [scope + "a"]), ("d", "add", [scope + "b", scope + "c"]),
                                 ("e", "multiply", [scope + "d", last])):
            nodes.append({"name": scope + name, "op": op, "inputs": inputs})
        last = scope + "e"
    nodes.append({"name": "y", "op": "output", "inputs": [last]})
    write_graph(folder / "large.graph.json", "large", nodes)
    return len(nodes)


def write_report(path, name, at, device=None):
    """A placement of one op, without a netlist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    op = {"name": name, "node": name, "type": name, "grid_loc": at, "grid": [1, 1], "t": 1, "mblock": [1, 1], "ublock": [1, 1], "buf_size_mb": 2, "candidates": 1,
          "cycles": {"kernel": 2**63 - 1, "inputs": [1], "output": 1, "limiter": 1}, "limiter": "kernel", "resources": []}
    totals = {"ops": 1, "epochs": 1, "chip_cores": 1, "most_cores": 1, "cycles": 1, "inputs_per_second": 1e300, "bottleneck_op": name, "limiter": name,
              "parameter_bytes": 0, "dram": []}
    epoch = {"graph": name, "cores": 1, "cycles": 1, "interval": 1, "limiter": name, "slowest_op": name, "ops": [op]}
    path.write_text(json.dumps({"schema": "buda.placement-report/1", "model": name, "device": device or "../../" + name, "policy": name, "microbatch": 1, "totals": totals,
                                "epochs": [epoch], "queues": []}))


def hostile(folder):
    """Markup and odd names wherever a text stands, numbers beyond any range, and files that are none."""
    tensor = {"dtype": "F32", "shape": [1, 32]}
    write_graph(folder / "names/hostile.graph.json", HOSTILE, [
        {"name": HOSTILE, "op": "input", "types": [tensor], "tags": {HOSTILE: HOSTILE}, "origins": [{"file": HOSTILE, "node": HOSTILE}]},
        {"name": "__proto__", "op": "relu", "inputs": [HOSTILE]},
        {"name": "constructor", "op": "leaky_relu", "inputs": ["__proto__"], "attrs": {"alpha": 1e308}},
        {"name": HOSTILE, "op": "output", "inputs": ["constructor"]}])
    (folder / "names/hostile.report.json").write_text('{"schema": "buda.placement-report/1", "model": 1e999}')
    write_graph(folder / "numbers/huge.graph.json", "huge", [{"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [10**30]}]}])
    (folder / "names/perf").mkdir()
    summary = {"schema": "buda.perf/1", "arch": HOSTILE, "clock_hz": 1e300, "cycles": 1, "inputs": 1, "executed_inputs": 1, "inputs_per_second": 1e300, "latency": 1,
               "epochs": []}
    (folder / "names/perf/summary.json").write_text(json.dumps(summary))
    (folder / "names/perf/executions.json").write_text('{"schema": "buda.executions/1", "clock_hz": 1, "executions": [{"begin": 1e300}]}')
    (folder / "odd/perf").mkdir(parents=True)
    (folder / "odd/perf/summary.json").write_text(json.dumps(summary))
    backwards = {"program": HOSTILE, "graph": HOSTILE, "begin": 2**53 - 1, "end": 0,
                 "ops": [{"name": HOSTILE, "cores": -1, "bars": [{"first": 2**62, "last": -1, "begin": 2**53 - 1, "end": 0, "work": -1e300}]}]}
    (folder / "odd/perf/executions.json").write_text(json.dumps({"schema": "buda.executions/1", "clock_hz": -1, "executions": [backwards]}))
    write_report(folder / "far/m.report.json", "m", [2**31 - 1, 0])
    write_report(folder / "loads/m.report.json", HOSTILE, [0, 0], "n150")
    (folder / "loads/perf").mkdir()
    load = {"utilisation": 1e300, "bytes": 2**53}
    epoch = {"graph": HOSTILE, "executions": 1, "inputs": 1, "total": 1, "cycles": 1, "period": 1, "first_input": 1, "span": 1, "causes": [], "ops": [], "tiles": 1, "events": 1,
             "loads": [{"resource": name, **load} for name in (HOSTILE, "NoC 0 1-1>2-1", "DRAM 0 lower half", "__proto__")]}
    (folder / "loads/perf/summary.json").write_text(json.dumps({**summary, "epochs": [epoch]}))
    write_report(folder / "odd/m.report.json", HOSTILE, [0, 0])
    (folder / "bytes").mkdir()
    (folder / "bytes/odd.graph.json").write_bytes(bytes(range(256)))
    (folder / "<img src=x onerror=window.harmed=1>").mkdir()
    write_graph(folder / "<img src=x onerror=window.harmed=1>/m.graph.json", "m", [{"name": "x", "op": "input", "types": [tensor]},
                                                                                      {"name": "y", "op": "output", "inputs": ["x"]}])
