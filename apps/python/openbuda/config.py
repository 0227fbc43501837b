# SPDX-License-Identifier: Apache-2.0
"""What models are compiled with: the global configuration, and the calls that change it, under the names of PyBuda's documents.

Every setting is an option of the optimizer or the balancer of the same name (docs/options.md); what is not set is as the tools have it.
"""
import difflib
import enum
import warnings

from .formats import PerfTraceLevel

# What a compilation takes by this name.
_OPTIONS = ("enable_auto_fusing enable_tvm_cpu_fallback enable_tm_cpu_fallback tm_cpu_fallback_max_depth enable_conv_prestride enable_device_tilize amp_level default_df_override "
            "default_accumulate_df default_math_fidelity enable_stable_softmax enable_consteval max_pool_add_sub_surround max_pool_add_sub_surround_value "
            "op_intermediates_to_save loopback_outputs enable_link_past_cache_ios default_dram_parameters microbatch_size balancer_policy enable_auto_transposing_placement "
            "enable_t_streaming manual_t_streaming place_on_one_row enable_enumerate_u_kt enable_single_buffer_fallback use_interactive_placer graph_solver_self_cut_type "
            "input_queues_on_host output_queues_on_host enable_forked_dram_inputs dram_placement_algorithm chip_placement_policy enable_recompute").split()
# Lists that calls add to, each with the option that takes their elements.
_LISTS = {"op_names_to_epoch_break": "op_names_to_epoch_break", "op_names_to_chip_break": "op_names_to_chip_break", "op_names_dont_fuse": "op_names_dont_fuse",
          "amp_properties": "configure_mixed_precision", "scheduler_constraints": "scheduler_constraints", "insert_queues": "insert_queues",
          "buffering_nops_to_insert": "insert_buffering_nop", "fracture_groups": "insert_fracture_group",
          "conv_multi_op_fracture_factor_override": "override_multi_op_fracture_factor"}
# Of the device for which is compiled.
_OF_DEVICE = "device_config backend_device_descriptor_path backend_cluster_descriptor_path harvested_rows backend_output_dir".split()
# What changes no result: ways of silicon, time and memory.
_IDLE = {"backend_opt_level": "it chooses among ways in which the runtime of silicon is fed", "backend_runtime_args": "it chooses among ways in which the runtime of silicon is fed",
         "backend_runtime_params_path": "what the runtime of silicon reads from it is in the device's descriptor here",
         "store_backend_db_to_yaml": "netlists and descriptors are YAML here, and backend_output_dir keeps the image that has them"}
_ALIASES = {"accumulate_df": "default_accumulate_df", "math_fidelity": "default_math_fidelity"}


def text_of(value):
    """As the tools write it: of an enumeration its name; lists and maps in YAML's flow style."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_of(key)}: {text_of(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(text_of(part) for part in value) + "]"
    text = str(value)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' if isinstance(value, str) and set(text) & set("[]{},:#*&!|>'\"%@`\\ ") else text


class CompilerConfig:
    """The settings of a compilation. An attribute that is None is as the tools have it."""

    def __init__(self, **settings):
        fixed = self.__dict__
        fixed.update(dict.fromkeys([*_OPTIONS, *_OF_DEVICE, *_IDLE, "performance_trace"]))
        fixed.update({name: [] for name in _LISTS})
        fixed.update(cpu_fallback_ops={"embedding"}, op_overrides={}, place_queue_to_chip_dram={})
        for name, value in settings.items():
            setattr(self, name, value)

    def __getattr__(self, name):
        if name in _ALIASES:
            return self.__dict__[_ALIASES[name]]
        near = difflib.get_close_matches(name, [*self.__dict__, *_ALIASES], 1)
        raise AttributeError(f"there is no setting '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))

    def __setattr__(self, name, value):
        name = _ALIASES.get(name, name)
        if name not in self.__dict__:
            getattr(self, name)
        if name == "performance_trace" and value not in (None, PerfTraceLevel.NONE):
            raise NotImplementedError("performance_trace: programs in Python record no times; `buda compile` and `buda run IMAGE --perf DIR` do, on the image of compile_to_image or of backend_output_dir")
        if name in _IDLE and value not in (None, False):
            warnings.warn(f"{name} changes nothing here: {_IDLE[name]}", stacklevel=2)
        self.__dict__[name] = value

    # ---- the methods that PyBuda's guide calls

    def place_on_new_epoch(self, op_names):
        """These ops begin an epoch."""
        self.op_names_to_epoch_break += _names(op_names)

    def place_on_new_chip(self, op_names):
        """These ops begin a chip."""
        self.op_names_to_chip_break += _names(op_names)

    def dont_fuse(self, op_names):
        """These ops are not fused."""
        self.op_names_dont_fuse += _names(op_names)

    def add_schedule_constraint(self, op_names):
        """These ops are scheduled in this order."""
        self.scheduler_constraints.append(list(op_names))

    def add_cpu_fallback_ops(self, op_types):
        """Ops of these types run on the host, too."""
        self.cpu_fallback_ops |= set(_names(op_types))

    def remove_cpu_fallback_ops(self, op_types):
        """Ops of these types run on the device."""
        self.cpu_fallback_ops -= set(_names(op_types))

    # ---- for a compilation

    def options(self):
        """The arguments of compile_to_image: by name, and in the dictionary `options`."""
        named, more = {}, {}
        for name in _OPTIONS:
            value = self.__dict__[name]
            if isinstance(value, dict):
                value = [f"{key}={part}" for key, part in value.items()]
            if value is not None and value != []:
                named[name] = [text_of(part) if not isinstance(part, str) else part for part in value] if isinstance(value, (list, tuple, set)) else text_of(value)
        if self.cpu_fallback_ops != {"embedding"}:
            named["cpu_fallback_ops"] = ",".join(sorted(self.cpu_fallback_ops))
        for name, option in _LISTS.items():
            elements = self.__dict__[name]
            if isinstance(elements, dict):
                elements = list(elements.items())
            if elements:
                named[option] = [element if isinstance(element, str) else _element(option, element) for element in elements]
        for op, keys in self.op_overrides.items():
            more.update({f"op.{op}.{key}": value if isinstance(value, str) else text_of(value) for key, value in keys.items()})
        more.update({f"queue.{queue}.dram": text_of(list(place)) for queue, place in self.place_queue_to_chip_dram.items()})
        if self.backend_cluster_descriptor_path:
            named["cluster"] = str(self.backend_cluster_descriptor_path)
        return named, more

    def override(self, op_name, **keys):
        """Keys of the balancer's op.NAME.KEY; None leaves one as it was."""
        self.op_overrides.setdefault(op_name, {}).update({key: value for key, value in keys.items() if value is not None})


def _names(given):
    names = list(given) if isinstance(given, (list, tuple, set)) else [given]
    for name in names:
        if not isinstance(name, str):
            raise NotImplementedError(f"an op is named, and {name!r} is no name: predicates choose among nodes of PyBuda's graph, which is not the one that is compiled here")
    return names


def _element(option, element):
    """One value of an option that may be given several times."""
    if option == "scheduler_constraints":
        return ",".join(element)
    if option == "insert_buffering_nop":
        source, users = element[0], element[1]
        return ",".join([source, *_names(users)])
    if option in ("insert_queues", "override_multi_op_fracture_factor"):
        return ",".join(str(part) for part in element)
    return text_of(element)


_config = CompilerConfig()


def _get_global_compiler_config():
    """The configuration that every compilation uses."""
    return _config


def _set_global_compiler_config(config):
    """Replaces it."""
    global _config
    _config = config


def _clear_global_compiler_config():
    """All settings are as the tools have them."""
    _set_global_compiler_config(CompilerConfig())


def set_configuration_options(enable_recompute=None, balancer_policy=None, place_on_one_row=None, enable_t_streaming=None, manual_t_streaming=None, enable_consteval=None,
                              default_df_override=None, accumulate_df=None, math_fidelity=None, performance_trace=None, backend_opt_level=None, backend_output_dir=None,
                              backend_device_descriptor_path=None, backend_cluster_descriptor_path=None, backend_runtime_params_path=None, backend_runtime_args=None,
                              enable_auto_fusing=None, enable_conv_prestride=None, enable_stable_softmax=None, amp_level=None, harvested_rows=None,
                              store_backend_db_to_yaml=None, input_queues_on_host=None, output_queues_on_host=None, enable_auto_transposing_placement=None,
                              use_interactive_placer=None, op_intermediates_to_save=None, enable_enumerate_u_kt=None, enable_device_tilize=None,
                              dram_placement_algorithm=None, chip_placement_policy=None, enable_forked_dram_inputs=None, device_config=None,
                              default_accumulate_df=None, default_math_fidelity=None):
    """Sets what is not None, for every compilation from now on. The last two are other names of accumulate_df and math_fidelity, which PyBuda's guide uses."""
    for name, value in list(locals().items()):
        if value is not None:
            setattr(_config, name, value)


def configure_mixed_precision(*, op_type=None, epoch_type=None, output_df=None, intermediate_df=None, accumulate_df=None, math_fidelity=None, name_regex=None, input_df=None,
                              is_gradient_op=None, input_parameter_indices_to_optimize=None, layer=None):
    """Formats and fidelity of the ops, inputs and parameters for which all conditions hold: op_type, epoch_type, name_regex, is_gradient_op, layer."""
    given = {name: value for name, value in locals().items() if value is not None}
    _config.amp_properties.append(given)


def set_epoch_break(op_names):
    """The op, or each of several, begins an epoch."""
    _config.place_on_new_epoch(op_names)


def set_chip_break(op_names):
    """The op, or each of several, begins the next chip."""
    _config.place_on_new_chip(op_names)


def override_op_size(op_name, grid_size):
    """Rows and columns of cores on which the op runs."""
    _config.override(op_name, grid=list(grid_size))


def override_op_placement(op_name, start=None, *, grid_shape=None, transpose_op=None, chip_id=None, temporal_epoch_break=None):
    """Where the op is: its first core, its grid, whether that is transposed, its chip, and whether it begins an epoch."""
    _config.override(op_name, place=None if start is None else list(start), grid=None if grid_shape is None else list(grid_shape), transpose=transpose_op, chip=chip_id,
                     **{"epoch-break": temporal_epoch_break})


def override_t_stream_dir(op_name, direction):
    """In which direction the op's result is cut, if it is: 'r', 'c', 'rz', 'cz', or 'n'."""
    _config.override(op_name, **{"t-stream-dir": direction.lower()})


def override_t_stream_shape(op_name, factors):
    """In how many parts along r or c the op's result is made."""
    _config.override(op_name, **{"t-stream": list(factors)})


def override_u_kt(op_name, u_kt):
    """Tiles per step of a product's inner dimension."""
    _config.override(op_name, u_kt=u_kt)


def override_input_buffer_multiplier(op_name, operand_index, multiplier):
    """The buffer of an operand holds so many inputs."""
    key = "input-buffer-multiplier"
    before = _config.op_overrides.get(op_name, {}).get(key)
    _config.override(op_name, **{key: f"{before + ',' if before else ''}{operand_index}:{multiplier}"})


def internal_override_output_buffer_multiplier(op_name, multiplier):
    """The buffer of the result holds so many blocks."""
    _config.override(op_name, buf_size_mb=multiplier)


def override_dram_parameters(op_name, force_dram_parameters):
    """Whether the op's parameters stay in DRAM."""
    _config.override(op_name, **{"dram-parameters": force_dram_parameters})


def override_dram_queue_placement(queue_name, chip_id=0, channel=None):
    """The chip and channel of a queue."""
    _config.place_queue_to_chip_dram[queue_name] = (chip_id, channel)


def override_multi_op_fracture_factor(op_name, multi_op_fracture_factor):
    """Into how many convolutions this one is split along the rows of its window."""
    _config.conv_multi_op_fracture_factor_override.append((op_name, multi_op_fracture_factor))


def insert_fracture_group(nodes, chip_ids=None):
    """Splits ops: (name, axis, parts) for each; with the chips of the parts."""
    left, members = list(nodes), []
    while left:
        # The guide writes the three of a member with and without brackets.
        members.append(left[:3] if isinstance(left[0], str) else list(left[0]))
        del left[:3 if isinstance(left[0], str) else 1]
    _config.fracture_groups.append([members, chip_ids] if chip_ids else members)


def insert_buffering_nop(src_op, dest_ops, *, hoist_tms=None):
    """A nop between an op and its readers. What moves data stays where it is: `hoist_tms` is a matter of PyBuda's graph."""
    _config.buffering_nops_to_insert.append((src_op, _names(dest_ops)))


insert_nop = insert_buffering_nop


def add_schedule_constraint(op_names):
    """The ops are scheduled in this order."""
    _config.add_schedule_constraint(op_names)


def add_cpu_fallback_ops(op_types):
    """Ops of these types run on the host, too."""
    _config.add_cpu_fallback_ops(op_types)


def remove_cpu_fallback_ops(op_types):
    """Ops of these types run on the device."""
    _config.remove_cpu_fallback_ops(op_types)


def place_queue_to_chip_dram(queue_name, chip_id=0, channel=None):
    """The chip and channel of a queue."""
    _config.place_queue_to_chip_dram[queue_name] = (chip_id, channel)
