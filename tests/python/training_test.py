#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of PyBuda's users that train: training_test.py BUILD_DIR SOURCE_DIR. Each test is a way in which they use the API, next to PyTorch. Exit 77 without NumPy or PyTorch."""
import pathlib
import queue
import subprocess
import sys
import tempfile
import unittest

from user_programs import One, Programs, TorchOne, TorchTwoIn, Two, np, pair, plain, pybuda, torch


class Training(Programs):
    def close(self, got, expected, share=0.03):
        """Within a share of the largest element: devices compute in 16 bits."""
        expected = plain(expected)
        np.testing.assert_allclose(plain(got), expected, rtol=0, atol=share * float(np.abs(expected).max()))

    def test_checkpoints_and_losses_are_read_back(self):
        module = One("module")
        weights, net = module.in_torch()
        tt0 = pybuda.TTDevice("tt0", module=module, optimizer=pybuda.optimizers.SGD(learning_rate=0.5, device_params=True))
        tt0.place_loss_module(pybuda.op.loss.L1Loss("l1_loss"))
        losses, checkpoints = queue.Queue(), queue.Queue()
        inputs, target = pair(), torch.rand(4, 32, 32)
        tt0.push_to_inputs(inputs)
        tt0.push_to_target_inputs(target)
        self.assertIs(pybuda.run_training(checkpoint_queue=checkpoints, loss_queue=losses), checkpoints)
        loss = (net(*inputs) - target).abs().mean()
        loss.backward()
        self.assertAlmostEqual(losses.get_nowait(), loss.item(), delta=0.02)
        (checkpoint,) = checkpoints.get_nowait()
        for name, value in weights.items():
            # Where prediction and target are close, 16 bits decide about the sign.
            self.close(checkpoint[name].value() - value.detach(), -0.5 * value.grad, 0.15)
        self.nothing_more(checkpoints)

    def test_loop_by_hand(self):
        """Two steps of two microbatches each, whose gradients add up."""
        module = One("stage0")
        weights, net = module.in_torch()
        tt0 = pybuda.TTDevice("tt0", module=module, optimizer=pybuda.optimizers.SGD(learning_rate=2, device_params=True))
        tt0.place_loss_module(pybuda.PyTorchModule("mse", torch.nn.MSELoss()))
        checkpoints = pybuda.initialize_pipeline(training=True, sample_inputs=pair(), sample_targets=(torch.rand(4, 32, 32),))
        rule = torch.optim.SGD(weights.values(), lr=2)
        for _ in range(2):
            rule.zero_grad()
            for accumulated in range(2):
                inputs, target = pair(), torch.rand(4, 32, 32)
                tt0.push_to_inputs(inputs)
                tt0.push_to_target_inputs(target)
                pybuda.run_forward(input_count=1)
                pybuda.run_backward(input_count=1, zero_grad=accumulated == 0)
                torch.nn.functional.mse_loss(net(*inputs), target).backward()
            (gradients,) = pybuda.get_parameter_gradients()
            for name, value in weights.items():
                self.close(gradients[name], value.grad)
            pybuda.run_optimizer(checkpoint=True)
            rule.step()
            (checkpoint,) = checkpoints.get_nowait()
            for name, value in weights.items():
                self.close(checkpoint[name], value, 0.02)

    def test_modules_of_one_device_and_targets(self):
        """Modules of one device learn as one module of them all, to the bit; target grid computes what golden does."""
        def trained(devtype, modules, name_of):
            pybuda.shutdown()
            device = pybuda.TTDevice("tt0", devtype=devtype, optimizer=pybuda.optimizers.SGD(learning_rate=0.1))
            device.place_module(modules)
            device.place_loss_module(pybuda.PyTorchModule("mse", torch.nn.MSELoss()))
            losses, x, y = queue.Queue(), torch.linspace(0, 1, 512).reshape(16, 32), torch.linspace(1, 0, 256).reshape(16, 16)
            pybuda.initialize_pipeline(training=True, sample_inputs=(x,), sample_targets=(y,), output_queue=losses)
            for _ in range(2):
                device.push_to_inputs(x)
                device.push_to_target_inputs(y)
                pybuda.run_forward()
                pybuda.run_backward(zero_grad=True)
                pybuda.run_optimizer()
            return [losses.get_nowait() for _ in range(2)], {name_of(name): plain(value).tobytes() for name, value in device.get_parameter_checkpoint().items()}

        class Half(torch.nn.Module):
            def __init__(self, name, layer):
                super().__init__()
                self.name = name
                setattr(self, name, layer)

            def forward(self, x):
                return torch.tanh(getattr(self, self.name)(x))

        halves = [Half("first", torch.nn.Linear(32, 24)), Half("second", torch.nn.Linear(24, 16))]
        whole = trained(pybuda.BackendType.Golden, pybuda.PyTorchModule("whole", torch.nn.Sequential(*halves)), lambda name: name.split(".", 1)[1])
        parts = trained(pybuda.BackendType.Model, [pybuda.PyTorchModule(half.name, half) for half in halves], lambda name: name)
        self.assertLess(whole[0][1], whole[0][0])
        self.assertEqual(parts, whole)

    def test_parameters_of_one_name_are_refused(self):
        device = pybuda.TTDevice("tt0", module=[pybuda.PyTorchModule(name, torch.nn.Linear(8, 8)) for name in ("one", "two")])
        device.place_loss_module(pybuda.PyTorchModule("mse", torch.nn.MSELoss()))
        with self.assertRaisesRegex(ValueError, "modules 'one' and 'two' both have a parameter 'weight'"):
            pybuda.initialize_pipeline(training=True, sample_inputs=(torch.rand(4, 8),), sample_targets=(torch.rand(4, 8),))

    def test_microbatches_wait_for_backward(self):
        module = One("module")
        weights, net = module.in_torch()
        tt0 = pybuda.TTDevice("tt0", module=module)
        tt0.place_loss_module(pybuda.PyTorchModule("mse", torch.nn.MSELoss()))
        pybuda.initialize_pipeline(training=True, sample_inputs=pair(), sample_targets=(torch.rand(4, 32, 32),), microbatch_count=4)
        for _ in range(4):
            inputs, target = pair(), torch.rand(4, 32, 32)
            tt0.push_to_inputs(inputs)
            tt0.push_to_target_inputs(target)
            torch.nn.functional.mse_loss(net(*inputs), target).backward()
        pybuda.run_forward(input_count=4)
        tt0.push_to_inputs(inputs)
        tt0.push_to_target_inputs(target)
        with self.assertRaisesRegex(pybuda.Error, "RT094"):
            pybuda.run_forward(input_count=1)
        pybuda.run_backward(input_count=4, zero_grad=True)
        (gradients,) = pybuda.get_parameter_gradients(tt0)
        for name, value in weights.items():
            self.close(gradients[name], value.grad)
        with self.assertRaisesRegex(RuntimeError, "no microbatch waits"):
            pybuda.run_backward()

    def test_loss_on_the_host_behind_a_device(self):
        """A device, and behind it the host with a module, a loss and an optimizer; gradients go back through both."""
        first, second = Two("stage0"), TorchTwoIn()
        tt0 = pybuda.TTDevice("tt0", module=first)
        cpu1 = pybuda.CPUDevice("cpu1", module=pybuda.PyTorchModule("stage1", second), optimizer_f=lambda m: torch.optim.SGD(m.parameters(), lr=0.5))
        cpu1.place_loss_module(pybuda.PyTorchModule("l1loss", torch.nn.L1Loss()))
        traced = queue.Queue()
        cpu1.set_debug_gradient_trace_queue(traced)
        ahead, back = [queue.Queue()], [queue.Queue()]
        checkpoints = pybuda.initialize_pipeline(training=True, sample_inputs=pair(), sample_targets=(torch.rand(4, 32, 32),), d2d_fwd_queues=ahead, d2d_bwd_queues=back)
        inputs, target = pair(), torch.rand(4, 32, 32)
        tt0.push_to_inputs(inputs)
        cpu1.push_to_target_inputs(target)
        weights = [torch.tensor(p.value, requires_grad=True) for p in first.get_parameters()]
        m1, m2 = inputs[0] @ weights[0], inputs[1] @ weights[1]
        before = second.weights.detach().clone()
        torch.nn.functional.l1_loss((m1 + m2) @ (own := before.clone().requires_grad_(True)) + m2, target).backward()
        pybuda.run_forward()
        pybuda.run_backward(zero_grad=True)
        gradients = pybuda.get_parameter_gradients()
        for weight, p in zip(weights, first.get_parameters()):
            self.close(gradients[0][p.name], weight.grad)
        self.close(gradients[1]["weights"], own.grad)
        self.assertEqual((len(ahead[0].get_nowait()), len(back[0].get_nowait())), (2, 2))
        incoming, outgoing = traced.get_nowait()
        self.assertEqual((incoming, len(outgoing)), (None, 2))
        self.assertEqual(cpu1.pop_parameter_checkpoint().keys(), {"weights"})
        pybuda.run_optimizer(checkpoint=True)
        of_device, of_host = checkpoints.get_nowait()
        self.close(of_host["weights"], before - 0.5 * own.grad)
        for p in first.get_parameters():
            np.testing.assert_allclose(plain(of_device[p.name]), p.value, rtol=0.01)

    def test_host_in_front_of_a_device(self):
        """Its parameters learn, too."""
        torch.manual_seed(2)
        table, module = torch.nn.Embedding(50, 32), torch.nn.Linear(32, 16)
        cpu0 = pybuda.CPUDevice("cpu0", module=pybuda.PyTorchModule("embedding", table), optimizer_f=lambda m: torch.optim.Adam(m.parameters(), lr=0.05))
        tt1 = pybuda.TTDevice("tt1", module=pybuda.PyTorchModule("head", module), optimizer=pybuda.optimizers.Adam(learning_rate=0.05, device_params=True))
        tt1.place_loss_module(pybuda.PyTorchModule("ce", torch.nn.CrossEntropyLoss()))
        tokens = torch.randint(50, (64,))
        targets = tokens % 16
        for _ in range(20):
            cpu0.push_to_inputs(tokens)
            tt1.push_to_target_inputs(targets)
        losses = queue.Queue()
        pybuda.run_training(steps=20, loss_queue=losses)
        losses = [losses.get_nowait() for _ in range(20)]
        self.assertLess(losses[-1], losses[0] / 4)
        self.assertFalse(pybuda.error_raised())

    def test_losses_that_the_host_computes(self):
        """Any loss of PyTorch serves a device, of a sum, too."""
        net = torch.nn.Linear(32, 8)
        tt0 = pybuda.TTDevice("tt0", module=pybuda.PyTorchModule("net", net))
        tt0.place_loss_module(pybuda.PyTorchModule("margin", torch.nn.MultiMarginLoss(reduction="sum")))
        x, target = torch.rand(16, 32), torch.randint(8, (16,))
        losses = queue.Queue()
        pybuda.initialize_pipeline(training=True, sample_inputs=(x,), sample_targets=(target,), output_queue=losses)
        tt0.push_to_inputs(x)
        tt0.push_to_target_inputs(target)
        pybuda.run_forward()
        pybuda.run_backward(zero_grad=True)
        loss = torch.nn.functional.multi_margin_loss(net(x), target, reduction="sum")
        loss.backward()
        self.assertAlmostEqual(losses.get_nowait() / 16, loss.item() / 16, delta=0.05)
        (gradients,) = pybuda.get_parameter_gradients()
        self.close(gradients["bias"], net.bias.grad, 0.1)

    def test_weights_from_the_host(self):
        module = One("module")
        weights, net = module.in_torch()
        tt0 = pybuda.TTDevice("tt0", module=module)
        tt0.place_loss_module(pybuda.op.loss.L1Loss("l1"))
        inputs, target, losses = pair(), torch.rand(4, 32, 32), queue.Queue()
        pybuda.initialize_pipeline(training=True, sample_inputs=inputs, sample_targets=(target,), output_queue=losses)
        for _ in range(2):
            tt0.push_to_inputs(inputs)
            tt0.push_to_target_inputs(target)
        pybuda.run_forward(input_count=1)
        pybuda.run_backward(input_count=1, zero_grad=True)
        (gradients,), (parameters,) = pybuda.get_parameter_gradients(tt0), pybuda.get_parameter_checkpoint(tt0)
        for name, parameter in parameters.items():
            parameter.value().grad = gradients[name].value()
        torch.optim.SGD([p.value() for p in parameters.values()], lr=1.0).step()
        pybuda.update_device_parameters(tt0, [parameters])
        pybuda.run_forward(input_count=1)
        pybuda.run_backward(input_count=1, zero_grad=True)
        first, second = losses.get_nowait(), losses.get_nowait()
        self.assertLess(second, first)
        self.close(pybuda.get_parameter_checkpoint(tt0)[0]["module.weights1"], parameters["module.weights1"], 0.01)

    def test_training_goes_on_when_inputs_come(self):
        module = One("module")
        optimizer = pybuda.optimizers.SGD(learning_rate=0.5, parameters=[module.weights1])

        class Halves(pybuda.schedulers.LearningRateScheduler):
            def get_lr(self):
                return self.optimizer.learning_rate / 2

        tt0 = pybuda.TTDevice("tt0", module=module, optimizer=optimizer, scheduler=Halves(optimizer))
        tt0.place_loss_module(pybuda.op.loss.L1Loss("l1"))
        losses = queue.Queue()
        checkpoints = pybuda.run_training(epochs=2, steps=2, accumulation_steps=1, microbatch_count=2, checkpoint_interval=1, loss_queue=losses)
        for number in range(8):
            self.assertEqual((losses.qsize(), optimizer.learning_rate), (number, 0.5 if number < 4 else 0.25))
            tt0.push_to_target_inputs(torch.rand(4, 32, 32))
            tt0.push_to_inputs(pair())
        self.assertEqual((losses.qsize(), checkpoints.qsize(), optimizer.learning_rate), (8, 5, 0.125))
        final = [checkpoints.get_nowait() for _ in range(5)][-1][0]
        self.assertFalse(np.array_equal(plain(final["module.weights1"]), module.weights1.value))
        # It is not one of those that the optimizer changes.
        np.testing.assert_array_equal(plain(final["module.weights2"]), module.weights2.value)
        states = tt0.get_optimizer_params(False)["module.weights1"]
        self.assertEqual(float(states["lr"].value()), 0.125)
        self.assertEqual(tt0.get_scheduler_params(False)["module.weights1"].keys(), {"lr"})

    def test_schedules_of_both_kinds(self):
        optimizer = pybuda.optimizers.SGD(learning_rate=1, device_params=True)

        class OfTorch(pybuda.torch_schedulers.TorchLearningRateScheduler):
            def get_lr(self):
                return [self.optimizer.param_groups[0]["lr"] + 1]

        class Rising(pybuda.schedulers.LearningRateScheduler):
            def get_lr(self):
                return self.optimizer.learning_rate + 1

            def get_pytorch_scheduler(self, optimizer):
                self.torch_scheduler = self.torch_scheduler or OfTorch(optimizer)
                return self.torch_scheduler

        scheduler = Rising(optimizer)
        pybuda.TTDevice("tt0", module=One("stage0"), optimizer=optimizer, scheduler=scheduler)
        cpu1 = pybuda.CPUDevice("cpu1", module=pybuda.PyTorchModule("stage1", TorchOne()), optimizer_f=lambda m: torch.optim.SGD(m.parameters(), lr=1), scheduler_f=lambda o: scheduler.get_pytorch_scheduler(o))
        cpu1.place_loss_module(pybuda.PyTorchModule("loss", torch.nn.L1Loss()))
        pybuda.initialize_pipeline(training=True, sample_inputs=pair(), sample_targets=(torch.rand(4, 32, 32),), _sequential=True)
        for _ in range(10):
            pybuda.run_schedulers(True)
        self.assertEqual((optimizer.learning_rate, cpu1.optimizer.param_groups[0]["lr"]), (11, 11))

    def test_images_of_steps(self):
        tt0 = pybuda.TTDevice("tt0", module=One("module"), optimizer=pybuda.optimizers.LAMB(device_params=True))
        tt0.place_loss_module(pybuda.op.loss.CrossEntropyLoss("ce"))
        with tempfile.TemporaryDirectory() as folder:
            image = tt0.compile_to_image(img_path=f"{folder}/step.tti", training=True, sample_inputs=pair(), sample_targets=(torch.rand(4, 32, 32),))
            self.assertIs(image._description["training"], True)

    def test_phases_that_are_not_there_are_told(self):
        tt0 = pybuda.TTDevice("tt0", module=One("module"), optimizer=pybuda.optimizers.SGD(learning_rate=1, device_params=True))
        tt0.place_loss_module(pybuda.op.loss.L1Loss("l1"))
        pybuda.initialize_pipeline(training=True, sample_inputs=pair(), sample_targets=(torch.rand(4, 32, 32),))
        with self.assertRaisesRegex(pybuda.Error, "RT096"):
            pybuda.run_optimizer()
        # A step in one run.
        tools, digits = pathlib.Path(sys.argv[1]).resolve() / "bin", pathlib.Path(sys.argv[2]).resolve() / "share/examples/digits/digits.onnx"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([tools / "importer", digits, "-q"], cwd=folder, check=True)
            subprocess.run([tools / "autograd", "digits.graph.json", "-q"], cwd=folder, check=True)
            step = pybuda.compile_to_image(f"{folder}/digits.train.graph.json", f"{folder}/step.tti")
            with pybuda._native.TrainingSession.open(step) as session, self.assertRaisesRegex(pybuda.Error, "RT095"):
                session.forward({})

    def test_evaluation_on_the_host(self):
        net, x = TorchOne(), torch.rand(4, 32)
        cpu0 = pybuda.CPUDevice("cpu0", module=pybuda.PyTorchModule("net", net))
        values = {name: 2 * p.detach() for name, p in net.named_parameters()}
        (result,) = cpu0.cpueval_forward([x], values, True)
        np.testing.assert_allclose(result, 2 * net(x).detach(), rtol=1e-5)
        (of_x,), of_parameters = cpu0.cpueval_backward([torch.ones(4, 32)], values)
        np.testing.assert_allclose(of_x, 2 * torch.ones(4, 32) @ net.layer.weight.detach(), rtol=1e-4)
        np.testing.assert_allclose(of_parameters["layer.bias"], torch.full((32,), 4.0))
        wrapped = pybuda.PyTorchModule("net", net)
        wrapped.backward((wrapped.forward(x), torch.ones(4, 32)))
        np.testing.assert_allclose(net.layer.bias.grad, torch.full((32,), 4.0))

    def test_what_is_wrong_is_told(self):
        tt0 = pybuda.TTDevice("tt0", module=One("module"))
        with self.assertRaisesRegex(RuntimeError, "has no loss"):
            pybuda.initialize_pipeline(training=True, sample_inputs=pair())
        with self.assertRaisesRegex(RuntimeError, "not prepared for training"):
            pybuda.run_backward()
        with self.assertRaisesRegex(RuntimeError, "not prepared for training"):
            pybuda.get_parameter_gradients(tt0)
        tt0.place_loss_module(pybuda.op.loss.L1Loss("l1"))
        with self.assertRaisesRegex(pybuda.Error, "broadcast"):
            pybuda.initialize_pipeline(training=True, sample_inputs=pair(), sample_targets=(torch.rand(7, 5),))
        with self.assertRaisesRegex(NotImplementedError, "weight decay"):
            pybuda.optimizers.Adam(0.1, bias_correction=False, weight_decay=0.1, device_params=True)
        with self.assertRaisesRegex(NotImplementedError, "Nesterov"):
            pybuda.optimizers.LARS(nesterov=True, device_params=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
