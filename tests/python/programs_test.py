#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of PyBuda's users that infer: programs_test.py BUILD_DIR. Each test is a way in which they use the API, with what must come of it. Exit 77 without NumPy or PyTorch."""
import queue
import sys
import tempfile
import unittest

from user_programs import Programs, TorchTwo, Two, np, pair, pybuda, torch


class Inference(Programs):
    def test_modules_run_by_themselves(self):
        module, inputs = Two("direct"), pair()
        self.near(module.run(*inputs), module.expected(*inputs))
        net = TorchTwo()
        self.near(pybuda.PyTorchModule("direct_pt", net).run(*inputs), net(*inputs))

    def test_modules_are_placed_by_run_inference(self):
        module, (a, b) = Two("run_direct"), pair()
        self.near(pybuda.run_inference(module, inputs=[{"act2": b, "act1": a}]).get(), module.expected(a, b))
        net = TorchTwo()
        self.near(pybuda.run_inference(pybuda.PyTorchModule("run_direct_pt", net), inputs=[{"act2": b, "act1": a}]).get(), net(a, b))

    def test_inputs_come_before_and_after_the_call(self):
        tt0, module = pybuda.TTDevice("tt0"), Two("placed")
        tt0.place_module(module)
        inputs = [pair() for _ in range(4)]
        tt0.push_to_inputs(inputs[0])
        results = pybuda.run_inference()
        self.near(results.get(), module.expected(*inputs[0]))
        tt0.push_to_inputs(inputs[1])
        self.nothing_more(results)
        self.assertIs(pybuda.run_inference(input_count=3), results)
        for given in inputs[2:]:
            tt0.push_to_inputs(*given)
        for given in inputs[1:]:
            self.near(results.get(), module.expected(*given))
        tt0.push_to_inputs(inputs[0])
        self.nothing_more(results)

    def test_as_many_as_come(self):
        tt0, module = pybuda.TTDevice("tt0"), Two("placed")
        tt0.place_module(module)
        given = pair()
        tt0.push_to_inputs(given)
        results = pybuda.run_inference(input_count=0)
        for _ in range(2):
            tt0.push_to_inputs(given)
        for _ in range(3):
            self.near(results.get(timeout=0), module.expected(*given))

    def test_own_queues(self):
        module, given, own = Two("placed"), pair(), queue.Queue()
        self.assertIs(pybuda.run_inference(module, inputs=[given], output_queue=own), own)
        self.near(own.get(timeout=0), module.expected(*given))

    def test_prepared_pipelines(self):
        tt0, module = pybuda.TTDevice("tt0"), Two("placed")
        tt0.place_module(module)
        results = pybuda.initialize_pipeline(training=False, sample_inputs=pair())
        self.nothing_more(results)
        for _ in range(2):
            given = pair()
            tt0.push_to_inputs(given)
            pybuda.run_forward(input_count=1)
            self.near(results.get(timeout=0), module.expected(*given))

    def test_devices_hand_on_what_they_give(self):
        first, second, third = TorchTwo(), Two("stage1"), TorchTwo()
        cpu0 = pybuda.CPUDevice("cpu0", module=pybuda.PyTorchModule("stage0", first))
        tt1 = pybuda.TTDevice("tt1", module=second)
        cpu2 = pybuda.CPUDevice("cpu2", module=pybuda.PyTorchModule("stage2", third), input_dtypes=[torch.float32, torch.float32])
        handed = [queue.Queue(), queue.Queue()]
        results = pybuda.initialize_pipeline(training=False, d2d_fwd_queues=handed, sample_inputs=pair())
        given = pair()
        cpu0.push_to_inputs(given)
        pybuda.run_forward()
        of_first = first(*given)
        self.near(handed[0].get(timeout=0), of_first)
        of_second = second.expected(*of_first)
        self.near([t.value() / 20 for t in handed[1].get(timeout=0)], [t / 20 for t in of_second])
        self.near([t.value() / 500 for t in results.get(timeout=0)], [t / 500 for t in third(*of_second)])
        self.assertEqual([tt1.get_parameter_checkpoint().keys(), cpu2.get_parameter_checkpoint().keys()], [{"stage1.weights1", "stage1.weights2"}, {"weights1", "weights2"}])

    def test_several_modules_on_a_device(self):
        first, second, given = Two("first"), Two("second"), pair()
        tt0 = pybuda.TTDevice("tt0", module=[first, second])
        tt0.push_to_inputs(given)
        self.near([t.value() / 20 for t in pybuda.run_inference().get()], [t / 20 for t in second.expected(*first.expected(*given))])

    def test_other_shapes_and_other_modules_are_compiled_anew(self):
        tt0, module = pybuda.TTDevice("tt0", module=Two("placed")), Two("other")
        for shape in ((4, 32, 32), (1, 64, 32)):
            given = torch.rand(shape), torch.rand(shape)
            tt0.push_to_inputs(given)
            self.near(pybuda.run_inference().get(), tt0.modules[0].expected(*given))
        tt0.remove_modules()
        tt0.place_module(module)
        tt0.push_to_inputs(given)
        self.near(pybuda.run_inference().get(), module.expected(*given))

    def test_parameters_are_read_and_replaced(self):
        tt0, given = pybuda.TTDevice("tt0", module=Two("placed")), pair()
        tt0.push_to_inputs(given)
        before = pybuda.run_inference().get()[0].value()
        (parameters,) = pybuda.get_parameter_checkpoint(tt0)
        pybuda.update_device_parameters(tt0, [{name: 2 * value.value() for name, value in parameters.items()}])
        tt0.push_to_inputs(given)
        self.near(pybuda.run_inference().get()[:1], [2 * before])
        with self.assertRaisesRegex(KeyError, "has no parameter 'weights3'"):
            pybuda.update_device_parameters(tt0, [{"weights3": before}])

    def test_formats(self):
        module = Two("mod")
        tt0 = pybuda.TTDevice("tt0", module=module, fp32_fallback=pybuda.DataFormat.Float16)
        module.weights1.set_data_format(pybuda.DataFormat.Float16)
        pybuda.configure_mixed_precision(name_regex="matmul1", output_df=pybuda.DataFormat.Bfp8)
        given = tuple(x.to(torch.float16) for x in pair())
        tt0.push_to_inputs(given)
        self.near(pybuda.run_inference().get(), module.expected(*(x.float() for x in given)))

    def test_images_are_saved_and_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            tt0 = pybuda.TTDevice("tt0", arch=pybuda.BackendDevice.Grayskull, devtype=pybuda.BackendType.Golden)
            module, given = Two("test"), (torch.rand(1, 1, 32, 32), torch.rand(1, 1, 32, 32))
            tt0.place_module(module)
            image = tt0.compile_to_image(img_path=f"{folder}/images/test.tti", training=False, sample_inputs=given)
            self.assertEqual((image.arch, image.get_input_shapes()), (pybuda.BackendDevice.Grayskull, [[1, 1, 32, 32]] * 2))
            pybuda.pybuda_reset()
            tt1 = pybuda.TTDevice.load_image(img_path=f"{folder}/images/test.tti")
            tt1.push_to_inputs(given)
            self.near(pybuda.run_inference().get(), module.expected(*given))

    def test_nops_queues_and_breaks(self):
        module, given = Two("mod"), pair()
        tt0 = pybuda.TTDevice("tt0", module=module)
        pybuda.insert_buffering_nop("act1", ["matmul1"], hoist_tms=False)
        pybuda.config.set_epoch_break("matmul2")
        pybuda.config.override_op_size("matmul1", (1, 1))
        pybuda.config.override_dram_queue_placement("act2", channel=0)
        tt0.push_to_inputs(given)
        self.near(pybuda.run_inference().get(), module.expected(*given))

    def test_what_is_wrong_is_told(self):
        with self.assertRaisesRegex(RuntimeError, "no module is placed"):
            pybuda.run_inference()
        tt0 = pybuda.TTDevice("tt0", module=Two("mod"))
        with self.assertRaisesRegex(RuntimeError, "give sample_inputs"):
            pybuda.initialize_pipeline(training=False)
        with self.assertRaisesRegex(TypeError, r"PyTorchModule\('NAME', module\)"):
            tt0.place_module(TorchTwo())
        with self.assertRaisesRegex(TypeError, "a CPUDevice runs PyTorchModules"):
            pybuda.CPUDevice("cpu0", module=Two("mod"))
        with self.assertRaisesRegex(AttributeError, "did you mean 'balancer_policy'"):
            pybuda.config._get_global_compiler_config().balancer_polcy = "Ribbon"
        with self.assertRaisesRegex(NotImplementedError, "a device of PyBuda is a process"):
            tt0.push_to_command_queue(None)
        with self.assertRaisesRegex(NotImplementedError, "record no times"):
            pybuda.set_configuration_options(performance_trace=pybuda.PerfTraceLevel.VERBOSE)
        with self.assertWarnsRegex(UserWarning, "runtime of silicon"):
            pybuda.set_configuration_options(backend_opt_level=4)
        pybuda.shutdown()
        tt0 = pybuda.TTDevice("tt0", module=Two("mod"))
        tt0.push_to_inputs(torch.rand(4, 32, 32), torch.rand(4, 16, 32, 32).numpy()[:, :, :5])
        with self.assertRaisesRegex(pybuda.Error, "node 'add_0': the shapes"):
            pybuda.run_inference()
        self.assertTrue(pybuda.error_raised())


class Devices(Programs):
    def test_what_waits_is_looked_at(self):
        tt0, (a, b) = pybuda.TTDevice("tt0", module=Two("mod")), pair()
        with self.assertRaisesRegex(RuntimeError, "no inputs were pushed"):
            tt0.get_first_inputs(peek=True)
        tt0.push_to_inputs(a, b)
        tt0.push_to_target_inputs(b)
        size, first = tt0.get_first_inputs(peek=True)
        self.assertEqual((size, first[0] is a, tt0.get_first_targets()[0] is b), (4, True, True))
        self.assertEqual(len(tt0.compile_for((a, b), microbatch_size=4)), 2)
        tt0.forward(1)
        tt0.sync()
        with self.assertRaisesRegex(RuntimeError, "no inputs wait"):
            tt0.forward(1)
        self.assertEqual([name for name, _, _ in tt0.get_dram_io_queues("input")], ["act1", "act2"])
        tt0.place_loss_module(pybuda.op.loss.L1Loss("l1"))
        tt0.remove_loss_module()
        self.assertIsNone(tt0.loss_module)
        self.assertEqual([p.get_name() for p in tt0.get_parameters()], list(tt0.get_all_parameters()))
        self.assertIsInstance(tt0, pybuda.Device)
        tt0.shutdown_device()

    def test_graphs_are_traced(self):
        module, given = Two("mod"), pair()
        tt0 = pybuda.TTDevice("tt0", module=module)
        _, outputs, within, inputs, targets = tt0.generate_graph(*given, return_intermediate=True)
        self.near(outputs, module.expected(*given))
        self.near([within["matmul2"]], module.expected(*given)[1:])
        self.assertEqual((inputs, targets), (given, ()))

    def test_models_of_merged_images(self):
        first, second, given = Two("first"), Two("second"), tuple(torch.rand(1, 32, 32) for _ in range(2))
        with tempfile.TemporaryDirectory() as folder:
            for module in (first, second):
                pybuda.compile_to_image(module, f"{folder}/{module.name}.tti", sample_inputs=given)
            merged = pybuda.merge_models(folder, ["first", "second"], merged_model_location=f"{folder}/both.tti")["path"]
            device = pybuda.TTDevice.load_image(img_path=merged)
            device.set_active_subgraph(1)
            self.assertEqual(device.get_active_subgraph(), 1)
            device.push_to_inputs(given)
            self.near(pybuda.run_inference().get(), second.expected(*given))
            with self.assertRaisesRegex(ValueError, "has 2 models"):
                device.set_active_subgraph(2)

    def test_hosts_compile_nothing(self):
        net, given = TorchTwo(), pair()
        cpu0 = pybuda.CPUDevice("cpu0", module=pybuda.PyTorchModule("net", net))
        self.near(cpu0.compile_for_pt(given), net(*given))
        with self.assertRaisesRegex(NotImplementedError, "no TensorFlow"):
            cpu0.forward_tf(1)
        with self.assertRaisesRegex(NotImplementedError, "keys and values"):
            cpu0.generate(1, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
