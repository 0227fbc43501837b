# SPDX-License-Identifier: Apache-2.0
"""For every option of optimizer and balancer a model on which it acts."""
import dataclasses
import pathlib

ROW_OF_CHIPS = pathlib.Path(__file__).with_name("row_of_chips.yaml")


def graph(name, *nodes, tensors=()):
    """Nodes are (name, op, inputs, attributes or the shape of an input); tensors are (name, shape), of which each element differs, or
    (name, shape, type, elements)."""
    out = []
    for node_name, op, inputs, rest in nodes:
        node = {"name": node_name, "op": op}
        if op in ("parameter", "constant"):
            node["value"] = node_name
        elif op == "input":
            dtype, shape = rest if isinstance(rest, tuple) else ("F32", rest)
            node["types"] = [{"dtype": dtype, "shape": shape}]
        else:
            node["inputs"] = inputs
            rest = dict(rest or {})
            if "types" in rest:
                node["types"] = [{"dtype": dtype, "shape": shape} for dtype, shape in rest.pop("types")]
            if rest:
                node["attrs"] = rest
        out.append(node)
    stored = []
    for tensor_name, shape, *given in tensors:
        count = 1
        for size in shape:
            count *= size
        dtype, values = given or ("F32", [(i % 17 - 8) / 8 for i in range(count)])
        stored.append({"name": tensor_name, "dtype": dtype, "shape": shape, "values": values})
    return {"schema": "buda.graph/1", "name": name, "level": "tensor", "nodes": out, "tensors": stored}


def op_on_input(name, op, shape, attributes):
    return graph(name, ("x", "input", [], shape), ("y", op, ["x"], attributes), ("out", "output", ["y"], None))


def step_of_training():
    """What the backward phase reads of two products and a formula between them."""
    step = graph("step", ("x", "input", [], [64, 64]), ("w", "input", [], [64, 64]), ("v", "input", [], [64, 64]),
                 ("y", "matmul", ["x", "w"], None), ("a", "gelu", ["y"], None), ("z", "matmul", ["a", "v"], None),
                 ("out", "output", ["z"], None), ("slope", "tanh", ["y"], None), ("dy", "multiply", ["slope", "x"], None),
                 ("at", "transpose", ["a"], {"perm": [1, 0]}), ("dv", "matmul", ["at", "x"], None),
                 ("grad.y", "output", ["dy"], None), ("grad.v", "output", ["dv"], None))
    for node in step["nodes"]:
        if node["name"] in ("slope", "dy", "at", "dv"):
            node["tags"] = {"phase": "backward"}
    return step


MODELS = [
    graph("chain", ("x", "input", [], [32, 40]), ("a", "tanh", ["x"], None), ("b", "sigmoid", ["a"], None), ("c", "add", ["b", "a"], None),
          ("out", "output", ["c"], None)),
    graph("quantised", ("x", "input", [], [32, 40]), ("scale", "constant", [], None), ("zero", "constant", [], None),
          ("q", "quantize", ["x", "scale", "zero"], None), ("y", "dequantize", ["q", "scale", "zero"], None), ("out", "output", ["y"], None),
          tensors=[("scale", [], "F32", [0.5]), ("zero", [], "I8", [3])]),
    graph("one-row", ("x", "input", [], [1, 40]), ("a", "tanh", ["x"], None), ("b", "sigmoid", ["a"], None), ("c", "add", ["b", "a"], None),
          ("out", "output", ["c"], None)),
    graph("branches", ("x", "input", [], [32, 40]), ("a", "tanh", ["x"], None), ("b", "sigmoid", ["x"], None), ("c", "add", ["a", "b"], None),
          ("d", "exp", ["x"], None), ("e", "multiply", ["c", "d"], None), ("out", "output", ["e"], None)),
    graph("mlp", ("x", "input", [], [64, 64]), ("w", "parameter", [], None), ("b", "parameter", [], None), ("v", "parameter", [], None),
          ("fc1", "matmul", ["x", "w", "b"], None), ("act", "relu", ["fc1"], None), ("fc2", "matmul", ["act", "v"], None),
          ("out", "output", ["fc2"], None), tensors=[("w", [64, 64]), ("b", [64]), ("v", [64, 64])]),
    # Lowering computes constants, too; what comes before it finds only those that are folded.
    graph("indices", ("x", "input", [], [4, 6]), ("a", "constant", [], None), ("i", "cast", ["a"], {"dtype": "I64"}),
          ("y", "gather", ["x", "i"], {"dim": 0}), ("out", "output", ["y"], None), tensors=[("a", [2])]),
    step_of_training(),
    op_on_input("softmax", "softmax", [32, 64], {"dim": -1}),
    op_on_input("log-softmax", "log_softmax", [32, 64], {"dim": -1}),
    op_on_input("pool", "max_pool2d", [1, 2, 6, 6], {"kernel": [2, 2]}),
    op_on_input("whole-pool", "max_pool2d", [1, 2, 6, 6], {"kernel": [6, 6]}),
    graph("pool-indices", ("x", "input", [], [1, 2, 6, 6]),
          ("y", "max_pool2d", ["x"], {"kernel": [2, 2], "indices": "row_major", "types": [("F32", [1, 2, 5, 5]), ("I64", [1, 2, 5, 5])]}),
          ("out", "output", ["y"], None), ("at", "output", [{"from": "y", "port": 1}], None)),
    graph("conv", ("x", "input", [], [1, 2, 6, 6]), ("w", "input", [], [3, 2, 3, 1]), ("y", "conv2d", ["x", "w"], None),
          ("out", "output", ["y"], None)),
    graph("stride", ("x", "input", [], [1, 3, 32, 32]), ("w", "input", [], [16, 3, 4, 4]),
          ("y", "conv2d", ["x", "w"], {"stride": [2, 2]}), ("out", "output", ["y"], None)),
    graph("not-a-number", ("x", "input", [], [4, 4]), ("y", "is_nan", ["x"], None), ("out", "output", ["y"], None)),
    graph("heads", ("x", "input", [], [64, 64]), ("w", "parameter", [], None), ("v", "parameter", [], None), ("p", "matmul", ["x", "w"], None),
          ("q", "matmul", ["x", "v"], None), ("out", "output", ["p"], None), ("also", "output", ["q"], None),
          tensors=[("w", [64, 64]), ("v", [64, 64])]),
    graph("moved", ("x", "input", [], [4, 6]), ("s", "input", [], [6, 4]), ("v", "input", [], [8, 6]), ("t", "transpose", ["x"], {"perm": [1, 0]}),
          ("r", "add", ["t", "s"], None), ("u", "reshape", ["r"], {"shape": [3, 8]}), ("y", "matmul", ["u", "v"], None),
          ("out", "output", ["y"], None)),
    graph("state", ("x", "input", [], [1, 40]), ("s", "input", [], [1, 40]), ("t", "add", ["x", "s"], None), ("y", "tanh", ["t"], None),
          ("out", "output", ["y"], None), ("next", "output", ["t"], None)),
    graph("cache", ("x", "input", [], [1, 40]), ("past_1", "input", [], [1, 40]), ("t", "add", ["x", "past_1"], None),
          ("y", "tanh", ["t"], None), ("out", "output", ["y"], None), ("present_1", "output", ["t"], None)),
    graph("wide", ("x", "input", [], [32, 288]), ("a", "tanh", ["x"], None), ("out", "output", ["a"], None)),
    # A result that L1 holds once on the largest grid, but not twice.
    graph("once", ("x", "input", [], [224, 102400]), ("a", "tanh", ["x"], None), ("out", "output", ["a"], None)),
    # What goes from a to b is larger than all of L1.
    graph("parts", ("x", "input", [], [8192, 4096]), ("a", "tanh", ["x"], None), ("b", "sigmoid", ["a"], None), ("out", "output", ["b"], None)),
    # 211 rows of tiles: no number of cores shares them.
    graph("tall", ("x", "input", [], [40960, 1024]), ("a", "tanh", ["x"], None), ("out", "output", ["a"], None)),
]


@dataclasses.dataclass
class Witness:
    """Setting the option to each of the values changes what is compiled, or the tool says why not, on each of the models.

    Without values those are taken that differ from the default: the other one of a flag, both where a flag has no default (of these one has
    to act), all others of a choice or of the registered policies. A value of a family is written with its key: "op.fc2.u_kt=1".
    """
    models: str
    values: list = None
    given: list = dataclasses.field(default_factory=list)  # further options, with and without the option
    idle: list = None  # further options with which the option cannot act, so that the tool has to say why


# By the option's name on the command line, or by the key of its family.
WITNESSES = {
    # optimizer
    "opt-level": [Witness("chain", ["2"]), Witness("mlp", ["0"])],
    "default-df-override": [Witness("mlp", ["Float16", "Bfp8_b"])],
    "default-accumulate-df": [Witness("mlp", ["Float32"])],
    "default-math-fidelity": [Witness("mlp")],
    "fp32-fallback": [Witness("mlp", ["Float16"], given=["--default-df-override", "Float32", "--device", "e75"])],
    "quantized": [Witness("quantised")],
    "amp-light": [Witness("mlp")],
    "amp-level": [Witness("mlp")],
    "recompute": [Witness("step")],
    "enable-recompute": [Witness("step", ["true"])],
    "saved-limit": [Witness("step", ["0.001"])],
    "enable-bfp8-conversion": [Witness("mlp")],
    "configure-mixed-precision": [Witness("mlp", ["{op_type: matmul, output_df: Bfp8_b}"])],
    "enable-consteval": [Witness("indices")],
    "enable-stable-softmax": [Witness("softmax log-softmax")],
    "enable-conv-prestride": [Witness("stride")],
    "max-pool-add-sub-surround": [Witness("pool whole-pool pool-indices")],
    "max-pool-add-sub-surround-value": [Witness("pool whole-pool pool-indices", ["5"], given=["--max-pool-add-sub-surround"], idle=[])],
    "enable-device-tilize": [Witness("chain")],
    "enable-auto-fusing": [Witness("chain")],
    "enable-small-tiles": [Witness("one-row")],
    "op-names-dont-fuse": [Witness("chain", ["b"], given=["--enable-auto-fusing"], idle=["--enable-auto-fusing=false"])],
    "op-names-manual-fuse": [Witness("chain", ["b,c"])],
    "insert-fracture-group": [Witness("mlp", ["[[fc1, -1, 2]]"])],
    "override-multi-op-fracture-factor": [Witness("conv", ["y,3"])],
    "op-names-to-epoch-break": [Witness("mlp", ["fc2"])],
    "op-names-to-chip-break": [Witness("mlp", ["fc2"])],
    "scheduler-constraints": [Witness("heads", ["q,p"])],
    "insert-queues": [Witness("chain", ["a,b"])],
    "insert-buffering-nop": [Witness("chain", ["a,b"])],
    "op-intermediates-to-save": [Witness("chain", ["a"])],
    "loopback-outputs": [Witness("state", ["s=next"])],
    "enable-link-past-cache-ios": [Witness("cache")],
    "enable-cpu-fallback": [Witness("not-a-number")],
    "cpu-fallback-ops": [Witness("branches", ["exp"], idle=["--enable-cpu-fallback=false"])],
    "cpu-fallback-nodes": [Witness("branches", ["d"], idle=["--enable-cpu-fallback=false"])],
    "enable-tm-cpu-fallback": [Witness("moved", idle=["--enable-cpu-fallback=false"])],
    "tm-cpu-fallback-max-depth": [Witness("moved", ["0"], given=["--enable-tm-cpu-fallback"], idle=[])],
    # balancer
    "policy": [Witness("stride")],
    "scheduler": [Witness("branches", ["Topological"])],
    "dram-placement": [Witness("mlp")],
    "num-chips": [Witness("softmax", ["2"], given=["--device", "n300", "--policy", "single_op_per_epoch"])],
    "chip-ids": [Witness("softmax", ["0,1", "1"], given=["--device", "n300", "--policy", "single_op_per_epoch"])],
    "cluster": [Witness("softmax", [str(ROW_OF_CHIPS)], given=["--device", "n300", "--num-chips", "0", "--policy", "single_op_per_epoch"])],
    "chip-placement-policy": [Witness("softmax", ["SNAKE"], given=["--device", "n300", "--num-chips", "2", "--policy", "single_op_per_epoch"])],
    "auto-transpose": [Witness("wide", ["false"], given=["--set", "op.a.grid=[1,9]"])],
    "dram-parameters": [Witness("mlp")],
    "t-streaming": [Witness("tall")],
    "manual-t-streaming": [Witness("tall", ["true"])],
    "enumerate-u-kt": [Witness("mlp", ["false"], given=["--policy", "random", "--seed", "3"])],
    "single-buffer-fallback": [Witness("once", ["false"])],
    "place-on-one-row": [Witness("mlp", ["true"], given=["--policy", "single_op_per_epoch"])],
    "interactive-placer": [Witness("stride", ["false"])],
    "self-cut": [Witness("parts", given=["--policy", "minimize_grid", "--set", "op.a.t-stream=[8,1]", "--set", "op.b.t-stream=[1,8]"])],
    "wide-sums": [Witness("mlp", ["false"])],
    "disable-l1-accumulate": [Witness("mlp", ["true"], given=["--set", "op.fc2.u_kt=1"])],
    "input-queues-on-host": [Witness("mlp", ["true"])],
    "output-queues-on-host": [Witness("mlp", ["true"])],
    "forked-dram-inputs": [Witness("branches", ["true"])],
    "effort": [Witness("stride", ["0"])],
    "static-queues": [Witness("chain", ["true"], given=["--set", "op.b.epoch-break=true"])],
    "queue-entries": [Witness("mlp", ["3"])],
    "microbatch": [Witness("mlp", ["2"])],
    "op.NAME.grid": [Witness("mlp", ["op.fc2.grid=[2,1]"], given=["--policy", "minimize_grid"])],
    "op.NAME.mblock": [Witness("mlp", ["op.fc2.mblock=[2,1]"])],
    "op.NAME.ublock": [Witness("mlp", ["op.fc2.ublock=[1,1]"], given=["--policy", "minimize_grid"])],
    "op.NAME.wide-sums": [Witness("mlp", ["op.fc2.wide-sums=none"])],
    "op.NAME.u_kt": [Witness("mlp", ["op.fc2.u_kt=1"])],
    "op.NAME.buf_size_mb": [Witness("mlp", ["op.fc2.buf_size_mb=4"])],
    "op.NAME.input-buffer-multiplier": [Witness("mlp", ["op.fc2.input-buffer-multiplier=0:4"])],
    "op.NAME.place": [Witness("mlp", ["op.fc2.place=[3,2]"])],
    "op.NAME.transpose": [Witness("chain", ["op.a.transpose=true"], given=["--set", "op.a.grid=[1,2]"])],
    "op.NAME.t-stream": [Witness("mlp", ["op.fc2.t-stream=[2,1]"])],
    "op.NAME.t-stream-dir": [Witness("tall", ["op.a.t-stream-dir=n"])],
    "op.NAME.dram-parameters": [Witness("mlp", ["op.fc2.dram-parameters=true"]),
                                Witness("mlp", ["op.fc2.dram-parameters=false"], given=["--dram-parameters"])],
    "op.NAME.chip": [Witness("mlp", ["op.fc2.chip=1"], given=["--device", "n300"])],
    "op.NAME.resident-inputs": [Witness("mlp", ["op.fc2.resident-inputs=[]"])],
    "op.NAME.bands": [Witness("stride", ["op.y.picked.bands=1"], given=["--set", "op.y.picked.grid=[2,1]"])],
    "queue.NAME.dram": [Witness("mlp", ["queue.x.dram=[0,3]"])],
    "op.NAME.epoch-break": [Witness("chain", ["op.b.epoch-break=true"])],
}

# What is about a run of the tool or its files, and not about the model.
NOT_ABOUT_THE_MODEL = {
    "picture", "write-overrides", "misfits", "output", "device", "from-netlist", "harvested-rows", "settings", "pipeline", "list-passes", "passes", "stop-after", "print-after",
    "accuracy", "calibrate", "expect", "accuracy-rules", "trial-placement", "bisect-limit", "dump-dir", "timings", "verify", "verify-inputs", "verify-correlation", "verify-error", "plan", "report",
}
