// The state of lower-to-device, and the steps that its rules are made of. Internal to the passes module.
#pragma once

#include <buda/graph/value_table.hpp>
#include <buda/passes/layout/rearrangement.hpp>
#include <buda/passes/lower/lowered.hpp>
#include <buda/passes/pipeline/pass.hpp>

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::passes {

// How the only row, the only column or both of a known tensor is copied through its tile when it is placed.
enum class Copies : std::uint8_t { none, rows, columns, both };
inline constexpr std::size_t kCopiesForms = 4;

// Where the leading axes of values of four and more axes lie. Apart: all but the last three are w, the batch, and the device works through
// them one after the other. Joined: all but the last two are slices of z, so that w is 1 everywhere and they may meet in an op.
enum class Batch : std::uint8_t { apart, joined };

// Builds the device graph of a tensor graph. Rules (lowering_rules.hpp) translate one node each; what they need of their inputs they ask
// for here, and the ops that this takes (masks, copies through a tile, nops that carry a transpose out) are added on the way.
class Lowering {
 public:
  Lowering(const graph::Graph& from, PassContext& context, Batch batch);

  // The device graph, or one diagnostic per node that cannot be lowered (nodes behind it are left out).
  Result<graph::Graph> run();

  // A node that cannot be lowered: an op, or an input or output of the model.
  struct Refusal {
    graph::NodeId node;
    Diagnostic why;
  };
  // All nodes that cannot be lowered when the values of such ops come from the host: the ops behind them are lowered as if these were
  // inputs. In topological order.
  std::vector<Refusal> probe();
  // The graph, when that found nothing.
  graph::Graph take() { return std::move(out_); }

  const graph::Graph& from() const { return from_; }
  const device::DeviceDescriptor& device() const { return *context_.device; }
  bool joins_batch() const { return batch_ == Batch::joined; }
  const graph::ValueType& type(const graph::Edge& edge) const { return *from_.type(edge.source); }
  ops::Attrs attrs(const graph::Node& n) const { return {*context_.ops->find(graph::Level::tensor, n.op()), n.attrs}; }

  // "cannot be lowered": the node, its op and shapes, `reason`, and as a hint what would help.
  Diagnostic refuse(const graph::Node& n, const std::string& reason, std::string remedy) const;

  // ---- values

  // A value whose content is known now: it depends on parameters and constants only.
  const Tensor* known(const graph::Edge& edge) const;
  // Its only number, if all its elements are equal.
  std::optional<double> uniform(const graph::Edge& edge) const;
  // As it is, known values placed in the device graph. Reshapes and transposes are done here, when somebody asks for what they give: a
  // chain of them is often possible where its first step alone would not be.
  Result<Lowered> value(const graph::Edge& edge);
  // Broadcast to (w, z, r, c) as NumPy does, for an elementwise op at `n`.
  Result<Lowered> stretched(const graph::Edge& edge, const Shape& target, const graph::Node& n);
  // A tensor of the compiler's own, cast to the element type of the node's first input, or as it is.
  Result<Lowered> constant(const graph::Node& n, std::string_view suffix, const Tensor& tensor);
  Result<Lowered> constant_as_is(const graph::Node& n, std::string_view suffix, const Tensor& tensor);

  // ---- steps

  // The axes (w, z, r, c) that a model shape stands for, which must be possible.
  Shape axes_of(const Shape& model) const;
  // The same; a failure when it is impossible or has no elements.
  Result<Shape> four(const graph::Node& n, const Shape& model) const;
  // An op in the device graph. With an empty suffix it is called like `n`, whose value it then must be; `n` gives provenance and tags.
  Result<graph::ValueRef> emit(const graph::Node& n, std::string_view suffix, std::string op, std::vector<graph::Edge> inputs,
                               graph::AttrMap attrs = {});
  // Notes on the node of a value that its padding is far away from its data (lowering_tags.hpp).
  void mark_range(const Lowered& x);
  // That it must be kept and computed in Float32.
  void mark_exact(const Lowered& x);
  // A value without TMs, by a nop that takes them over.
  Result<Lowered> settled(const graph::Node& n, std::string_view suffix, const Lowered& x);
  // The same where one of the TMs is a transpose.
  Result<Lowered> without_transpose(const graph::Node& n, std::string_view suffix, const Lowered& x);
  // The same numbers with another padding at the ends of c (r), and in the corner: zero, or any number.
  Result<Lowered> with_cols(const graph::Node& n, const Lowered& x, double padding);
  Result<Lowered> with_rows(const graph::Node& n, const Lowered& x, double padding);
  // The same with a number added to the padding, whatever that is.
  Result<Lowered> with_added_padding(const graph::Node& n, const Lowered& x, bool columns, double number);
  // The one column (row) copied through its tile: a product with a constant tile.
  Result<Lowered> with_cols_alike(const graph::Node& n, const Lowered& x);
  Result<Lowered> with_rows_alike(const graph::Node& n, const Lowered& x);
  // x as an argument of a device op that must not give NaN or infinities where they would be read: padding is changed where it has to be.
  Result<Lowered> harmless_for(const graph::Node& n, std::string_view op, const graph::AttrMap& attrs, const Lowered& x);
  // Rows of x gathered and added up by a picker [terms, slices, rows] (ops/linear_algebra/sparse.hpp), whose slices broadcast with x's.
  Result<Lowered> picked(const graph::Node& n, std::string_view suffix, const Lowered& x, const Tensor& picker, const Tensor* weights);
  // The slices of x, in any order and any number of times; -1: a slice of zeros.
  Result<Lowered> with_slices(const graph::Node& n, const Lowered& x, const std::vector<std::int64_t>& slices);
  // x whose slices are `from` axes, with those of `to`: NumPy's broadcast. For z alone.
  Result<Lowered> with_leading_axes(const graph::Node& n, const Lowered& x, const Shape& from, const Shape& to);
  // All slices below one another, in whole tiles.
  static Lowered stacked(Lowered x);
  // x under another order of its elements: by manipulations of edges if they can, otherwise with products with pickers
  // (lower_movement.cpp). Values between are called after `n`.
  Result<Lowered> rearranged(const graph::Node& n, Lowered x, const Rearrangement& how);
  // The chain of reshapes and transposes that ends with a value: what it does, and the value with which it begins.
  struct Chain {
    graph::Edge root;
    Rearrangement how;
  };
  Chain chain_to(const graph::Edge& edge) const;
  // Where a model input enters the device in another order than the model's: what the host did to it.
  const Rearrangement* host_view(const graph::Node& input) const;
  // Whether someone may read the padding below the rows of a node's result.
  bool rows_are_read(const graph::Node& n) const { return rows_read_[n.id().index()] != 0; }

  // The argument of a maximum along c, for a later subtraction of that maximum: by the tensor-level value. See lower_reduce.cpp.
  struct MaximumArgument {
    graph::NodeId maximum;
    Lowered x;
    bool is_masked = false;  // its padding was made very negative
  };
  std::map<graph::ValueRef, MaximumArgument> masked_for_max;

 private:
  struct Known {
    const graph::Value* value = nullptr;  // of a node of from_, or in folded_
    graph::NodeKind kind = graph::NodeKind::constant;
    graph::NodeId from;  // the node that it is, or the op that gave it
  };

  void find_state();
  void find_row_readers();
  bool reads_rows(const graph::Node& n, std::uint32_t input) const;
  void find_views();

  void lower_all();
  void fail(const graph::Node& n, Failure failure);
  Result<void> enter(const graph::Node& n);
  Result<void> visit(const graph::Node& n);
  Result<void> visit_source(const graph::Node& n);
  Result<void> visit_input(const graph::Node& n);
  Result<void> visit_output(const graph::Node& n);
  Result<void> fold(const graph::Node& n);
  bool all_known(const graph::Node& n) const;

  Result<Lowered> place(graph::ValueRef value, Copies copies);
  // A model's shape as the host gives and takes it.
  Shape border_shape(const Shape& model) const;
  Result<Lowered> moved(const graph::Node& n);
  std::string free_name(const std::string& wanted) const;
  void describe_as(graph::Node& made, const graph::Node& basis);
  static void name_model_type(graph::Node& made, DType model);
  Result<Lowered> padding_mask(const graph::Node& n, const Shape& shape, bool columns, float data, float padding);
  Result<Lowered> combined_with_mask(const graph::Node& n, std::string_view op, const Lowered& x, bool columns, float data, float padding);
  Result<Lowered> with_padding(const graph::Node& n, const Lowered& x, bool columns, double padding);

  const graph::Graph& from_;
  PassContext& context_;
  Batch batch_;
  graph::Graph out_;
  graph::ValueTable<Lowered> values_;
  graph::ValueTable<Known> known_;
  std::deque<graph::Value> folded_;                              // results of ops on known values
  std::array<graph::ValueTable<Lowered>, kCopiesForms> placed_;  // by Copies
  std::map<graph::NodeId, Rearrangement> views_;  // model inputs that are only used in another order, which the host brings them to
  std::set<graph::NodeId> state_;                 // inputs and outputs that are each other's
  std::vector<char> rows_read_;
  std::set<graph::NodeId> failed_;
  Failure failure_;
  bool probing_ = false;
  std::vector<Refusal> refused_;
};

// A graph for the device alone, with the batch apart if it can be and joined otherwise (lower_to_device.cpp).
Result<graph::Graph> lower(const graph::Graph& graph, PassContext& context);

// What comes of that: what is refused, or the graph.
struct Trial {
  std::vector<Lowering::Refusal> refused;
  std::optional<graph::Graph> lowered;  // when nothing is refused
};
Trial lower_on_trial(const graph::Graph& graph, PassContext& context);

}  // namespace buda::passes
