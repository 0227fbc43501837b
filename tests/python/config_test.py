#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The configuration of PyBuda's documents: config_test.py BUILD_DIR SOURCE_DIR. Every name of docs/options.md is a setting or a call; what they set is what a compilation gets. Exit 77 without NumPy."""
import pathlib
import re
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve() / "lib/python3/dist-packages"))
SOURCE = pathlib.Path(sys.argv[2])
try:
    import numpy as np
except ImportError:
    print("no NumPy")
    sys.exit(77)
import openbuda as pybuda
from openbuda import config

# Environment variables, and what has a place of its own: arguments of TTDevice, or of calls.
ELSEWHERE = {"tvm_graph_store_path", "tvm_graph_load_path", "PYBUDA_ENABLE_TVM_CACHE", "PYBUDA_RELOAD_GENERATED_MODULES", "num_chips", "chip_ids", "device_mode", "tti_dump_format"}


class Net(pybuda.PyBudaModule):
    def __init__(self, name):
        super().__init__(name)
        self.weights = pybuda.Parameter(np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32))

    def forward(self, x):
        first = pybuda.op.Matmul("first", x, self.weights)
        return pybuda.op.Matmul("second", pybuda.op.Gelu("bend", first), self.weights)


def netlist_of(**device):
    """Of the module, compiled with the global configuration."""
    with tempfile.TemporaryDirectory() as folder:
        pybuda.pipeline.renew()
        image = pybuda.TTDevice("tt0", module=Net("net"), **device).compile_to_image(img_path=f"{folder}/net.tti", sample_inputs=(np.zeros((1, 64, 64), np.float32),))
        with tarfile.open(image.path) as archive:
            return archive.extractfile("unzipped_tti/net.yaml").read().decode()


def op_of(netlist, name):
    return re.search(rf"^ *{name}: \{{.*?\}}$", netlist, re.M | re.S)[0]


class Configuration(unittest.TestCase):
    def setUp(self):
        pybuda.pybuda_reset()

    def options(self):
        return config._get_global_compiler_config().options()

    def test_every_name_of_the_documents_is_there(self):
        page = (SOURCE / "docs/options.md").read_text()
        names = {name for line in page.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split(" | ")[0])}
        self.assertGreater(len(names), 60)
        settings = config._get_global_compiler_config()
        for name in sorted(names - ELSEWHERE):
            self.assertTrue(hasattr(config, name) or hasattr(settings, name), name)

    def test_settings_become_options(self):
        pybuda.set_configuration_options(balancer_policy="Ribbon", enable_auto_fusing=False, default_df_override=pybuda.DataFormat.Bfp8_b, math_fidelity=pybuda.MathFidelity.LoFi,
                                         dram_placement_algorithm=pybuda.DRAMPlacementAlgorithm.ROUND_ROBIN, op_intermediates_to_save=["first", "bend"])
        named, more = self.options()
        self.assertEqual(named, {"balancer_policy": "Ribbon", "enable_auto_fusing": "false", "default_df_override": "Bfp8_b", "default_math_fidelity": "LoFi",
                                 "dram_placement_algorithm": "ROUND_ROBIN", "op_intermediates_to_save": ["first", "bend"]})
        self.assertEqual(more, {})
        self.assertEqual(config._get_global_compiler_config().math_fidelity, pybuda.MathFidelity.LoFi)
        pybuda.pybuda_reset()
        self.assertEqual(self.options(), ({}, {}))

    def test_calls_become_options(self):
        settings = config._get_global_compiler_config()
        config.set_epoch_break(["a", "b"])
        config.set_chip_break("c")
        settings.dont_fuse("d")
        config.add_schedule_constraint(["a", "b"])
        settings.insert_queues.append(("a", "b", 1))
        config.insert_buffering_nop("a", ["b", "c"])
        config.insert_fracture_group([("op_a", -2, 2), "op_b", -2, 2], chip_ids=[0, 1])
        config.override_multi_op_fracture_factor("conv", 3)
        config.configure_mixed_precision(op_type="matmul", name_regex="a.*", output_df=pybuda.DataFormat.Bfp8_b, input_df={0: [pybuda.DataFormat.Float16_b, True]})
        settings.cpu_fallback_ops.add("cumsum")
        config.add_cpu_fallback_ops("softmax")
        config.remove_cpu_fallback_ops(["embedding"])
        named, _ = self.options()
        self.assertEqual(named, {"op_names_to_epoch_break": ["a", "b"], "op_names_to_chip_break": ["c"], "op_names_dont_fuse": ["d"], "scheduler_constraints": ["a,b"], "insert_queues": ["a,b,1"],
                                 "insert_buffering_nop": ["a,b,c"], "insert_fracture_group": ["[[[op_a, -2, 2], [op_b, -2, 2]], [0, 1]]"], "override_multi_op_fracture_factor": ["conv,3"],
                                 "configure_mixed_precision": ['{op_type: matmul, output_df: Bfp8_b, name_regex: "a.*", input_df: {0: [Float16_b, true]}}'], "cpu_fallback_ops": "cumsum,softmax"})
        with self.assertRaisesRegex(NotImplementedError, "predicates"):
            config.set_chip_break(lambda node: True)

    def test_overrides_become_keys(self):
        config.override_op_size("my_op", (2, 4))
        config.override_op_placement("my_op", (3, 5), transpose_op=True, chip_id=0, temporal_epoch_break=True)
        config.override_t_stream_dir("my_op", "C")
        config.override_t_stream_shape("my_op", (1, 4))
        config.override_u_kt("my_op", 4)
        config.override_input_buffer_multiplier("my_op", 0, 4)
        config.override_input_buffer_multiplier("my_op", 1, 2)
        config.internal_override_output_buffer_multiplier("my_op", 3)
        config.override_dram_parameters("my_op", True)
        config.override_dram_queue_placement("e2e_a_0", channel=2)
        self.assertEqual(self.options(), ({}, {"op.my_op.grid": "[2, 4]", "op.my_op.place": "[3, 5]", "op.my_op.transpose": "true", "op.my_op.chip": "0", "op.my_op.epoch-break": "true",
                                               "op.my_op.t-stream-dir": "c", "op.my_op.t-stream": "[1, 4]", "op.my_op.u_kt": "4", "op.my_op.input-buffer-multiplier": "0:4,1:2",
                                               "op.my_op.buf_size_mb": "3", "op.my_op.dram-parameters": "true", "queue.e2e_a_0.dram": "[0, 2]"}))

    def test_compilations_follow(self):
        config.override_op_size("first", (2, 1))
        config.configure_mixed_precision(op_type="matmul", name_regex="first", math_fidelity=pybuda.MathFidelity.HiFi2)
        config.set_epoch_break("second")
        netlist = netlist_of()
        self.assertIn("grid_size: [2, 1]", op_of(netlist, "first"))
        self.assertIn("math_fidelity: HiFi2", op_of(netlist, "first"))
        self.assertIn("fwd_0_1", netlist)
        self.assertIn("arch: wormhole_b0", netlist)
        self.assertIn("arch: grayskull", netlist_of(arch=pybuda.BackendDevice.Grayskull))

    def test_compilers_of_models_take_all_options(self):
        """None of the names is unknown to them."""
        settings = config._get_global_compiler_config()
        values = {"balancer_policy": "NLP", "graph_solver_self_cut_type": "FastCut", "chip_placement_policy": "SNAKE", "dram_placement_algorithm": pybuda.DRAMPlacementAlgorithm.CLOSEST,
                  "default_df_override": pybuda.DataFormat.Float16_b, "default_accumulate_df": pybuda.DataFormat.Float16_b, "default_math_fidelity": pybuda.MathFidelity.HiFi4,
                  "op_intermediates_to_save": ["first"], "loopback_outputs": {}, "amp_level": 0, "tm_cpu_fallback_max_depth": 5, "max_pool_add_sub_surround_value": 5.0, "microbatch_size": 1}
        import warnings
        for name in config._OPTIONS:
            setattr(settings, name, values.get(name, False))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            netlist = netlist_of()
        self.assertIn("math_fidelity: HiFi4", netlist)

    def test_names_of_formats(self):
        self.assertEqual(pybuda.DataFormat.from_json("Bfp8_b"), pybuda.DataFormat.Bfp8_b)
        self.assertEqual((pybuda.DataFormat.Float16_b.to_json(), pybuda.MathFidelity.HiFi3.name, str(pybuda.BackendDevice.Wormhole_B0)), ("Float16_b", "HiFi3", "BackendDevice.Wormhole_B0"))
        self.assertEqual(pybuda.MathFidelity.from_json("LoFi"), pybuda.MathFidelity.LoFi)
        with self.assertRaisesRegex(ValueError, "DataFormat has no 'Bfp9'"):
            pybuda.DataFormat.from_json("Bfp9")

    def test_what_changes_nothing_is_told(self):
        with self.assertWarnsRegex(UserWarning, "backend_runtime_args changes nothing here"):
            pybuda.set_configuration_options(backend_runtime_args="")
        with self.assertWarnsRegex(UserWarning, "store_backend_db_to_yaml changes nothing here"):
            pybuda.set_configuration_options(store_backend_db_to_yaml=True)
        pybuda.set_configuration_options(enable_recompute=True)
        self.assertEqual(self.options()[0], {"enable_recompute": "true"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
