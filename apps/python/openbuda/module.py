# SPDX-License-Identifier: Apache-2.0
"""Modules: models that are written in Python, op by op."""
import tempfile

from . import _native
from .tensor import Tensor, plain


class Parameter:
    """A weight: an array, or zeros of a shape until set_parameter() gives it a value."""

    def __init__(self, *value, requires_grad=True, name=None):
        import numpy
        whole = len(value) == 1 and not isinstance(value[0], int)
        self.value = numpy.asarray(plain(value[0])) if whole else numpy.zeros(value, numpy.float32)
        self.requires_grad, self.name = requires_grad, name
        self.data_format = None

    @property
    def shape(self):
        return tuple(self.value.shape)

    def set_data_format(self, df):
        """The format in which the device keeps it, whatever the formats of others are."""
        self.data_format = df

    def get_name(self):
        return self.name

    def set_value(self, value):
        import numpy
        value = numpy.asarray(plain(value))
        if tuple(value.shape) != self.shape:
            raise ValueError(f"parameter '{self.name}' has the shape {self.shape}, the value {tuple(value.shape)}")
        self.value = value


_NO_ELEMENTS = "a tensor in forward() has no elements before the model runs: the functions of openbuda.op compute with it, those of NumPy cannot"


def _arithmetic(op):
    """The methods of a traced value as the left operand of an op, and as its right one."""
    def left(self, other):
        return self._trace.op("", op, (self, other))[0]

    def right(self, other):
        return self._trace.op("", op, (other, self))[0]
    return left, right


class Traced(Tensor):
    """A value in a module's forward(): its shape and type are known, its elements are not."""

    def __init__(self, trace, value):
        self._trace, self._value = trace, value

    def value(self):
        raise TypeError(_NO_ELEMENTS)

    def has_value(self):
        return False

    @property
    def shape(self):
        return tuple(self._trace.graph.shape(self._value))

    def __array__(self, *_, **__):
        raise TypeError(_NO_ELEMENTS)

    def __array_ufunc__(self, function, method, *inputs, **keywords):
        """Arrays may be the left operands of arithmetic."""
        op = {"add": "add", "subtract": "subtract", "multiply": "multiply", "matmul": "matmul"}.get(function.__name__)
        if op is None or method != "__call__" or keywords:
            raise TypeError(_NO_ELEMENTS)
        return self._trace.op("", op, inputs)[0]

    def __bool__(self):
        raise TypeError(_NO_ELEMENTS)

    def __repr__(self):
        return f"Tensor of {self.dtype} {self.shape}, in forward()"

    @property
    def dtype(self):
        return self._trace.graph.dtype(self._value)

    __add__, __radd__ = _arithmetic("add")
    __sub__, __rsub__ = _arithmetic("subtract")
    __mul__, __rmul__ = _arithmetic("multiply")
    __matmul__, __rmatmul__ = _arithmetic("matmul")


class _Trace:
    """What one call of trace() builds."""

    def __init__(self, name):
        self.graph = _native.Graph(name)
        self.scopes = []  # modules within the outermost one, whose ops are called after them
        self.sources, self.counts, self.names = {}, {}, {}

    def name_of(self, name, op):
        if not name:
            self.counts[op] = self.counts.get(op, -1) + 1
            name = f"{op}_{self.counts[op]}"
        return ".".join([*self.scopes, name])

    def value_of(self, operand):
        """The graph's value of a tensor, a parameter, a constant, or a number."""
        if isinstance(operand, Traced):
            return operand._value
        if isinstance(operand, Parameter):
            if id(operand) not in self.sources:
                self.sources[id(operand)] = operand, self.graph.parameter(operand.name or self.name_of("", "parameter"), operand.value)
            return self.sources[id(operand)][1]
        import numpy
        return self.graph.constant(self.name_of("", "constant"), numpy.asarray(plain(operand), numpy.float32))

    def op(self, name, op, inputs, **attributes):
        """The results of an op as tensors."""
        name = self.name_of(name, op)
        results = self.graph.op(name, op, [self.value_of(i) for i in inputs], attributes)
        self.names[name] = results
        return [Traced(self, r) for r in results]


_traces = []


def current_trace():
    if not _traces:
        raise RuntimeError("ops are called from forward() of a module that is being compiled or run")
    return _traces[-1]


class Module:
    """A model with a name, which a device may run."""

    _device = None
    wants_samples = True  # to be compiled
    input_names = ()  # that its samples have, where they are known

    def shapes(self, sample_inputs):
        """Shapes of inputs, by name, that its file does not state."""
        return {}

    def get_name(self):
        return self.name

    def get_device(self):
        """The device that it is placed on, or the board that it was compiled for last; None before."""
        return self._device

    def run(self, *inputs, target="golden", device="n150", **options):
        """Compiles the module, and gives its outputs on a target, as a tuple; tapouts come last."""
        from .compile import compile_to_image
        from .config import _get_global_compiler_config
        named, more = _get_global_compiler_config().options()
        with tempfile.TemporaryDirectory() as folder:
            path = compile_to_image(self, f"{folder}/{self.name}.tti", device=device, sample_inputs=inputs if self.wants_samples else None, options=more, **named)
            with _native.load_image(path).open(target, **options) as session:
                outputs = session.run(self._by_name(inputs))
                return tuple(outputs[name] for name, _, _ in session.outputs())

    def _by_name(self, inputs):
        """Inputs as a session takes them."""
        return tuple(plain(given) for given in inputs)


class PyBudaModule(Module):
    """A base of models: a subclass makes its parameters in __init__(), and its ops in forward()."""

    def __init__(self, name):
        self.name = name
        self._parameters, self._constants, self._submodules, self._tapouts = {}, {}, {}, []

    def __setattr__(self, key, value):
        if isinstance(value, PyBudaModule):
            self._submodules[key] = value
        elif isinstance(value, Parameter) and "_parameters" in self.__dict__:
            self.add_parameter(key, value, prepend_name=True)
        object.__setattr__(self, key, value)

    def pre_forward(self, *args, **kwargs):
        """Called before forward()."""

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *args, **kwargs):
        trace = current_trace()
        trace.scopes.append(self.name)
        try:
            self.pre_forward(*args, **kwargs)
            return self.forward(*args, **kwargs)
        finally:
            trace.scopes.pop()

    # ---- parameters and constants

    def add_parameter(self, name, parameter, prepend_name=False):
        parameter.name = parameter.name or (f"{self.name}.{name}" if prepend_name else name)
        self._parameters[name] = parameter

    def add_constant(self, name, prepend_name=False, shape=None):
        import numpy
        self._constants[name] = Parameter(numpy.zeros(shape or (1,), numpy.float32), name=f"{self.name}.{name}" if prepend_name else name)

    def get_parameter(self, name):
        return self._find(self._parameters, name)

    def get_constant(self, name):
        return self._find(self._constants, name)

    def set_parameter(self, name, data):
        self.get_parameter(name).set_value(data)

    def set_constant(self, name, data):
        import numpy
        self._find(self._constants, name).value = numpy.asarray(plain(data), numpy.float32)

    def get_parameters(self, submodules=True):
        own = list(self._parameters.values())
        return own + [p for module in self._submodules.values() for p in module.get_parameters()] if submodules else own

    def load_parameter_dict(self, data):
        by_name = {parameter.name: parameter for parameter in self.get_parameters()}
        for name, value in data.items():
            if name in self._parameters:
                self._parameters[name].set_value(value)
            elif name in by_name:
                by_name[name].set_value(value)
            else:
                raise KeyError(f"module '{self.name}' has no parameter '{name}'; it has {', '.join(by_name)}")

    def _find(self, values, name):
        if name not in values:
            raise KeyError(f"module '{self.name}' has no '{name}'; it has {', '.join(values) or 'none'}")
        return values[name]

    # ---- what becomes of it

    def insert_tapout_queue_for_op(self, op_name, output_index=0):
        """Makes a result of an op an output, too; gives the output's name."""
        self._tapouts.append((op_name, output_index))
        return _tapout_name(op_name, output_index)

    def trace_names(self, *inputs):
        """The names of the ops of forward() for inputs of these shapes and types."""
        self.trace(*inputs)
        return list(self._names)

    def trace(self, *inputs):
        """The graph of forward() for inputs of these shapes and types."""
        import numpy
        trace = _Trace(self.name)
        _traces.append(trace)
        try:
            tensors = []
            for name, given in self._by_name(inputs).items():
                array = numpy.asarray(given)
                kind = {"float64": "F32"}.get(array.dtype.name) or _TYPES[array.dtype.name]
                tensors.append(Traced(trace, trace.graph.input(name, array.shape, kind)))
            self.pre_forward(*tensors)
            results = self.forward(*tensors)
        finally:
            _traces.pop()
        self._names = trace.names
        results = results if isinstance(results, (tuple, list)) else (results,)
        if not results or not all(isinstance(result, (Traced, Parameter)) for result in results):
            given = ", ".join("Tensor" if isinstance(result, Tensor) else type(result).__name__ for result in results)
            raise TypeError(f"forward() of module '{self.name}' returns {given or 'nothing'}; a model returns a tensor, or a tuple of tensors")
        for i, result in enumerate(results):
            trace.graph.output(self.name + (f".output_{i}" if len(results) > 1 else ".output"), trace.value_of(result))
        for op_name, index in self._tapouts:
            if op_name not in trace.names:
                raise KeyError(f"module '{self.name}' has no op '{op_name}'; it has {', '.join(trace.names)}")
            trace.graph.output(_tapout_name(op_name, index), trace.names[op_name][index])
        return trace.graph

    def evaluate(self, *inputs):
        """The outputs on the host in fp32, by name."""
        graph = self.trace(*inputs)
        return graph.evaluate(self._by_name(inputs))

    def _by_name(self, inputs):
        """Inputs by the names of forward()'s parameters."""
        import inspect
        names = [p.name for p in inspect.signature(self.forward).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return {names[i] if i < len(names) else f"input_{i}": plain(given) for i, given in enumerate(inputs)}


_TYPES = {"bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32", "int32": "I32", "uint64": "U64", "int64": "I64",
          "float16": "F16", "float32": "F32"}


def _tapout_name(op_name, index):
    return f"{op_name}.tapout" if index == 0 else f"{op_name}.tapout_{index}"
