# SPDX-License-Identifier: Apache-2.0
"""Random topk ops, for matrix.py: as integer_cases.py."""

KINDS = ["topk"]


def random_case(rnd, kind, queue):
    fmt = rnd.choice(["Float16_b", "Float32", "Float16", "Bfp8_b"])
    acc = "Float16" if fmt == "Float16" else "Float16_b"
    sort, k = rnd.choice(["max", "argmax"]), rnd.choice([1, 2, 4, 8, 16, 32])
    out = "UInt16" if sort == "argmax" else rnd.choice([acc, "Float32"])
    t, blocks, inner, grid, rows = rnd.choice([1, 2]), rnd.choice([1, 2]), rnd.choice([1, 2, 4]), [rnd.choice([1, 2]) for _ in range(2)], rnd.choice([1, 2])
    shape = (t, grid[0] * rows, grid[1] * blocks * inner)
    formats = [fmt, "UInt16"]
    text = "devices: {arch: wormhole_b0}\nqueues:\n"
    for i, (name, f) in enumerate(zip("ab", formats)):
        text += queue(name, "HOST", f, t, (1, 1), shape[1:], (1, 1), "r", i)
    text += queue("out", "op", out, t, grid, [rows, 1], [1, 1], "r", 2)
    text += (f"graphs:\n  g:\n    target_device: 0\n    input_count: 1\n    op: {{type: topk, grid_loc: [0, 0], grid_size: [{grid[0]}, {grid[1]}], inputs: [a, b], "
             f"t: {t}, mblock: [{rows}, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2, in_df: [{fmt}, UInt16], out_df: {out}, "
             f"intermed_df: {acc}, acc_df: {acc}, math_fidelity: HiFi2, attributes: {{m_k: {blocks}, u_kt: {inner}, k: {k}, sort: {sort}}}}}\n")
    setting = "{prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}"
    text += f"programs:\n  - main:\n    - execute: {{graph_name: g, queue_settings: {{a: {setting}, b: {setting}}}}}\n"
    return text, {"a": shape, "b": shape}, dict(zip("ab", formats))


def random_values(rnd, count, fmt):
    """Indices whose low byte is zero, too; numbers that come more than once, both zeros and what has no exponent."""
    if fmt == "UInt16":
        return [float(rnd.choice([rnd.randrange(65536), 256 * rnd.randrange(256)])) for _ in range(count)]
    return [rnd.choice([rnd.uniform(-2, 2), rnd.randint(-8, 8), rnd.choice([0.0, -0.0, 1e-39, -1e-39, 6e-8])]) for _ in range(count)]
