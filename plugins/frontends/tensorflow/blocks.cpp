// SPDX-License-Identifier: Apache-2.0
// Cells of recurrent networks that TensorFlow has as single operators, step by step: all of an LSTM's results at each step may be used.
#include "node_import.hpp"

#include <buda/base/text.hpp>

#include <array>

namespace buda::tensorflow_frontend {
namespace {

using Ref = NodeImport::Ref;

constexpr std::int64_t kMaxSteps = 1 << 12;
constexpr std::size_t kLstmResults = 7;  // i cs f o ci co h

// Where an operator's inputs begin: BlockLSTM has the number of steps before them.
struct LstmInputs {
  std::size_t x, c, h, w, input_peephole, forget_peephole, output_peephole, b;
};
constexpr LstmInputs kCellInputs{0, 1, 2, 3, 4, 5, 6, 7};
constexpr LstmInputs kBlockInputs{1, 2, 3, 4, 5, 6, 7, 8};

struct LstmBlock {
  std::int64_t hidden = 0;
  std::array<std::int64_t, 4> places{};  // of the gates input, cell, forget, output among the columns
  double forget_bias = 0, cell_clip = 0;
  bool peepholes = false;
};

Result<LstmBlock> lstm_block(NodeImport& n, const LstmInputs& in) {
  LstmBlock out;
  // The second version has its gates in another order, and neither bias nor clip unless they are given.
  bool second = n.type_of_op() == "BlockLSTMV2";
  out.places = second ? std::array<std::int64_t, 4>{0, 2, 1, 3} : std::array<std::int64_t, 4>{0, 1, 2, 3};
  out.forget_bias = second ? 0 : n.real("forget_bias", 1);
  out.cell_clip = n.real("cell_clip", second ? 0 : 3);
  out.peepholes = n.flag("use_peephole", false);
  BUDA_ASSIGN(Shape x, n.shape(in.x));
  BUDA_ASSIGN(Shape h, n.shape(in.h));
  BUDA_ASSIGN(Shape w, n.shape(in.w));
  BUDA_ASSIGN(Shape b, n.shape(in.b));
  bool fits = x.rank() >= 2 && h.rank() == 2 && w.rank() == 2 && h[1] > 0 && w[1] == 4 * h[1] && w[0] == x[x.rank() - 1] + h[1] &&
              h[0] == x[x.rank() - 2] && b == Shape{w[1]};
  if (!fits) return n.refuse(cat("its x ", x.text(), ", h ", h.text(), ", w ", w.text(), " and b ", b.text(), " do not fit"));
  out.hidden = h[1];
  return out;
}

// One step: x is [batch, inputs]; h and c are read and written.
std::array<Ref, kLstmResults> lstm_step(NodeImport& n, const LstmBlock& lstm, const LstmInputs& in, const std::string& at, Ref x, Ref& h,
                                        Ref& c) {
  auto named = [&](std::string_view what) -> ops::Builder& { return n.step(cat(at, what)); };
  Ref both = named("xh").concatenate({x, h}, 1);
  Ref w = n.input(in.w), b = n.input(in.b);
  Ref gates = named("gates").matmul(both, w, b);
  auto part = [&](std::string_view name, std::size_t gate) {
    std::int64_t from = lstm.places[gate] * lstm.hidden;
    return named(name).slice(gates, 1, from, from + lstm.hidden);
  };
  auto with_peephole = [&](std::string_view name, Ref arriving, Ref cell, std::size_t peephole) {
    if (!lstm.peepholes) return arriving;
    Ref weights = n.input(peephole);
    Ref seen = named(cat(name, ".seen")).multiply(cell, weights);
    return named(cat(name, ".all")).add(arriving, seen);
  };
  Ref input = with_peephole("input", part("input", 0), c, in.input_peephole);
  Ref i = named("i").sigmoid(input);
  Ref candidate = part("cell", 1);
  Ref ci = named("ci").tanh(candidate);
  Ref forget = part("forget", 2);
  if (lstm.forget_bias != 0) {
    Ref bias = named("forget.bias").constant(static_cast<float>(lstm.forget_bias));
    forget = named("forget.biased").add(forget, bias);
  }
  forget = with_peephole("forget", forget, c, in.forget_peephole);
  Ref f = named("f").sigmoid(forget);
  Ref added = named("added").multiply(ci, i), kept = named("kept").multiply(c, f);
  c = named("cs").add(added, kept);
  if (lstm.cell_clip > 0) c = named("cs.clipped").clip(c, -lstm.cell_clip, lstm.cell_clip);
  Ref output = with_peephole("output", part("output", 3), c, in.output_peephole);
  Ref o = named("o").sigmoid(output);
  Ref co = named("co").tanh(c);
  h = named("h").multiply(co, o);
  return {i, c, f, o, ci, co, h};
}

Result<void> import_lstm_cell(NodeImport& n) {
  BUDA_ASSIGN(LstmBlock lstm, lstm_block(n, kCellInputs));
  Ref x = n.input(kCellInputs.x), h = n.input(kCellInputs.h), c = n.input(kCellInputs.c);
  auto results = lstm_step(n, lstm, kCellInputs, "", x, h, c);
  for (std::size_t i = 0; i < results.size(); ++i) n.output(results[i], i);
  return success();
}

// x is [steps, batch, inputs].
Result<void> import_lstm_block(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(kBlockInputs.x));
  BUDA_ASSIGN(std::int64_t steps, n.known_integer(0, "number of steps"));
  if (x.rank() != 3 || x[0] < 1 || x[0] > kMaxSteps || steps < x[0])
    return n.refuse(
        cat("its x ", x.text(), " and number of steps ", steps, " are not supported: all of 1 to ", kMaxSteps, " steps are needed"));
  BUDA_ASSIGN(LstmBlock lstm, lstm_block(n, kBlockInputs));
  Ref all = n.input(kBlockInputs.x), h = n.input(kBlockInputs.h), c = n.input(kBlockInputs.c);
  std::array<std::vector<graph::Edge>, kLstmResults> stacked;
  for (std::int64_t t = 0; t < x[0]; ++t) {
    Ref slice = n.step(cat(t, ".slice")).slice(all, 0, t, t + 1);
    Ref row = n.step(cat(t, ".x")).reshape(slice, Shape{x[1], x[2]});
    auto results = lstm_step(n, lstm, kBlockInputs, cat(t, '.'), row, h, c);
    for (std::size_t i = 0; i < results.size(); ++i)
      stacked[i].emplace_back(n.step(cat(t, ".result", i)).reshape(results[i], Shape{1, x[1], lstm.hidden}));
  }
  for (std::size_t i = 0; i < stacked.size(); ++i) n.output(n.step(cat("results", i)).concatenate(std::move(stacked[i]), 0), i);
  return success();
}

// Inputs: x, h, weights of reset and update, of the candidate, and their biases. The reset gate works on h before the product.
Result<void> import_gru_cell(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape before, n.shape(1));
  BUDA_ASSIGN(Shape w_gates, n.shape(2));
  BUDA_ASSIGN(Shape w_candidate, n.shape(3));
  bool fits = x.rank() == 2 && before.rank() == 2 && w_gates == Shape{x[1] + before[1], 2 * before[1]} &&
              w_candidate == Shape{x[1] + before[1], before[1]};
  if (!fits)
    return n.refuse(
        cat("its x ", x.text(), ", h ", before.text(), " and weights ", w_gates.text(), " and ", w_candidate.text(), " do not fit"));
  std::int64_t hidden = before[1];
  Ref in = n.input(0), h = n.input(1), w_ru = n.input(2), w_c = n.input(3), b_ru = n.input(4), b_c = n.input(5);
  Ref both = n.step("xh").concatenate({in, h}, 1);
  Ref gates = n.step("gates").matmul(both, w_ru, b_ru);
  Ref open = n.step("ru").sigmoid(gates);
  Ref r = n.step("r").slice(open, 1, 0, hidden), u = n.step("u").slice(open, 1, hidden, 2 * hidden);
  Ref reset = n.step("reset").multiply(r, h);
  Ref with_reset = n.step("xr").concatenate({in, reset}, 1);
  Ref arriving = n.step("candidate").matmul(with_reset, w_c, b_c);
  Ref c = n.step("c").tanh(arriving);
  // u h + (1 - u) c
  Ref change = n.step("change").subtract(h, c);
  Ref kept = n.step("kept").multiply(u, change);
  n.output(r, 0);
  n.output(u, 1);
  n.output(c, 2);
  n.output(n.result().add(c, kept), 3);
  return success();
}

constexpr OpImporter kBlockOps[] = {
    {"BlockLSTM", import_lstm_block, {}, "number of steps known", "i cs f o ci co h"},
    {"BlockLSTMV2", import_lstm_block, {}, "number of steps known", "i cs f o ci co h"},
    {"GRUBlockCell", import_gru_cell, {}, {}, "r u c h"},
    {"LSTMBlockCell", import_lstm_cell, {}, {}, "i cs f o ci co h"},
};

}  // namespace

std::span<const OpImporter> block_ops() { return kBlockOps; }

}  // namespace buda::tensorflow_frontend
