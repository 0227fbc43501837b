# SPDX-License-Identifier: Apache-2.0
"""Random ops that make tiles of rows of numbers, for matrix.py: as integer_cases.py."""

KINDS = ["tilizer", "embedding"]
FORMATS = ["Float16_b", "Float32", "Float16"]


def random_case(rnd, kind, queue):
    fmt = rnd.choice(FORMATS)
    acc = rnd.choice(["Float32", "Float16" if fmt == "Float16" else "Float16_b"])
    out = rnd.choice([fmt, "Float32", "Bfp8" if fmt == "Float16" and acc != "Float32" else "Bfp8_b"])
    t, mblock, ublock, grid = rnd.choice([1, 2]), [rnd.choice([1, 2, 3]) for _ in range(2)], [rnd.choice([1, 2]) for _ in range(2)], [rnd.choice([1, 2]) for _ in range(2)]
    attributes, table = "", rnd.choice([1, 3])
    if kind == "embedding":
        t, ublock[0], grid[0] = 1, 1, 1
        attributes = f", attributes: {{num_indices: {32 * mblock[0]}}}"
    rt, ct = (grid[i] * mblock[i] * ublock[i] for i in range(2))
    text = "devices: {arch: wormhole_b0}\nqueues:\n"
    flat = {True: "type: queue, layout: flat,", False: "type: queue,"}
    if kind == "tilizer":
        names, shapes, formats = ["a"], [(t, rt, ct)], [fmt]
        text += queue("a", "HOST", fmt, t, grid, mblock, ublock, "r", 0).replace(flat[False], flat[True])
    else:
        names, shapes, formats = ["a", "b"], [(1, table, ct), (1, 1, 1)], [fmt, "RawUInt32"]
        text += queue("a", "HOST", fmt, 1, [1, grid[1]], [table, mblock[1]], [1, ublock[1]], "r", 0).replace("type: queue,", "type: ram, layout: flat,")
        text += queue("b", "HOST", "RawUInt32", 1, [1, 1], [1, 1], [1, 1], "r", 1).replace(flat[False], flat[True])
    text += queue("out", "op", out, t, grid, mblock, ublock, "r", len(names))
    text += (f"graphs:\n  g:\n    target_device: 0\n    input_count: 1\n    op: {{type: {kind}, grid_loc: [0, 0], grid_size: [{grid[0]}, {grid[1]}], inputs: [{', '.join(names)}], "
             f"t: {t}, mblock: [{mblock[0]}, {mblock[1]}], ublock: [{ublock[0]}, {ublock[1]}], ublock_order: r, buf_size_mb: 2, in_df: [{', '.join(formats)}], out_df: {out}, "
             f"intermed_df: {out}, acc_df: {acc}, math_fidelity: HiFi3{attributes}}}\n")
    setting = "{prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}"
    ram = "{prologue: false, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}"
    settings = ", ".join(f"{n}: {ram if kind == 'embedding' and n == 'a' else setting}" for n in names)
    text += "programs:\n  - main:\n    - execute: {graph_name: g, queue_settings: {" + settings + "}}\n"
    return text, dict(zip(names, shapes)), dict(zip(names, formats))


def random_values(rnd, count, fmt):
    """Rows that there are in the smallest table; of numbers, some without an exponent."""
    if fmt == "RawUInt32":
        return [float(rnd.randrange(32)) for _ in range(count)]
    return [rnd.choice([rnd.uniform(-2, 2), rnd.uniform(-100, 100), 0.0, 1e-40, 6e-8]) for _ in range(count)]
