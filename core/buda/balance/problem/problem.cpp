// SPDX-License-Identifier: Apache-2.0
// From a device graph to the ops that are to be balanced.
#include <buda/balance/problem/problem.hpp>

#include <buda/balance/problem/batches.hpp>
#include <buda/balance/problem/fused.hpp>
#include <buda/balance/problem/names.hpp>
#include <buda/balance/problem/node_error.hpp>
#include <buda/balance/problem/op_attributes.hpp>
#include <buda/balance/problem/phases.hpp>
#include <buda/balance/problem/readers.hpp>
#include <buda/balance/problem/segment_order.hpp>
#include <buda/balance/problem/selection.hpp>
#include <buda/balance/problem/shapes.hpp>
#include <buda/balance/problem/tile_sizes.hpp>
#include <buda/balance/problem/translate.hpp>
#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/drawing/label.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/constraint_tags.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/tile_rows.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/ops/table/op_traits.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

namespace buda::balance {
namespace {
using graph::Graph;
using graph::Node;
using graph::NodeId;
using netlist::TileShape;

// Everything make_problem looks up while it goes through the graph.
class ProblemBuilder {
 public:
  ProblemBuilder(const Graph& graph, const device::DeviceDescriptor& device, std::int32_t batches) : graph_(graph), device_(device) {
    problem_.name = graph.name;
    problem_.device = &device;
    problem_.batches = batches;
    problem_.trains = has_phases(graph);
  }

  Result<Problem> run(const std::vector<NodeId>& order) {
    find_w(order);
    if (!failure_.empty()) return failure_;
    for (NodeId id : graph_.inputs()) add_source(graph_.node(id), SourceKind::input);
    for (auto [op, kind] :
         {std::pair{graph::NodeKind::parameter, SourceKind::parameter}, std::pair{graph::NodeKind::constant, SourceKind::constant}})
      for (NodeId id : graph_.ids())
        if (graph_.node(id).kind() == op) add_source(graph_.node(id), kind);
    const std::vector<std::int32_t> segments = segments_of(graph_);
    for (NodeId id : order) add_op(graph_.node(id), segments[id.index()]);
    for (NodeId id : graph_.outputs()) add_sink(graph_.node(id));
    if (!too_large_.empty()) return too_large_;  // what follows from it says nothing
    if (!failure_.empty()) return failure_;
    BUDA_TRY(close_loops());
    BUDA_TRY(set_batches(graph_, problem_));
    if (auto done = set_layouts(graph_, problem_); !done) failure_.add(std::move(done).failure());
    if (auto done = set_depths(graph_, problem_); !done) failure_.add(std::move(done).failure());
    set_tile_sizes(problem_.ops, device_);
    if (!failure_.empty()) return failure_;
    problem_.names = std::make_shared<const NameTable>(std::move(names_));
    return std::move(problem_);
  }

 private:
  // For functions that then have no result to return.
  std::nullopt_t fail(Diagnostic d) {
    failure_.add(std::move(d));
    return std::nullopt;
  }

  // The model's w: the largest of all activations.
  void find_w(const std::vector<NodeId>& order) {
    auto look = [&](NodeId id) {
      const Node& node = graph_.node(id);
      for (const auto& type : node.outputs) {
        if (type.shape.rank() != 4 || type.shape[0] <= problem_.w) continue;
        // Two epochs' worth have to find room in a queue. What follows from an input is as long.
        if (type.shape[0] > kMaxEntries / 2) {
          if (failure_.empty())
            fail(no_fit("BL002", node, cat("w = ", type.shape[0], " exceeds the maximum for queues, ", kMaxEntries / 2)));
          return;
        }
        problem_.w = static_cast<std::int32_t>(type.shape[0]);
      }
    };
    for (NodeId id : graph_.inputs()) look(id);
    for (NodeId id : order) look(id);
  }

  // The tile shape of a value, and its format; an error is reported once.
  std::optional<TileShape> tiles(const Node& node, std::int64_t wanted_w) {
    if (node.outputs.size() != 1)
      return fail(node_error("BL001", node, cat("it has ", node.outputs.size(), " results; a netlist op has one")));
    const Shape& s = node.outputs[0].shape;
    constexpr std::int64_t kTile = graph::kTileSide;
    if (s.rank() != 4 || s[2] % kTile != 0 || s[3] % kTile != 0 || !s.volume() || *s.volume() <= 0)
      return fail(node_error("BL001", node, cat("shape ", s.text(), " is not a multiple of the tile size (w, z, r, c)")));
    if (s[0] != wanted_w)
      return fail(node_error("BL002", node,
                             cat("shape ", s.text(), " has w = ", s[0], " where ", wanted_w,
                                 wanted_w == 1 ? " is needed: parameters and constants are the same for all inputs"
                                               : " is needed: all of the model's inputs take part in each step")));
    TileShape out{s[1], s[2] / kTile, s[3] / kTile};
    if (std::max({out.t, out.rt, out.ct}) > netlist::kMaxDimension || out.volume() > netlist::kMaxTiles) {
      too_large_.add(no_fit("BL001", node,
                            cat("shape ", s.text(), " is larger than a netlist can express: ", out.volume(), " tiles of ",
                                netlist::kMaxTiles, " that are possible, ", netlist::kMaxDimension, " along a dimension")));
      return std::nullopt;
    }
    if (node.outputs[0].format && !device_.supports(*node.outputs[0].format)) unsupported_format(node, "result", *node.outputs[0].format);
    return out;
  }

  void unsupported_format(const Node& node, const char* what, DataFormat format) {
    std::vector<std::string> names;
    for (DataFormat f : device_.formats) names.emplace_back(format_name(f));
    Diagnostic d = node_error(
        "BL004", node,
        cat("the ", what, " has format ", format_name(format), ", which ", device_.name, " does not have; it has ", join(names, ", ")));
    d.hint = cat("the graph was made for another device: lower the model for ", device_.name, " again");
    fail(std::move(d));
  }

  // 32x32, or what the tag says; an error is reported.
  TileDim tile_dim(const Node& node) {
    auto rows = graph::tile_rows(node);
    if (!rows) {
      failure_.add(std::move(rows).failure());
      return {};
    }
    if (*rows != graph::kTileSide && !device_.features.small_tiles)
      fail(node_error("BL026", node, cat("its tiles have ", *rows, " rows, and ", device_.name, " has tiles of 32x32 only")));
    return {static_cast<std::int32_t>(*rows), static_cast<std::int32_t>(graph::kTileSide)};
  }

  static DataFormat format_of(const Node& node) { return node.outputs[0].format.value_or(DataFormat::float16_b); }

  void add_source(const Node& node, SourceKind kind) {
    if (graph_.use_count(node.id()) == 0) return;
    auto shape = tiles(node, kind == SourceKind::input ? problem_.w : 1);
    SourceSpec spec;
    spec.node = node.id();
    spec.kind = kind;
    spec.label = node.name();
    spec.name = names_.take(node.name());
    if (shape) {
      spec.shape = *shape;
      spec.format = format_of(node);
      spec.tile_dim = tile_dim(node);
    }
    origins_[node.id()] = {OpId{}, SourceId(static_cast<std::uint32_t>(problem_.sources.size()))};
    problem_.sources.push_back(std::move(spec));
  }

  void add_op(const Node& node, std::int32_t segment) {
    OpId id(static_cast<std::uint32_t>(problem_.ops.size()));
    OpSpec spec;
    spec.node = node.id();
    spec.segment = segment;
    spec.node_name = node.name();
    spec.label = graph::label(node);
    spec.op.name = names_.take(node.name());
    origins_[node.id()] = {id, SourceId{}};
    bool sound = set_type(node, spec) &&
                 (spec.op.attributes.identity ? set_sparse_operands(node, id, spec) : set_operands(node, id, spec)) &&
                 set_queued(node, spec);
    // What parameters alone determine is the same for all inputs, and computed again for each.
    bool same = node.outputs.size() == 1 && node.outputs[0].shape.rank() == 4 && node.outputs[0].shape[0] == 1;
    if (auto shape = tiles(node, same ? 1 : problem_.w)) {
      spec.out = *shape;
      spec.op.tile_dim = tile_dim(node);
      if (sound) {
        set_precision(node, spec);
        if (auto sound_shapes = set_shapes(problem_, node, spec); !sound_shapes) failure_.add(std::move(sound_shapes).failure());
      }
    }
    problem_.ops.push_back(std::move(spec));
  }

  bool set_type(const Node& node, OpSpec& spec) {
    auto type = netlist::op_type_from_name(node.op());
    if (!type) {
      Diagnostic d = node_error("BL005", node, "this is not an op type of netlists");
      d.hint = "the optimizer lowers a model's ops to device ops";
      fail(std::move(d));
      return false;
    }
    if (!ops::class_info(netlist::op_class(*type)).balanced) {
      std::vector<std::string> known;
      for (const auto& row : netlist::all_op_types())
        if (ops::class_info(row.op_class).balanced) known.emplace_back(row.name);
      fail(node_error("BL005", node, cat("ops of this type are not balanced by this version; those that are: ", join(known, ", "))));
      return false;
    }
    spec.op.type = *type;
    if (ops::is_sparse_product(node)) {
      spec.op.attributes.identity = true;
      return true;
    }
    if (*type == netlist::OpType::fused_op) {
      auto schedules = fused_schedules(node);
      if (schedules) {
        spec.fused = std::move(*schedules);
      } else {
        failure_.add(std::move(schedules).failure());
      }
      return spec.fused != nullptr;
    }
    auto attributes = netlist_attributes(node);
    if (!attributes) {
      failure_.add(std::move(attributes).failure());
      return false;
    }
    spec.op.attributes = std::move(*attributes);
    if (*type == netlist::OpType::splice) spec.splice.dim = std::exchange(spec.op.attributes.reduce_dim, netlist::Dim::none);
    return true;
  }

  bool set_operands(const Node& node, OpId id, OpSpec& spec) {
    const netlist::InputCount allowed = netlist::expected_inputs(spec.op);
    std::size_t count = node.inputs().size(), wanted = std::clamp(count, allowed.min, allowed.max);
    if (spec.op.type == netlist::OpType::fused_op) wanted = count;  // the body was read with so many
    if (count != wanted) {
      fail(node_error("BL006", node, cat("it has ", count, " inputs; with its attributes it takes ", wanted)));
      return false;
    }
    for (std::size_t i = 0; i < count; ++i)
      if (!add_operand(node, id, spec, i)) return false;
    return true;
  }

  // Input `i` of the node becomes the next operand of the op.
  bool add_operand(const Node& node, OpId id, OpSpec& spec, std::size_t i) {
    const graph::Edge& edge = node.inputs()[i];
    auto found = origins_.find(edge.source.node);
    if (found == origins_.end()) {
      fail(node_error("BL007", node, cat("input ", i, " comes from a node that does not precede it")));
      return false;
    }
    const Node& producer = graph_.node(edge.source.node);
    Operand operand{found->second, {}, false};
    operand.shape =
        operand.from.op.valid() ? problem_.ops[operand.from.op.index()].out : problem_.sources[operand.from.source.index()].shape;
    auto maps = netlist_maps(edge.tms, operand.shape);
    if (auto* reason = std::get_if<std::string>(&maps)) {
      fail(node_error("BL008", node, cat("input ", i, ", from '", producer.name(), "': ", *reason)));
      return false;
    }
    netlist::OpInput input;
    input.maps = std::get<netlist::EdgeMaps>(std::move(maps));
    input.format = format_of(producer);
    auto& users =
        operand.from.op.valid() ? problem_.ops[operand.from.op.index()].users : problem_.sources[operand.from.source.index()].users;
    input.name =
        operand.from.op.valid() ? problem_.ops[operand.from.op.index()].op.name : problem_.sources[operand.from.source.index()].name;
    operand.constant = operand.from.source.valid() && problem_.source(operand.from.source).kind != SourceKind::input;
    users.push_back({id, spec.operands.size()});
    spec.op.inputs.push_back(std::move(input));
    spec.operands.push_back(operand);
    return true;
  }

  // A part of the selection matrix that `picks` holds, as a parameter of its own.
  void add_encoded_operand(const Node& picks, OpId id, OpSpec& spec, EncodedPart part, DataFormat format) {
    const SourceId source(static_cast<std::uint32_t>(problem_.sources.size()));
    SourceSpec encoded;
    encoded.node = picks.id();
    encoded.kind = SourceKind::constant;
    encoded.label = spec.node_name + (part == EncodedPart::tiles ? ".sparse_tiles" : ".sparse_indices");
    encoded.name = names_.take(encoded.label);
    encoded.format = format;
    encoded.encoded = part;
    encoded.users.push_back({id, spec.operands.size()});
    Operand operand{{OpId{}, source}, encoded.shape, true};
    netlist::OpInput input;
    input.name = encoded.name;
    input.format = format;
    spec.op.inputs.push_back(std::move(input));
    spec.operands.push_back(operand);
    problem_.sources.push_back(std::move(encoded));
  }

  // A graph gives the selection matrix, the activations and perhaps weights; a netlist takes sparse tiles, activations and index tiles.
  bool set_sparse_operands(const Node& node, OpId id, OpSpec& spec) {
    const std::size_t count = node.inputs().size();
    if (count != 2 && count != 3) {
      fail(node_error("BL006", node,
                      cat("it has ", count, " inputs; a sparse matmul takes a selection matrix, activations, and weights or none")));
      return false;
    }
    const Node& picks = graph_.node(node.inputs()[0].source.node);
    const Node* weights = count == 3 ? &graph_.node(node.inputs()[2].source.node) : nullptr;
    for (const Node* matrix : {&picks, weights})
      if (matrix != nullptr && !matrix->value) {
        fail(node_error("BL019", node, cat("its selection matrix '", matrix->name(), "' has no value")));
        return false;
      }
    const graph::ValueType& out = node.outputs[0];
    const graph::Edge& edge = node.inputs()[1];
    auto arriving = graph_.type(edge);
    if (!arriving || arriving->shape.rank() != 4 || out.shape.rank() != 4) {
      fail(node_error("BL001", node, "its activations or its result are not tensors of four axes"));
      return false;
    }
    auto size = [](std::int64_t v) { return static_cast<std::int32_t>(v); };
    const SelectionShape shape{size(out.shape[1]), size(ceil_div<std::int64_t>(out.shape[2], graph::kTileSide)), size(arriving->shape[1]),
                               size(ceil_div<std::int64_t>(arriving->shape[2], graph::kTileSide))};
    const auto slices = node.attrs.find("slices");
    const auto* given = slices == node.attrs.end() ? nullptr : std::get_if<std::int64_t>(&slices->second);
    auto matrix = selection_matrix(
        {&picks.value->tensor, weights == nullptr ? nullptr : &weights->value->tensor, given == nullptr ? 1 : *given}, shape);
    if (!matrix) {
      fail(node_error("BL003", node, matrix.failure().diagnostics().front().message));
      return false;
    }
    spec.selection = std::make_shared<const SelectionMatrix>(std::move(*matrix));
    add_encoded_operand(picks, id, spec, EncodedPart::tiles,
                        sparse_format(*spec.selection, format_of(graph_.node(edge.source.node)), weights));
    if (!add_operand(node, id, spec, 1)) return false;
    add_encoded_operand(picks, id, spec, EncodedPart::indices, DataFormat::raw_uint32);
    return true;
  }

  // Ones and zeros are exact in the narrowest format of the activations' exponents. Integers are multiplied with integers.
  DataFormat sparse_format(const SelectionMatrix& matrix, DataFormat activations, const Node* weights) const {
    if (activations == DataFormat::int8) return activations;
    const bool five_bits = exponent_family(activations) == ExponentFamily::a;
    const DataFormat narrow = five_bits ? DataFormat::bfp2 : DataFormat::bfp2_b;
    if (matrix.ones && device_.supports(narrow)) return narrow;
    return weights != nullptr ? format_of(*weights) : five_bits ? DataFormat::float16 : DataFormat::float16_b;
  }

  bool set_queued(const Node& node, OpSpec& spec) {
    auto inputs = graph::queued_inputs(node);
    if (!inputs) {
      failure_.add(std::move(inputs).failure());
      return false;
    }
    for (std::size_t i : *inputs) {
      Operand& operand = spec.operands[i];
      if (!operand.from.op.valid()) continue;  // what a source gives lies in a queue anyway
      operand.queued = true;
      problem_.ops[operand.from.op.index()].feeds_queued = true;
    }
    return true;
  }

  void set_precision(const Node& node, OpSpec& spec) {
    auto& op = spec.op;
    op.out_format = format_of(node);
    const DataFormat operand = op.inputs[op.attributes.identity ? 1 : 0].format;
    op.acc_format = node.precision.accumulate.value_or(standard_accumulation(operand, device_));
    // The kernel of a maximum along z packs its intermediate values as its result (NL347).
    const bool along_z = op.type == netlist::OpType::reduce && op.attributes.reduce_dim == netlist::Dim::z;
    if (along_z && operand != op.out_format)
      fail(node_error(
          "BL004", node,
          cat("a reduction along z keeps its format: it takes ", format_name(operand), " and gives ", format_name(op.out_format))));
    op.intermed_format = node.precision.intermediate.value_or(along_z ? op.out_format : op.acc_format);
    op.fidelity = node.precision.fidelity ? netlist_fidelity(*node.precision.fidelity) : netlist::MathFidelity::hifi3;
    if (device_.dest_tiles(op.acc_format) < 1 || (op.acc_format == DataFormat::float32 && !device_.features.fp32_accumulate) ||
        (op.acc_format == DataFormat::int32 && !device_.features.int32_accumulate))
      unsupported_format(node, "accumulation", op.acc_format);
    if (!device_.supports(op.intermed_format)) unsupported_format(node, "intermediate", op.intermed_format);
  }

  void add_sink(const Node& node) {
    auto found = node.inputs().size() == 1 ? origins_.find(node.inputs()[0].source.node) : origins_.end();
    if (found == origins_.end() || !found->second.op.valid() || !node.inputs()[0].tms.empty()) {
      fail(node_error("BL007", node, "an output must be the result of an op, without manipulations"));
      return;
    }
    const Node& producer = graph_.node(problem_.ops[found->second.op.index()].node);
    if (producer.outputs.size() == 1 && producer.outputs[0].shape.rank() == 4 && producer.outputs[0].shape[0] != problem_.w) {
      fail(node_error("BL002", node, cat("it has w = ", producer.outputs[0].shape[0], ", and the model's inputs have ", problem_.w)));
      return;
    }
    problem_.ops[found->second.op.index()].outputs += 1;
    problem_.sinks.push_back({node.id(), found->second.op, names_.take(names_.taken(node.name()) ? node.name() + ".output" : node.name())});
  }

  Result<void> close_loops() {
    BUDA_ASSIGN(auto loops, graph::loopbacks(graph_));
    for (const graph::Loopback& l : loops) {
      auto found = origins_.find(l.input);
      if (found == origins_.end()) continue;  // nobody reads it
      SourceSpec& source = problem_.sources[found->second.source.index()];
      auto sink = std::find_if(problem_.sinks.begin(), problem_.sinks.end(), [&](const SinkSpec& s) { return s.node == l.output; });
      OpSpec& writer = problem_.ops[sink->op.index()];
      if (writer.op.out_format != source.format)
        fail(node_error("BL025", graph_.node(l.input),
                        cat("its format is ", format_name(source.format), ", and that of output '", graph_.node(l.output).name(),
                            "' of the previous step, ", format_name(writer.op.out_format), "; they have to be the same")));
      source.loopback = static_cast<std::size_t>(sink - problem_.sinks.begin());
      if (!sink->inputs.empty()) writer.outputs += 1;
      writer.feeds_loopback = true;
      sink->inputs.push_back(found->second.source);
    }
    if (!failure_.empty()) return failure_;
    return success();
  }

  const Graph& graph_;
  const device::DeviceDescriptor& device_;
  Problem problem_;
  NameTable names_;
  std::map<NodeId, Origin> origins_;
  Failure failure_, too_large_;  // the latter: shapes that no netlist can express
};

}  // namespace

Result<Problem> make_problem(const Graph& graph, const std::vector<NodeId>& order, const device::DeviceDescriptor& device,
                             std::int32_t batches) {
  if (graph.level != graph::Level::device) {
    Diagnostic d = input_error("BL000", {}, cat("graph '", graph.name, "' is at tensor level; the balancer takes graphs at device level"));
    d.hint = "the optimizer lowers a model's ops to device ops";
    return d;
  }
  BUDA_ASSIGN(Problem problem, ProblemBuilder(graph, device, batches).run(order));
  BUDA_TRY(set_phases(graph, problem));
  return problem;
}

std::string describe(const Problem& problem, const Origin& from) {
  if (from.op.valid()) return cat("op '", problem.op(from.op).label, "'");
  const SourceSpec& s = problem.source(from.source);
  return cat(s.kind == SourceKind::input ? "input" : s.kind == SourceKind::parameter ? "parameter" : "constant", " '", s.label, "'");
}

}  // namespace buda::balance
