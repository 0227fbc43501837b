#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the judge's own parts: what it counts as right, what it takes out of files, and what its page says."""
import json
import pathlib
import tempfile
import unittest

import numpy as np

import frozen
import measure
import packed
import page
import recipes
import sounds
import toolchain


def values(*numbers, shape=None):
    return np.asarray(numbers, np.float32).reshape(shape or len(numbers))


class Measure(unittest.TestCase):
    def test_many_elements_must_correlate(self):
        expected = np.linspace(-1, 1, 200, dtype=np.float32)
        self.assertTrue(measure.compare(expected * 1.1, expected).right)
        shifted = measure.compare(np.roll(expected, 20), expected)
        self.assertFalse(shifted.right)
        self.assertAlmostEqual(shifted.correlation, np.corrcoef(np.roll(expected, 20), expected)[0, 1], 6)

    def test_few_elements_must_be_near(self):
        expected = values(10, 1, 0)
        self.assertTrue(measure.compare(values(10.2, 1, 0), expected).right)
        self.assertFalse(measure.compare(values(10.3, 1, 0), expected).right)
        self.assertAlmostEqual(measure.compare(values(10.3, 1, 0), expected).error, 0.03, 6)

    def test_the_winner_must_stay_where_it_is_clear(self):
        self.assertFalse(measure.same_winners(values(0.5, 0.6), values(0.6, 0.5), 0.02))
        self.assertTrue(measure.same_winners(values(0.5, 0.51), values(0.51, 0.5), 0.02))
        self.assertTrue(measure.same_winners(values(3), values(2), 0.02))

    def test_each_row_has_its_winner(self):
        expected = values(1, 0, 0, 1, shape=(2, 2))
        self.assertFalse(measure.same_winners(values(1, 0, 1, 0, shape=(2, 2)), expected, 0.02))

    def test_integers_must_be_equal(self):
        expected = np.arange(100)
        self.assertTrue(measure.compare(expected.astype(np.int32), expected).right)
        self.assertFalse(measure.compare(np.where(expected == 7, 8, expected), expected).right)

    def test_a_constant_is_no_reason_to_pass(self):
        expected = np.linspace(0, 1, 100, dtype=np.float32)
        difference = measure.compare(np.zeros_like(expected), expected)
        self.assertIsNone(difference.correlation)
        self.assertFalse(difference.right)

    def test_what_is_not_finite_is_wrong(self):
        expected = np.linspace(0, 1, 100, dtype=np.float32)
        for bad in (np.nan, np.inf):
            difference = measure.compare(np.where(expected == 1, np.float32(bad), expected), expected)
            self.assertFalse(difference.right)
            self.assertEqual(difference.error, np.inf)

    def test_infinities_may_be_equal(self):
        expected = values(1, -np.inf)
        self.assertEqual(measure.compare(expected, expected).error, 0)

    def test_another_shape_is_wrong(self):
        self.assertFalse(measure.compare(np.zeros((2, 3)), np.zeros((3, 2))).right)

    def test_outputs_pair_by_name_or_position(self):
        self.assertEqual(measure.pair({"b": 1, "a": 2}, {"a": 3, "b": 4}), [(2, 3), (1, 4)])
        self.assertEqual(measure.pair({"x": 1, "y": 2}, {"a": 3, "b": 4}), [(1, 3), (2, 4)])
        with self.assertRaises(ValueError):
            measure.pair({"x": 1}, {"a": 3, "b": 4})

    def test_the_worst_of_large_outputs_counts(self):
        right, wrong = measure.Difference(0.999, 0.1, True), measure.Difference(0.5, 0.2, False)
        self.assertEqual(measure.worst([right, wrong], [100, 3]), measure.Difference(0.999, 0.2, False))
        self.assertEqual(measure.worst([right, wrong], [3, 3]).correlation, 0.5)
        self.assertIsNone(measure.worst([measure.Difference(None, 0.1, True)], [1]).correlation)


class Files(unittest.TestCase):
    def test_a_part_is_taken_out_of_an_archive(self):
        with tempfile.TemporaryDirectory() as name:
            archive = pathlib.Path(name) / "assets.data"
            archive.write_bytes(b"aaabbbbcc")
            archive.with_name("assets_loader.js").write_text('load({"files": [{"filename": "/x/a.tflite", "start": 0, "end": 3}, {"filename": "/y/b.tflite", "start": 3, "end": 7}], "size": 9})')
            self.assertEqual(packed.extract(archive, "b.tflite"), b"bbbb")
            with self.assertRaises(ValueError):
                packed.extract(archive, "c.tflite")

    def test_a_graph_gets_its_weights_back(self):
        constant = {"name": "c", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}, "value": {"tensor": {"dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": "1"}]}}}}}
        model = {"modelTopology": {"node": [constant]}, "weightsManifest": [{"paths": ["w.bin"], "weights": [{"name": "d", "shape": [2], "dtype": "bool"}, {"name": "c", "shape": [1], "dtype": "float32"}]}]}
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "model.json"
            file.write_text(json.dumps(model))
            file.with_name("w.bin").write_bytes(b"\x01\x00" + np.float32(3).tobytes())
            # NodeDef {name: "c", op: "Const", attr: {"dtype": DT_FLOAT, "value": a tensor of shape [1] with four bytes}}; then versions
            attributes = b"\x2a\x0b\x0a\x05dtype\x12\x02\x30\x01" + b"\x2a\x19\x0a\x05value\x12\x10\x42\x0e\x08\x01\x12\x04\x12\x02\x08\x01\x22\x04\x00\x00\x40\x40"
            node = b"\x0a\x01c\x12\x05Const" + attributes
            self.assertEqual(frozen.convert(file), b"\x0a" + bytes([len(node)]) + node + b"\x22\x03\x08\xb8\x03")

    def test_numbers_of_protobuf(self):
        self.assertEqual(frozen.varint(300), b"\xac\x02")
        self.assertEqual(frozen.varint(-1), b"\xff" * 9 + b"\x01")

    def test_a_loader_without_files(self):
        with self.assertRaises(ValueError):
            packed.parts("load()")


class Recipes(unittest.TestCase):
    def test_silence_precedes_short_sounds(self):
        self.assertEqual(sounds.end_of(values(1, 2), 4).tolist(), [0, 0, 1, 2])
        self.assertEqual(sounds.end_of(values(1, 2, 3), 2).tolist(), [2, 3])

    def test_sounds_are_resampled(self):
        sound = np.sin(np.arange(2205) * 0.01)
        self.assertEqual(len(sounds.at_rate(sound, 22050)), 1600)
        self.assertAlmostEqual(float(sounds.at_rate(sound, 22050)[160]), float(np.sin(2.205)), 3)

    def test_windows_end_with_the_last_frame(self):
        frames = np.arange(90 * recipes.BANDS, dtype=np.float32).reshape(90, recipes.BANDS)
        made = recipes.windows(frames, 2)
        self.assertEqual(made.shape, (2, recipes.WINDOW, recipes.BANDS, 1))
        self.assertEqual(made[1, -1, -1, 0], frames[-1, -1])
        self.assertEqual(made[0, 0, 0, 0], frames[90 - recipes.WINDOW - recipes.HOP, 0])
        with self.assertRaises(ValueError):
            recipes.windows(frames, 3)


class Toolchain(unittest.TestCase):
    def test_the_first_error_and_its_hint(self):
        text = "m.onnx: warning: slow\nm.onnx: error: too large [BL011]\nhint: make it smaller\nm.onnx: error: other [ON001]\n"
        self.assertEqual(toolchain.first_error(text), ("too large [BL011]", "make it smaller"))
        self.assertEqual(toolchain.first_error("error: no operator [TF030]\nimporter: note: op type X\n"), ("no operator [TF030]", "op type X"))
        self.assertEqual(toolchain.first_error("Killed\n"), ("Killed", None))
        self.assertEqual(toolchain.first_error(""), ("no message", None))

    def test_symbolic_sizes_become_options(self):
        described = {"inputs": [{"name": "x", "shape": ["n", 3, None]}, {"name": "y", "shape": [-1, ""]}]}
        options = toolchain.dimensions(described, {"x": np.zeros((1, 3, 5)), "y": np.zeros((2, 4))})
        self.assertEqual(options[1::2], ["n=1", "x.2=5", "y.0=2", "y.1=4"])

    def test_inputs_get_the_names_of_the_graph(self):
        self.assertEqual(toolchain.rename({"a:0": 1, "b:0": 2}, ["a", "b"]), {"a": 1, "b": 2})
        self.assertEqual(toolchain.rename({"a": 1, "b": 2}, ["b", "a"]), {"a": 1, "b": 2})


class Page(unittest.TestCase):
    row = {"name": "one", "what": "a model", "package": "p", "file": "m.onnx"}
    right = {"correlation": 0.99999, "error": 0.00001, "right": True}

    def result(self, seconds, **other):
        return {"one": {"ways": {way: self.right for way, _ in page.COLUMNS if way != "accuracy"} | other, "compile": seconds}}

    def write(self, results):
        return page.write([self.row], results, {"onnxruntime": "1", "tflite": "2", "tfjs": "3"})

    def test_cells(self):
        self.assertEqual(page.cell(self.right), "1.0000, < 0.01 %")
        self.assertEqual(page.cell({"correlation": None, "error": 0.1234, "right": False}), "**-, 12 %**")
        self.assertEqual(page.cell({"refused": "too large", "code": "BL011"}), "refused: BL011")
        self.assertEqual(page.percent(float("inf")), "not finite")

    def test_checks_leave_times_out_and_nothing_else(self):
        first, later = self.write(self.result(1.0)), self.write(self.result(7.0))
        self.assertNotEqual(first, later)
        self.assertEqual(page.without_times(first), page.without_times(later))
        wrong = self.write(self.result(1.0, e150=self.right | {"right": False}))
        self.assertNotEqual(page.without_times(first), page.without_times(wrong))

    def test_what_is_refused_is_said_once(self):
        no = {"refused": "too | large", "code": "BL011", "hint": None}
        written = self.write(self.result(None, exact=no, bits=no, fp32=no))
        self.assertIn("| one | default, bits, fp32 | too \\| large | - |", written)
        self.assertIn("| refused | 1 | 1 | 1 | 0 | 0 | 0 |", written)

    def test_what_all_ways_refuse(self):
        no = {"refused": "unknown", "code": "ON001", "hint": "export"}
        self.assertIn("| one | all | unknown | export |", self.write({"one": {"ways": {way: no for way, _ in page.COLUMNS if way != "accuracy"}}}))

    def test_what_needs_no_accuracy_has_none(self):
        wrong, short = self.right | {"right": False}, {"refused": "0.98 is reached", "code": "OZ022", "hint": None}
        self.assertIn("| 1.0000, < 0.01 % | - | 1.0 |", self.write(self.result(1.0)))
        written = self.write(self.result(1.0, exact=wrong, accuracy=short))
        self.assertIn("| refused: OZ022 | 1.0 |", written)
        self.assertIn("| one | `--accuracy` | 0.98 is reached | - |", written)

    def test_what_is_lost_beyond_bfloat16_is_counted(self):
        wrong = self.right | {"right": False}
        self.assertIn("| wrong, although *bfloat16* is right | 1 | 0 | 0 | 0 | 1 | 0 |", self.write(self.result(1.0, exact=wrong, e150=wrong)))
        self.assertIn("| wrong, although *bfloat16* is right | 0 | 0 | 0 | 0 | 0 | 0 |", self.write(self.result(1.0, exact=wrong, bfloat16=wrong)))


if __name__ == "__main__":
    unittest.main()
