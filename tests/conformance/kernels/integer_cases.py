# SPDX-License-Identifier: Apache-2.0
"""Random ops of integers, for matrix.py: a netlist of one op, the shapes of its inputs in tiles, and their formats."""

KINDS = ["quantization", "dequantization", "requantization", "matmul", "matmul", "matmul", "multiply", "add", "subtract", "nop", "maximum", "splice", "reduce"]


def formats_of(rnd, kind):
    """Of the inputs and of the output."""
    integer = rnd.choice(["Int8", "Int32"])
    made = rnd.choice(["Int8", "Int32"])
    return {"quantization": (["Float32", "Float32"], "Int8"), "dequantization": ([integer, "Float32"], "Float32"),
            "requantization": ([integer, "Float32"], "Int8"), "nop": ([integer], made), "reduce": ([integer], made),
            "splice": ([integer, integer], made), "maximum": ([integer, rnd.choice(["Int8", "Int32"])], made)}.get(kind, (["Int8", "Int8"], made))


def random_case(rnd, kind, queue):
    t, between = rnd.choice([1, 2]), "Int32"
    mblock, ublock, grid = ([rnd.choice([1, 2]) for _ in range(2)] for _ in range(3))
    rt, ct = (grid[i] * mblock[i] * ublock[i] for i in range(2))
    formats, out = formats_of(rnd, kind)
    attributes = [f"zero_point: {rnd.choice([0.0, 3.0, -11.5])}"] if "quantization" in kind else []
    shapes = [(t, rt, ct)] * len(formats)
    if kind == "matmul":
        blocks, inner, z, bias, scaled = rnd.choice([1, 2, 3]), rnd.choice([1, 2]), rnd.choice([1, 1, 2]), rnd.random() < 0.5, rnd.choice(["", "requant", "dequant"])
        attributes += [f"m_k: {blocks}, u_kt: {inner}"] + ["accumulate: true, z: 2"] * (z == 2) + ["bias: true"] * bias
        attributes += [f"{scaled}: true, zero_point: {rnd.choice([0.0, 5.0])}"] * bool(scaled)
        shapes = [(z * t, rt, blocks * inner), (z * t, blocks * inner, ct)] + [(t, rt, ct)] * (bias + bool(scaled))
        formats = formats + ["Int32"] * bias + ["Float32"] * bool(scaled)
        out = {"requant": "Int8", "dequant": rnd.choice(["Float32", "Float16_b"])}.get(scaled, out)
    if kind == "splice":
        units = mblock[0] * mblock[1]
        mblock[1] *= 2
        ct *= 2
        attributes += [f"input{i}: [0, {units}, {units}]" for i in range(2)]
    if kind == "reduce":
        dim, inner = rnd.choice("rcz"), rnd.choice([1, 2, 3])
        along = {"r": 0, "c": 1}.get(dim)
        if along is not None:
            mblock[along] = ublock[along] = 1
            rt, ct = (grid[i] * mblock[i] * ublock[i] for i in range(2))
        else:
            out = between = formats[0]
        attributes += [f"dim: {dim}, type: max, " + (f"z: {inner}" if dim == "z" else f"m_k: 1, u_kt: {inner}")]
        shapes = [(t * inner, rt, ct) if dim == "z" else (t, rt * inner, ct) if dim == "r" else (t, rt, ct * inner)]
    if rnd.random() < 0.2 and kind != "reduce":
        attributes.append("relu_en: true, relu_threshold: 0.0, relu_mode: min")
    order, names = "r" if kind == "matmul" else rnd.choice("rc"), ["a", "b", "c", "d"][:len(shapes)]
    text = "devices: {arch: wormhole_b0}\nqueues:\n"
    for i, (name, fmt, shape) in enumerate(zip(names, formats, shapes)):
        text += queue(name, "HOST", fmt, shape[0], (1, 1), shape[1:], (1, 1), "r", i)
    text += queue("out", "op", out, t, grid, mblock, ublock, order, len(names))
    text += (f"graphs:\n  g:\n    target_device: 0\n    input_count: 1\n    op: {{type: {kind}, grid_loc: [0, 0], grid_size: [{grid[0]}, {grid[1]}], inputs: [{', '.join(names)}], "
             f"t: {t}, mblock: [{mblock[0]}, {mblock[1]}], ublock: [{ublock[0]}, {ublock[1]}], ublock_order: {order}, buf_size_mb: 2, in_df: [{', '.join(formats)}], out_df: {out}, "
             f"intermed_df: {between}, acc_df: Int32, math_fidelity: HiFi4{', attributes: {' + ', '.join(attributes) + '}' if attributes else ''}}}\n")
    setting = "{prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}"
    text += "programs:\n  - main:\n    - execute: {graph_name: g, queue_settings: {" + ", ".join(f"{n}: {setting}" for n in names) + "}}\n"
    return text, dict(zip(names, shapes)), dict(zip(names, formats))


def random_values(rnd, count, kind):
    """Of an input: whole numbers, with the largest ones and zeros; scales, and what is quantized, with halves."""
    if kind == "Int8":
        return [float(rnd.choice([rnd.randint(-127, 127), rnd.randint(-127, 127), 0, 127, -127])) for _ in range(count)]
    if kind == "Int32":
        return [float(rnd.choice([rnd.randint(-40000, 40000), rnd.randint(-300, 300), 0, 0x7fffff80, -0x7fffff80])) for _ in range(count)]
    return [rnd.choice([0.5, 0.25, -1.5, 0.0, 1.0, rnd.uniform(-2, 2), rnd.uniform(0, 0.02), rnd.uniform(-100, 100), 1e-40, 3e38]) for _ in range(count)]
