// SPDX-License-Identifier: Apache-2.0
// Recurrent networks: LSTM and plain ones, with the state that they leave for the next run.
#include "recurrent.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda::tflite_frontend {

namespace format = tflite_format;
using namespace lstm_input;

graph::ValueRef steps_first(NodeImport& n, const LstmSizes& s, graph::ValueRef x) {
  if (!s.is_sequence) return n.step("x").reshape(x, Shape{1, s.batch, s.inputs});
  return s.is_time_major ? x : n.step("x").transpose(x, {1, 0, 2});
}

graph::ValueRef as_lstm_result(NodeImport& n, const LstmSizes& s, graph::ValueRef y) {
  if (!s.is_sequence) return n.result().reshape(y, Shape{s.batch, s.hidden});
  if (!s.is_time_major) return n.result().transpose(y, {1, 0, 2});
  return n.result().reshape(y, Shape{s.steps, s.batch, s.hidden});
}

namespace {

using Ref = NodeImport::Ref;

constexpr std::int64_t kMaxSteps = 1 << 12, kMaxBatch = 1 << 20;

// [steps, batch, inputs] or [batch, steps, inputs]; one step without its axis.
Result<LstmSizes> sizes_of_sequence(NodeImport& n, bool is_sequence, bool is_time_major, std::size_t recurrent_weights) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape recurrent, n.shape(recurrent_weights));
  LstmSizes s;
  s.is_sequence = is_sequence;
  s.is_time_major = is_time_major;
  if (x.rank() != (is_sequence ? 3u : 2u)) return n.refuse(cat("its input is ", x.text(), "; it needs ", is_sequence ? 3 : 2, " axes"));
  if (recurrent.rank() != 2) return n.refuse(cat("its recurrent weights are ", recurrent.text(), "; a matrix is needed"));
  s.steps = !is_sequence ? 1 : x[is_time_major ? 0 : 1];
  s.batch = !is_sequence ? x[0] : x[is_time_major ? 1 : 0];
  s.inputs = x[x.rank() - 1];
  s.hidden = recurrent[1];
  if (s.steps < 1 || s.steps > kMaxSteps || s.batch < 1 || s.batch > kMaxBatch)
    return n.refuse(cat("it has ", s.steps, " steps and ", s.batch, " sequences; 1 to ", kMaxSteps, " steps of 1 to ", kMaxBatch,
                        " sequences are supported"));
  return s;
}

// Inputs that must have this shape.
Result<void> check_shapes(NodeImport& n, std::size_t first, std::size_t last, const Shape& needed) {
  for (std::size_t i = first; i <= last; ++i) {
    BUDA_ASSIGN(Shape found, n.shape(i));
    if (found != needed)
      return n.refuse(cat("its input ", i, " ('", n.input_info(i).name, "') is ", found.text(), "; ", needed.text(), " is needed"));
  }
  return success();
}

Ref zeros(NodeImport& n, std::string_view name, const Shape& shape) {
  return n.step(name).constant(shape, std::vector<float>(static_cast<std::size_t>(shape.volume().value_or(0)), 0.0f));
}

Ref lengths(NodeImport& n, const LstmSizes& s) {
  return n.step("lengths").constant(Shape{s.batch},
                                    std::vector<std::int32_t>(static_cast<std::size_t>(s.batch), static_cast<std::int32_t>(s.steps)));
}

// Inputs one under the other, under an axis for the one direction.
Ref stacked(NodeImport& n, std::string_view name, const std::vector<std::size_t>& inputs, const Shape& shape) {
  std::vector<graph::Edge> parts;
  for (auto i : inputs) parts.emplace_back(n.number(i));
  Ref all = parts.size() == 1 ? parts[0].source : n.step(cat(name, ".gates")).concatenate(std::move(parts), 0);
  return n.step(name).reshape(all, shape);
}

// Peepholes: all or none, of which that of the input gate comes first.
Result<Ref> peepholes(NodeImport& n, const LstmSizes& s) {
  if (!n.has_input(kPeepholeOfForget)) return zeros(n, "peepholes", {1, 3 * s.hidden});
  BUDA_TRY(check_shapes(n, kPeepholeOfInput, kPeepholeOfOutput, {s.hidden}));
  return stacked(n, "peepholes", {kPeepholeOfInput, kPeepholeOfOutput, kPeepholeOfForget}, {1, 3 * s.hidden});
}

// Through the op lstm, whose gates are input, output, forget, cell.
Result<void> lstm_in_numbers(NodeImport& n, const LstmSizes& s) {
  Ref x = steps_first(n, s, n.number(kX));
  Ref w = stacked(n, "weights", {kToInput, kToOutput, kToForget, kToCell}, {1, 4 * s.hidden, s.inputs});
  Ref r =
      stacked(n, "recurrent", {kRecurrentToInput, kRecurrentToOutput, kRecurrentToForget, kRecurrentToCell}, {1, 4 * s.hidden, s.hidden});
  Ref of_inputs = stacked(n, "bias", {kInputBias, kOutputBias, kForgetBias, kCellBias}, {1, 4 * s.hidden});
  Ref of_state = zeros(n, "no_bias", {1, 4 * s.hidden});
  Ref b = n.step("biases").concatenate({of_inputs, of_state}, 1);
  Ref length = lengths(n, s);
  BUDA_ASSIGN(Ref h, n.state(kHidden, {1, s.batch, s.hidden}, true));
  BUDA_ASSIGN(Ref c, n.state(kCell, {1, s.batch, s.hidden}, true));
  BUDA_ASSIGN(Ref p, peepholes(n, s));
  ops::AttrMap attrs;
  if (s.cell_clip > 0) attrs["cell_clip"] = s.cell_clip;
  Ref y = n.step("lstm").op("lstm", {x, w, r, b, length, h, c, p}, std::move(attrs));
  if (!y.valid()) return success();
  n.keep_state(kHidden, Ref(y.node, 1), true);
  n.keep_state(kCell, Ref(y.node, 2), true);
  Ref states = n.step("states").reshape(y, Shape{s.steps, s.batch, s.hidden});
  n.output_number(as_lstm_result(n, s, states));
  return success();
}

Result<void> import_full_lstm(NodeImport& n, LstmSizes s, format::Activation activation) {
  if (n.input_count() != 20 && n.input_count() != 24) return n.refuse(cat("has ", n.input_count(), " inputs; 20 or 24 are needed"));
  for (std::size_t i = kX; i <= kOutputNorm; ++i) {
    bool needed = i <= kRecurrentToOutput || (i >= kInputBias && i <= kOutputBias) || i == kHidden || i == kCell;
    bool peephole = i >= kPeepholeOfInput && i <= kPeepholeOfOutput;
    if (i == kToInput && !n.has_input(i))
      return n.refuse("has no weights of its input gate (it is coupled with the forget gate), which is not supported");
    if (needed && !n.has_input(i)) return n.refuse(cat("its input ", i, " is missing"));
    if (!needed && !peephole && n.has_input(i))
      return n.refuse(
          cat("has ", i <= kProjectionBias ? "a projection" : "a normalisation of its gates", " (input ", i, "), which is not supported"));
    if (peephole && n.has_input(i) != n.has_input(kPeepholeOfForget)) return n.refuse("has some of its three peepholes only");
  }
  if (activation != format::Activation::TANH)
    return n.refuse(
        cat("its activation ", static_cast<int>(activation), " is not supported; TANH is ", static_cast<int>(format::Activation::TANH)));
  BUDA_TRY(check_shapes(n, kToInput, kToOutput, {s.hidden, s.inputs}));
  BUDA_TRY(check_shapes(n, kRecurrentToInput, kRecurrentToOutput, {s.hidden, s.hidden}));
  BUDA_TRY(check_shapes(n, kInputBias, kOutputBias, {s.hidden}));
  return n.is_exact() && has_integer_lstm(n) ? lstm_in_integers(n, s) : lstm_in_numbers(n, s);
}

Result<void> import_sequence_lstm(NodeImport& n) {
  const auto& o = n.options<format::UnidirectionalSequenceLSTMOptions>();
  if (o.diagonal_recurrent_tensors()) return n.refuse("its recurrent weights are diagonals, which is not supported");
  BUDA_ASSIGN(LstmSizes s, sizes_of_sequence(n, true, o.time_major(), kRecurrentToOutput));
  s.cell_clip = static_cast<double>(o.cell_clip());
  return import_full_lstm(n, s, o.activation());
}

// The cell of the first versions: inputs x, h, weights of both under one another, biases and c; results h and c. Gates: input, cell,
// forget, output.
Result<void> import_basic_lstm(NodeImport& n) {
  if (n.input_count() != 5 || n.output_count() < 2)
    return n.refuse(cat("has ", n.input_count(), " inputs and ", n.output_count(), " results; 5 and 2 or 4 are needed"));
  if (n.is_exact())
    return n.refuse(
        "its basic kernel of quantised numbers is not supported; --set frontend.tflite.arithmetic=real computes with real ones");
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape h, n.shape(1));
  if (x.rank() != 2 || h.rank() != 2) return n.refuse(cat("its inputs 0 and 1 are ", x.text(), " and ", h.text(), "; matrices are needed"));
  std::int64_t hidden = h[1];
  BUDA_TRY(check_shapes(n, 1, 1, {x[0], hidden}));
  BUDA_TRY(check_shapes(n, 2, 2, {4 * hidden, x[1] + hidden}));
  BUDA_TRY(check_shapes(n, 3, 3, {4 * hidden}));
  BUDA_TRY(check_shapes(n, 4, 4, {x[0], hidden}));
  Ref in = n.number(0), before = n.number(1), weights = n.number(2), bias = n.number(3), c = n.number(4);
  Ref both = n.step("inputs").concatenate({in, before}, 1);
  Ref columns = n.step("columns").transpose(weights, {1, 0});
  Ref gates = n.step("gates").matmul(both, columns, bias);
  auto part = [&](std::string_view name, std::int64_t i) { return n.step(name).slice(gates, 1, i * hidden, (i + 1) * hidden); };
  Ref input = part("input", 0), cell = part("cell", 1), forget = part("forget", 2), output = part("output", 3);
  input = n.step("input.gate").sigmoid(input);
  cell = n.step("cell.gate").tanh(cell);
  forget = n.step("forget.gate").sigmoid(forget);
  output = n.step("output.gate").sigmoid(output);
  Ref kept = n.step("kept").multiply(forget, c), added = n.step("added").multiply(input, cell);
  Ref state = n.step("state").add(kept, added);
  Ref shown = n.step("shown").tanh(state);
  n.output_number(n.result().multiply(output, shown));
  n.output_number(state, 1);
  return success();
}

Result<void> import_lstm(NodeImport& n) {
  const auto& o = n.options<format::LSTMOptions>();
  if (o.kernel_type() == format::LSTMKernelType::BASIC) return import_basic_lstm(n);
  BUDA_ASSIGN(LstmSizes s, sizes_of_sequence(n, false, false, kRecurrentToOutput));
  s.cell_clip = static_cast<double>(o.cell_clip());
  return import_full_lstm(n, s, o.activation());
}

// Inputs: x, weights, recurrent weights, bias, the state.
Result<void> plain_network(NodeImport& n, const LstmSizes& s, format::Activation activation) {
  if (n.input_count() != 5) return n.refuse(cat("has ", n.input_count(), " inputs; 5 are needed"));
  if (activation != format::Activation::TANH && activation != format::Activation::RELU)
    return n.refuse(cat("its activation ", static_cast<int>(activation), " is not supported; RELU and TANH are"));
  BUDA_TRY(check_shapes(n, 1, 1, {s.hidden, s.inputs}));
  BUDA_TRY(check_shapes(n, 2, 2, {s.hidden, s.hidden}));
  BUDA_TRY(check_shapes(n, 3, 3, {s.hidden}));
  Ref x = steps_first(n, s, n.number(0));
  Ref w = stacked(n, "weights", {1}, {1, s.hidden, s.inputs}), r = stacked(n, "recurrent", {2}, {1, s.hidden, s.hidden});
  Ref of_inputs = stacked(n, "bias", {3}, {1, s.hidden});
  Ref of_state = zeros(n, "no_bias", {1, s.hidden});
  Ref b = n.step("biases").concatenate({of_inputs, of_state}, 1);
  Ref length = lengths(n, s);
  BUDA_ASSIGN(Ref h, n.state(4, {1, s.batch, s.hidden}, true));
  std::string function = activation == format::Activation::TANH ? "tanh" : "relu";
  Ref y = n.step("rnn").op("rnn", {x, w, r, b, length, h}, {{"activations", std::vector<std::string>{function}}});
  if (!y.valid()) return success();
  n.keep_state(4, Ref(y.node, 1), true);
  Ref states = n.step("states").reshape(y, Shape{s.steps, s.batch, s.hidden});
  n.output_number(as_lstm_result(n, s, states));
  return success();
}

Result<void> import_rnn(NodeImport& n) {
  BUDA_ASSIGN(LstmSizes s, sizes_of_sequence(n, false, false, 2));
  return plain_network(n, s, n.options<format::RNNOptions>().activation());
}

Result<void> import_sequence_rnn(NodeImport& n) {
  const auto& o = n.options<format::SequenceRNNOptions>();
  BUDA_ASSIGN(LstmSizes s, sizes_of_sequence(n, true, o.time_major(), 2));
  return plain_network(n, s, o.activation());
}

constexpr OpImporter kRecurrentOps[] = {
    {Code::LSTM,
     import_lstm,
     {},
     Exactness::exact,
     "TANH; without projection, normalised gates, coupled gates; the basic kernel of real numbers only"},
    {Code::RNN, import_rnn, {}, Exactness::rounded, "RELU and TANH"},
    {Code::SVDF, import_svdf, {}, Exactness::exact},
    {Code::UNIDIRECTIONAL_SEQUENCE_LSTM,
     import_sequence_lstm,
     {},
     Exactness::exact,
     "TANH; without projection, normalised gates, coupled gates"},
    {Code::UNIDIRECTIONAL_SEQUENCE_RNN, import_sequence_rnn, {}, Exactness::rounded, "RELU and TANH"},
};

}  // namespace

std::span<const OpImporter> recurrent_ops() { return kRecurrentOps; }

}  // namespace buda::tflite_frontend
