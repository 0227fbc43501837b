// SPDX-License-Identifier: Apache-2.0
// An LSTM in integers, with the rounding of TensorFlow Lite's reference kernels for microcontrollers.
//
// Each gate has two products, one with the inputs and one with the hidden state. Each is scaled to numbers of 16 bits with 12 behind the
// point, and their sum is clipped to 16 bits, before the gate's function, whose results have 15 bits behind the point. The cell's state has
// 16 bits and a power of two as its scale. The products with the inputs do not depend on the state: one product brings those of all steps
// and gates. Gates stand side by side in the order input, forget, output, cell: those with the sigmoid come first.
#include "gate_tables.hpp"
#include "quantized.hpp"
#include "recurrent.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>

namespace buda::tflite_frontend {

using namespace lstm_input;

namespace {

using Ref = NodeImport::Ref;

constexpr std::size_t kWeights[] = {kToInput, kToForget, kToOutput, kToCell};
constexpr std::size_t kRecurrent[] = {kRecurrentToInput, kRecurrentToForget, kRecurrentToOutput, kRecurrentToCell};
constexpr std::size_t kBiases[] = {kInputBias, kForgetBias, kOutputBias, kCellBias};
constexpr double kArgumentScale = 1.0 / 4096, kGateScale = 1.0 / 32768;

bool is_stored_as(const TensorInfo& info, DType type) {
  return info.is_quantized() && *info.dtype == type && !info.quantization->per_slice();
}

class IntegerLstm {
 public:
  IntegerLstm(NodeImport& n, const LstmSizes& sizes)
      : n_(n), s_(sizes), sum_in_(n.input_info(kX).dtype == DType::i8 ? DType::i32 : DType::i64) {}

  Result<void> run() {
    Ref arriving = of_inputs();
    columns_ = side_by_side("recurrent", kRecurrent);
    make_tables();
    Shape rows{s_.batch, s_.hidden};
    BUDA_ASSIGN(Ref h, n_.state(kHidden, rows, false));
    BUDA_ASSIGN(Ref c, n_.state(kCell, rows, false));
    c = n_.cast(c, DType::i32, "c");
    std::vector<graph::Edge> states;
    for (std::int64_t t = 0; t < s_.steps; ++t) {
      Ref part = step(t, "x").slice(arriving, 0, t, t + 1);
      part = step(t, "x.rows").reshape(part, Shape{s_.batch, 4 * s_.hidden});
      advance(t, part, h, c);
      states.emplace_back(step(t, "result").reshape(h, Shape{1, s_.batch, s_.hidden}));
    }
    n_.keep_state(kHidden, h, false);
    Ref kept = n_.cast(c, DType::i16, "c.stored");
    n_.keep_state(kCell, kept, false);
    Ref all = states.size() == 1 ? states[0].source : n_.step("states").concatenate(std::move(states), 0);
    n_.output(as_lstm_result(n_, s_, all));
    return success();
  }

 private:
  ops::Builder& step(std::int64_t t, std::string_view name) { return n_.step(cat(t, '.', name)); }
  double scale(std::size_t i) const { return static_cast<double>(n_.input_info(i).quantization->scales[0]); }

  // The four gates' weights as columns of one matrix.
  Ref side_by_side(std::string_view name, const std::size_t (&inputs)[4]) {
    std::vector<graph::Edge> parts;
    for (auto i : inputs) parts.emplace_back(n_.input(i));
    Ref rows = n_.step(cat(name, ".gates")).concatenate(std::move(parts), 0);
    Ref wide = n_.cast(rows, sum_in_, cat(name, ".wide"));
    return n_.step(cat(name, ".columns")).transpose(wide, {1, 0});
  }

  // A factor for each column: the gates' weights have scales of their own. Scales are multiplied in fp32.
  std::vector<FixedFactor> factors(std::size_t values, const std::size_t (&weights)[4]) const {
    std::vector<FixedFactor> out;
    for (auto w : weights) {
      float product = n_.input_info(values).quantization->scales[0] * n_.input_info(w).quantization->scales[0];
      out.insert(out.end(), static_cast<std::size_t>(s_.hidden), fixed_factor(static_cast<double>(product) / kArgumentScale));
    }
    return out;
  }

  // Of all steps and gates, as arguments of the gates' functions: [steps, batch, 4 * hidden].
  Ref of_inputs() {
    Ref x = steps_first(n_, s_, n_.input(kX));
    x = n_.step("x.rows").reshape(x, Shape{s_.steps * s_.batch, s_.inputs});
    x = centred(n_, kX, x, sum_in_, "x");
    Ref w = side_by_side("weights", kWeights);
    Ref product = n_.step("x.product").matmul(x, w);
    std::vector<graph::Edge> parts;
    for (auto i : kBiases) parts.emplace_back(n_.input(i));
    Ref bias = n_.step("bias").concatenate(std::move(parts), 0);
    bias = n_.cast(bias, sum_in_, "bias.wide");
    Ref sum = n_.step("x.sum").add(product, bias);
    Ref scaled = as_arguments("x.scaled", sum, factors(kX, kWeights));
    return n_.step("x.steps").reshape(scaled, Shape{s_.steps, s_.batch, 4 * s_.hidden});
  }

  Ref as_arguments(std::string_view name, Ref sum, const std::vector<FixedFactor>& factors) {
    Ref narrow = requantize(n_, name, sum, factors, 1, Tensor::scalar<std::int16_t>(0));
    return n_.cast(narrow, DType::i32, cat(name, ".wide"));
  }

  void make_tables() {
    auto table = [&](std::string_view name, std::vector<std::int32_t> values) {
      auto size = static_cast<std::int64_t>(values.size());
      return n_.step(name).constant(Shape{size}, std::move(values));
    };
    sigmoid_ = table("sigmoid.table", sigmoid_table());
    tanh_ = table("tanh.table", tanh_table(-12));
    int cell_scale = static_cast<int>(std::lround(std::log2(scale(kCell))));
    cell_tanh_ = cell_scale == -12 ? tanh_ : table("cell.table", tanh_table(cell_scale));
    first_place_ = n_.step("table.offset").constant(Tensor::scalar(static_cast<std::int32_t>(kGateTableOffset)));
  }

  Ref function(std::string_view name, Ref table, Ref places) {
    return n_.step(name).op("gather", {table, places}, {{"dim", std::int64_t{0}}});
  }

  Ref sum_in_16_bits(std::string_view name, Ref a, Ref b) {
    Ref sum = n_.step(cat(name, ".sum")).add(a, b);
    return n_.step(name).clip(sum, -32768, 32767);
  }

  Ref product_in_16_bits(std::string_view name, Ref a, Ref b, double factor) {
    Ref product = n_.step(cat(name, ".product")).multiply(a, b);
    Ref narrow = requantize(n_, name, product, {fixed_factor(factor)}, 0, Tensor::scalar<std::int16_t>(0));
    return n_.cast(narrow, DType::i32, cat(name, ".wide"));
  }

  // One step: h as it is stored, c in I32.
  void advance(std::int64_t t, Ref of_x, Ref& h, Ref& c) {
    auto name = [&](std::string_view what) { return cat(t, '.', what); };
    Ref state = centred(n_, kHidden, h, sum_in_, name("h"));
    Ref product = step(t, "h.product").matmul(state, columns_);
    Ref of_h = as_arguments(name("h.scaled"), product, factors(kHidden, kRecurrent));
    Ref argument = sum_in_16_bits(name("argument"), of_x, of_h);
    Ref places = step(t, "places").add(argument, first_place_);
    auto gate = [&](std::string_view of, Ref all, std::int64_t i) { return step(t, of).slice(all, 1, i * s_.hidden, (i + 1) * s_.hidden); };
    Ref with_sigmoid = step(t, "sigmoid.places").slice(places, 1, 0, 3 * s_.hidden);
    Ref open = function(name("sigmoid"), sigmoid_, with_sigmoid);
    Ref with_tanh = gate("tanh.places", places, 3);
    Ref candidate = function(name("candidate"), tanh_, with_tanh);
    Ref input = gate("input", open, 0), forget = gate("forget", open, 1), output = gate("output", open, 2);
    Ref kept = product_in_16_bits(name("kept"), forget, c, kGateScale);
    Ref added = product_in_16_bits(name("added"), input, candidate, kGateScale * kGateScale / scale(kCell));
    c = sum_in_16_bits(name("c"), kept, added);
    if (s_.cell_clip > 0) {
      double most = std::trunc(std::min(s_.cell_clip / scale(kCell), 32767.0));
      c = step(t, "c.clipped").clip(c, -most, most);
    }
    Ref cell_places = step(t, "c.places").add(c, first_place_);
    Ref shown = function(name("shown"), cell_tanh_, cell_places);
    Ref result = step(t, "h.unscaled").multiply(shown, output);
    const TensorInfo& stored = n_.input_info(kHidden);
    Tensor zero = Tensor(Shape{}, std::vector<std::int64_t>{stored.quantization->zero_points[0]}).cast(*stored.dtype);
    h = requantize(n_, name("h.stored"), result, {fixed_factor(kGateScale * kGateScale / scale(kHidden))}, 0, std::move(zero));
  }

  NodeImport& n_;
  LstmSizes s_;
  DType sum_in_;
  Ref columns_, sigmoid_, tanh_, cell_tanh_, first_place_;
};

}  // namespace

bool has_integer_lstm(const NodeImport& n) {
  DType activations = n.input_info(kX).dtype.value_or(DType::f32);
  bool fits = (activations == DType::i8 || activations == DType::i16) && is_stored_as(n.input_info(kCell), DType::i16) &&
              n.input_info(kCell).quantization->zero_points[0] == 0 && !n.has_input(kPeepholeOfForget);
  for (auto i : {kX, kHidden}) fits = fits && is_stored_as(n.input_info(i), activations);
  for (auto list : {kWeights, kRecurrent})
    for (std::size_t i = 0; i < 4; ++i)
      fits = fits && is_stored_as(n.input_info(list[i]), DType::i8) && n.input_info(list[i]).quantization->zero_points[0] == 0;
  for (auto i : kBiases) fits = fits && n.input_info(i).dtype == (activations == DType::i8 ? DType::i32 : DType::i64);
  return fits && n.output_info(0).quantization == n.input_info(kHidden).quantization && n.output_info(0).dtype == activations;
}

Result<void> lstm_in_integers(NodeImport& n, const LstmSizes& sizes) { return IntegerLstm(n, sizes).run(); }

}  // namespace buda::tflite_frontend
