# SPDX-License-Identifier: Apache-2.0
"""Tenstorrent devices, which are simulated: modules are compiled for a board, and run on a target."""
import os
import pathlib
import tempfile

import numpy

from . import _native, config
from .compile import compile_to_image
from .device import Device, results_of
from .formats import BackendDevice, BackendType, DataFormat, DeviceMode
from .frameworks import samples
from .image import TTDeviceImage
from .module import PyBudaModule
from .pipeline import current
from .tensor import Results, Tensor, plain
from .training_step import TrainingStep, names_of_inputs, predictions

_BOARDS = {BackendDevice.Grayskull: "e150", BackendDevice.Wormhole: "n150", BackendDevice.Wormhole_B0: "n150", BackendDevice.Blackhole: "blackhole"}
# What runs a device's programs in place of what the kind means: all of it is simulated.
_TARGETS = {BackendType.Golden: "golden", BackendType.Silicon: "golden", BackendType.Model: "grid", BackendType.Versim: "tensix"}
# Target grid computes results if asked to; without it counts tiles.
_TARGET_OPTIONS = {"grid": {"values": "exact"}}


class _Compiled:
    """A module's image, and the session that runs it."""

    def __init__(self, image, target, intermediates=(), names=()):
        self.image, self.session, self.names = image, image.open(target, **_TARGET_OPTIONS.get(target, {})), list(names)
        self.outputs = [name for name, _, _ in self.session.outputs()]
        self.intermediates = [name for name in intermediates if name in self.outputs]

    def run(self, inputs, model=""):
        taken = [name for name, _, _ in self.session.inputs(model)]
        given = inputs if isinstance(inputs, dict) else dict(zip(self.names or taken, inputs))
        # An input that changes no output is not there.
        results = self.session.run({name: plain(value) for name, value in given.items() if name in taken or name not in self.names}, model)
        saved = [results.pop(name) for name in self.intermediates]
        return list(results.values()), saved


class TTDevice(Device):
    """One or more chips of a board.

    `arch` names the board, n150 or e150, unless set_configuration_options(device_config=...) does. There is no hardware here: BackendType.Golden and Silicon run on target golden, the arithmetic of the chip;
    Model on grid, with time; Versim on tensix, instruction by instruction.
    """

    def __init__(self, name, num_chips=None, chip_ids=None, arch=None, devtype=None, device_mode=None, optimizer=None, scheduler=None, fp32_fallback=DataFormat.Float16_b, mp_context=None, module=None):
        super().__init__(name, mp_context)
        self.num_chips, self.chip_ids, self.arch = num_chips, chip_ids, arch or BackendDevice.Wormhole_B0
        self.devtype, self.device_mode = devtype or BackendType.Golden, device_mode or DeviceMode.CompileAndRun
        self.optimizer, self.scheduler, self.fp32_fallback = optimizer, scheduler, fp32_fallback
        self._image, self._compiled, self._shapes, self._subgraph, self._steps = None, [], None, 0, []
        if module is not None:
            self.place_module(module)

    # ---- what it is

    @property
    def has_image(self):
        return self._image is not None

    def board(self):
        """The name of the board, or the file that describes it."""
        settings = config._get_global_compiler_config()
        several = (self.num_chips or 0) > 1 or len(self.chip_ids or ()) > 1 or self.num_chips == 0
        name = settings.backend_device_descriptor_path or settings.device_config or ("n300" if several and _BOARDS[self.arch] == "n150" else _BOARDS[self.arch])
        rows = settings.harvested_rows
        if not rows:
            return str(name)
        if isinstance(rows[0], (list, tuple)):
            if len({tuple(chip) for chip in rows}) > 1:
                raise NotImplementedError("harvested_rows: the chips of a device have the same rows here")
            rows = rows[0]
        return f"{name}:harvested_rows={','.join(str(row) for row in rows)}"

    def get_device_config(self, compiler_cfg=None):
        """The board, its chips, and the target."""
        return {"board": self.board(), "arch": self.arch, "chip_ids": self.chip_ids or list(range(self.num_chips or 1)), "target": _TARGETS.get(self.devtype)}

    def _target(self):
        if self.devtype not in _TARGETS:
            raise NotImplementedError(f"device '{self.name}': {self.devtype} has nothing that runs programs; {', '.join(str(kind) for kind in _TARGETS)} have")
        if self.device_mode == DeviceMode.CompileOnly:
            raise RuntimeError(f"device '{self.name}' was made with DeviceMode.CompileOnly: it compiles to images, and runs nothing")
        return _TARGETS[self.devtype]

    # ---- compilation

    def _changed(self):
        for compiled in self._compiled:
            compiled.session.close()
        for step in self._steps:
            step.close()
        self._compiled, self._shapes, self._steps = [], None, []

    def _options(self, module):
        """What a module is compiled with, in addition to its inputs."""
        named, more = config._get_global_compiler_config().options()
        if self.fp32_fallback != DataFormat.Float16_b:
            named["fp32_fallback"] = self.fp32_fallback.name
            named.setdefault("default_df_override", self.fp32_fallback.name)
        if self.chip_ids:
            named["chip_ids"] = ",".join(str(chip[0] if isinstance(chip, (tuple, list)) else chip) for chip in self.chip_ids)
        elif self.num_chips is not None:
            named["num_chips"] = str(self.num_chips)
        formats = [(p.name, p.data_format) for p in module.get_parameters() if p.data_format] if isinstance(module, PyBudaModule) else []
        rules = [config.text_of({"name_regex": name.replace(".", "\\."), "output_df": df}) for name, df in formats]
        if rules:
            named["configure_mixed_precision"] = [*named.get("configure_mixed_precision", []), *rules]
        return {**named, "options": more}

    def _compile_module(self, module, inputs, path):
        options = self._options(module)
        given = {}
        if module.wants_samples:
            arrays = [plain(value) for value in inputs]
            if isinstance(module, PyBudaModule):
                # A type of 16 bits is a format, and nothing that the ops of the model see.
                rules = [config.text_of({"op_type": "input", "name_regex": name, "output_df": DataFormat.Float16})
                         for name, array in module._by_name(arrays).items() if str(array.dtype) == "float16"]
                if rules:
                    options["configure_mixed_precision"] = [*rules, *options.get("configure_mixed_precision", [])]
                arrays = [array.astype("float32") if str(array.dtype) == "float16" else array for array in arrays]
            given["sample_inputs"] = tuple(arrays)
        compile_to_image(module, path, device=self.board(), **given, **options)
        module._device = self
        return _native.load_image(str(path))

    def _in_order(self, inputs):
        """Inputs by name in the order of the first module's parameters; of a module in a file they stay by name."""
        if not isinstance(inputs, dict):
            return inputs
        forward = getattr(self.modules[0], "forward", None) if self.modules else None
        return samples(inputs, getattr(self.modules[0], "module", None).forward if hasattr(getattr(self.modules[0], "module", None), "forward") else forward) if forward else inputs

    def _image_path(self, folder, number):
        kept = config._get_global_compiler_config().backend_output_dir
        if kept:
            folder = kept
            os.makedirs(folder, exist_ok=True)
        return pathlib.Path(folder, f"{self.name}{f'.{number}' if number else ''}.tti")

    def _open(self, inputs):
        """Compiles for these inputs, module by module, each for what the one before it gives; the results of the last one."""
        self._changed()
        target = self._target()
        intermediates = config._get_global_compiler_config().op_intermediates_to_save or ()
        if self.device_mode == DeviceMode.RunOnly:
            raise RuntimeError(f"device '{self.name}' was made with DeviceMode.RunOnly: load_image gives it an image")
        with tempfile.TemporaryDirectory(prefix="openbuda-") as folder:
            for number, module in enumerate(self.modules):
                image = self._compile_module(module, inputs, self._image_path(folder, number))
                self._compiled.append(_Compiled(image, target, intermediates, names_of_inputs(module, inputs)))
                if number + 1 < len(self.modules):
                    inputs, _ = self._compiled[-1].run(inputs)

    def compile_for(self, inputs, compiler_cfg=None, targets=(), microbatch_size=0, microbatch_count=1, verify_cfg=None):
        """Compiles for such inputs; gives tensors of the shapes of the results."""
        if compiler_cfg is not None:
            config._set_global_compiler_config(compiler_cfg)
        super().compile_for(bool(targets), microbatch_size, microbatch_count)
        inputs = self._in_order(inputs)
        self._prepare(inputs)
        return results_of(self._run(inputs)[0])

    def compile_to_image(self, *, img_path=None, training=False, sample_inputs=(), sample_targets=(), microbatch_count=1, **kwargs):
        """Writes the image of the module for such inputs; the device itself stays as it is."""
        if kwargs:
            raise TypeError(f"compile_to_image() has no argument '{next(iter(kwargs))}'")
        self._need_modules()
        if len(self.modules) > 1:
            raise NotImplementedError(f"device '{self.name}' has {len(self.modules)} modules; an image of this call has one: merge_models merges several")
        path = pathlib.Path(img_path or f"device_images/{self.name}.tti")
        path.parent.mkdir(parents=True, exist_ok=True)
        inputs = self._in_order(sample_inputs if isinstance(sample_inputs, (tuple, list, dict)) else (sample_inputs,))
        if training:
            TrainingStep(self.modules[0], self.loss_module, self.optimizer, inputs, sample_targets, path, {"device": self.board(), **self._options(self.modules[0])}, microbatch_count)
            return TTDeviceImage(path, self)
        self._compile_module(self.modules[0], inputs, path)
        return TTDeviceImage(path, self)

    @staticmethod
    def load_image(img=None, img_path=None):
        """A device that runs an image: of a file, or one that compile_to_image or load_from_disk gave."""
        if (img is None) == (img_path is None):
            raise TypeError("load_image() takes img or img_path, one of them")
        img = img or TTDeviceImage.load_from_disk(img_path)
        device = TTDevice(img.device_name or pathlib.Path(img.path).stem, arch=img.arch, devtype=BackendType.Golden)
        device._image = img
        return device

    # ---- work

    def _prepare(self, inputs):
        if self.has_image:
            if not self._compiled:
                self._compiled = [_Compiled(self._image.image, self._target())]
            return
        self._need_modules()
        by_place = inputs.values() if isinstance(inputs, dict) else inputs
        shapes = [(plain(value).shape, str(plain(value).dtype)) for value in by_place]
        if self._shapes != shapes:
            self._open(inputs)
            self._shapes = shapes

    def _run(self, inputs):
        saved = []
        for number, compiled in enumerate(self._compiled):
            inputs, more = compiled.run(inputs, self._model(compiled) if number == 0 else "")
            saved += more
        return inputs, saved

    def _forward(self, inputs):
        inputs = self._in_order(inputs)
        self._prepare(inputs)
        results, saved = self._run(inputs)
        if saved:
            current().intermediates_queue.put(Results(results_of(saved)))
        return results_of(results)

    # ---- training

    def _open_training(self, inputs, targets):
        """Compiles the step of each module, for these inputs and targets; the last one has the loss."""
        self._changed()
        self._need_modules()
        self._need_own_names()
        inputs = self._in_order(inputs)
        steps = []
        with tempfile.TemporaryDirectory(prefix="openbuda-") as folder:
            for number, module in enumerate(self.modules):
                is_last = number + 1 == len(self.modules)
                step = TrainingStep(module, self.loss_module if is_last else None, self.optimizer, inputs, targets if is_last else (), self._image_path(folder, number),
                                    {"device": self.board(), **self._options(module)}, self.microbatch_count)
                target = self._target()
                step.open(target, _TARGET_OPTIONS.get(target, {}))
                steps.append(step)
                if not is_last:
                    inputs = predictions(module, [plain(x) for x in (inputs.values() if isinstance(inputs, dict) else inputs)])
        self._steps = steps

    def _need_own_names(self):
        """Parameters are known by their names alone."""
        owners = {}
        for module in self.modules:
            for name in (p.name for p in module.get_parameters()) if hasattr(module, "get_parameters") else ():
                if name in owners:
                    raise ValueError(f"device '{self.name}': modules '{owners[name]}' and '{module.get_name()}' both have a parameter '{name}'; parameters of a device are known by their names")
                owners[name] = module.get_name()

    def _start_training(self, inputs, targets):
        self._open_training(inputs, targets)
        return results_of(numpy.zeros(shape, numpy.float32) for shape in self._steps[-1].output_shapes())

    def _train_forward(self, inputs, targets):
        if not self._steps:
            self._open_training(inputs, targets)
        results = self._in_order(inputs)
        for step in self._steps:
            results, loss = step.forward(results, targets if step is self._steps[-1] else ())
        return loss if self.loss_module is not None else results_of(results)

    def _train_backward(self, gradients, begins):
        for step in reversed(self._steps):
            gradients = step.backward(gradients, begins)
        return gradients

    def optimize(self):
        """A step of its optimizer, if it has one."""
        for step in self._steps:
            step.optimize()

    def get_parameter_checkpoint(self):
        values = super().get_parameter_checkpoint()
        for step in self._steps:
            values.update({name: Tensor(value) for name, value in step.parameters().items()})
        return values

    def update_parameters(self, parameters):
        if not self._steps:
            super().update_parameters(parameters)
            return
        known = self.get_parameter_checkpoint()
        for name in parameters:
            if name not in known:
                raise KeyError(f"device '{self.name}' has no parameter '{name}'; it has {', '.join(known)}")
        for step in self._steps:
            step.set_parameters(parameters)

    def get_parameter_gradients(self):
        if not self._steps:
            return super().get_parameter_gradients()
        return {name: Tensor(value) for step in self._steps for name, value in step.gradients().items()}

    def get_optimizer_params(self, is_buda):
        """By parameter what its optimizer takes and keeps; None without an optimizer."""
        if self.optimizer is None:
            return None
        states = {name: kept for step in self._steps for name, kept in step.states().items()} or {name: {} for name in self.get_parameter_checkpoint()}
        return {name: {**self.optimizer.get_optimizer_params(name, is_buda), **{state: Tensor(value) for state, value in kept.items()}} for name, kept in states.items()}

    def get_scheduler_params(self, is_buda):
        """By parameter what the schedule changes; None without one."""
        if self.scheduler is None:
            return None
        return {name: self.scheduler.get_scheduler_params(name, is_buda) for name in self.get_parameter_checkpoint()}

    def shutdown_device(self):
        super().shutdown_device()
        self._changed()

    def generate_graph(self, *inputs, target_tensors=(), return_intermediate=False, graph_name="default_graph", compiler_cfg=None, trace_only=False, verify_cfg=None):
        """The graph of its module for these inputs, the outputs, with `return_intermediate` the results of all ops by name, the inputs, and the targets."""
        self._need_modules()
        if len(self.modules) > 1 or not isinstance(self.modules[0], PyBudaModule):
            raise NotImplementedError(f"device '{self.name}': the graph of one module of openbuda.op is traced here; other models have theirs from the tool importer")
        module, results = self.modules[0], {}
        names = module.trace_names(*inputs) if return_intermediate else []
        tapouts = list(module._tapouts)
        try:
            module._tapouts += [(name, 0) for name in names]
            graph = module.trace(*inputs)
            if not trace_only:
                results = graph.evaluate(module._by_name(inputs))
        finally:
            module._tapouts[:] = tapouts
        given = {f"{name}.tapout": name for name in names}
        within = {given[key]: Tensor(results.pop(key)) for key in list(results) if key in given}
        outputs = tuple(results_of(results.values()))
        return (graph, outputs, within, inputs, tuple(target_tensors)) if return_intermediate else (graph, outputs, inputs, tuple(target_tensors))

    # ---- models of a merged image

    def _model(self, compiled):
        return compiled.session.models()[self._subgraph] if self._subgraph else ""

    def set_active_subgraph(self, subgraph_index):
        """Which of the models of a merged image runs, from 0."""
        count = len(self._image.image.models) if self.has_image else 1
        if not 0 <= subgraph_index < count:
            raise ValueError(f"device '{self.name}' has {count} model{'s' if count > 1 else ''}; {subgraph_index} is not one of them")
        self._subgraph = subgraph_index

    def get_active_subgraph(self):
        """The number of the model that runs."""
        return self._subgraph

    # ---- what it holds

    def get_parameters(self, ignore_unused_parameters=True):
        """The parameters of its modules."""
        return [p for module in self.modules for p in (module.get_parameters() if hasattr(module, "get_parameters") else [])]

    def get_all_parameters(self):
        """Their values by name."""
        return self.get_parameter_checkpoint()

    def get_dram_io_queues(self, queue_type):
        """Name, type and shape of what is pushed ('input') or popped ('output')."""
        if queue_type not in ("input", "output"):
            raise ValueError(f"queues are of type 'input' or 'output', not '{queue_type}'")
        if not self._compiled:
            raise RuntimeError(f"device '{self.name}' has not been compiled")
        return self._compiled[0].session.inputs() if queue_type == "input" else self._compiled[-1].session.outputs()

    def generate(self, loop_count, write_index, tokens_per_iter=1, token_id=0):
        """Generates tokens with the model of its image (Generator)."""
        self._prepare(())
        return _native.Generator(self._compiled[0].session).generate(loop_count, write_index, tokens_per_iter, token_id)
