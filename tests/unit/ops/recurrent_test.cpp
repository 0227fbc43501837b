// SPDX-License-Identifier: Apache-2.0
// Recurrent networks against torch.nn.LSTM and torch.nn.GRU (their gates brought into ONNX's order), and by hand.
#include <buda/tensor/tensor.hpp>

#include "running.hpp"

namespace buda::ops {
namespace {

// (i * factor % modulus - shift) / divisor
Tensor pattern(Shape shape, std::int64_t factor, std::int64_t modulus, float shift, float divisor, float sign = 1) {
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = sign * (static_cast<float>(static_cast<std::int64_t>(i) * factor % modulus) - shift) / divisor;
  return Tensor(std::move(shape), std::move(v));
}

Tensor zeros(Shape shape) { return *Tensor::zeros(DType::f32, std::move(shape)); }

std::vector<Tensor> all(const std::string& op, const std::vector<Tensor>& in, const AttrMap& attrs = {}) {
  auto results = evaluate(*standard_ops().find(Level::tensor, op), in, attrs, 2);
  if (results) return *results;
  ADD_FAILURE() << results.failure().diagnostics().at(0).message;
  return std::vector<Tensor>(3);
}

const Tensor kX = pattern({3, 2, 2}, 3, 7, 3, 4);

TEST(Lstm, AsPyTorch) {
  std::vector<Tensor> in{kX,
                         pattern({1, 8, 2}, 7, 11, 5, 10),
                         pattern({1, 8, 2}, 5, 13, 6, 10),
                         pattern({1, 16}, 3, 5, 2, 10),
                         i32({2}, {3, 3}),
                         zeros({1, 2, 2}),
                         zeros({1, 2, 2}),
                         zeros({1, 6})};
  auto out = all("lstm", in);
  expect_near(out[0], {3, 1, 2, 2},
              {-0.01205707, -0.1595773, 0.05303624, 0.01471781, 0.06503448, -0.1545153, 0.08213987, -0.05355576, 0.03699741, -0.1588878,
               0.03325147, -0.145854});
  expect_near(out[1], {1, 2, 2}, {0.03699741, -0.1588878, 0.03325147, -0.145854});
  expect_near(out[2], {1, 2, 2}, {0.1055611, -0.2918032, 0.08824301, -0.2760154});
}

// The second sequence has two steps, and both directions have weights of their own.
TEST(Gru, BothDirectionsOfSequencesOfSeveralLengths) {
  // As torch.nn.GRU keeps them: gates reset, update, new; here update, reset, new. PyTorch's GRU is linear before the reset gate.
  auto both = [](const Tensor& t, Shape shape) {
    std::vector<float> v;
    for (float sign : {1.0f, -1.0f})
      for (float x : t.as<float>()) v.push_back(sign * x);
    return Tensor(std::move(shape), std::move(v));
  };
  Tensor w = both(pattern({6, 2}, 7, 11, 5, 10), {2, 6, 2}), r = both(pattern({6, 2}, 5, 13, 6, 10), {2, 6, 2});
  std::vector<float> b;
  auto biases = pattern({16}, 3, 5, 2, 10);
  for (int direction = 0; direction < 2; ++direction)
    for (std::size_t part : {0u, 8u})
      for (std::size_t i = 0; i < 6; ++i) b.push_back(biases.as<float>()[part + i]);
  auto out = all("gru", {kX, w, r, f32({2, 12}, b), i32({2}, {3, 2}), zeros({2, 2, 2})},
                 {{"direction", std::string("bidirectional")}, {"linear_before_reset", true}});
  expect_near(out[0], {3, 2, 2, 2}, {0.1033036,   -0.01094331, -0.2406556, -0.01134341, -0.173432,  -0.07035494, 0.2063113, -0.1734064,
                                     -0.198591,   0.08100595,  -0.2750155, 0.1148131,   0.03924911, 0.01802699,  0.1211614, -0.1537552,
                                     -0.01601417, -0.1512982,  0,          0,           -0.1432418, 0.1602845,   0,         0});
  expect_near(out[1], {2, 2, 2}, {-0.01601417, -0.1512982, -0.2750155, 0.1148131, -0.173432, -0.07035494, 0.2063113, -0.1734064});
}

// One step of one number, worked out with the formulas.
TEST(Gru, ResetBeforeTheProduct) {
  std::vector<Tensor> in{f32({1, 1, 1}, {2}), f32({1, 3, 1}, {0, 0, 1}), f32({1, 3, 1}, {0, 0, 3}), f32({1, 6}, {0, 0, 0, 0, 0, 1}),
                         i32({1}, {1}),       f32({1, 1, 1}, {4})};
  AttrMap linear{{"activations", std::vector<std::string>{"affine", "relu"}},
                 {"alpha", std::vector<double>{0, 0}},
                 {"beta", std::vector<double>{0.5, 0}}};
  // update = reset = 0.5; hidden = 2 + (0.5 * 4) * 3 + 1 = 9
  expect_near(all("gru", in, linear)[1], {1, 1, 1}, {0.5 * 9 + 0.5 * 4});
  linear["linear_before_reset"] = true;  // hidden = 2 + 0.5 * (4 * 3 + 1) = 8.5
  expect_near(all("gru", in, linear)[1], {1, 1, 1}, {0.5 * 8.5 + 0.5 * 4});
}

TEST(Rnn, FunctionsClipAndReverse) {
  std::vector<Tensor> in{f32({3, 1, 1}, {1, 2, 3}), f32({1, 1, 1}, {1}), f32({1, 1, 1}, {10}), zeros({1, 2}), i32({1}, {2}),
                         f32({1, 1, 1}, {0.5})};
  AttrMap attrs{{"activations", std::vector<std::string>{"leaky_relu"}}};
  expect_near(all("rnn", in, attrs)[0], {3, 1, 1, 1}, {6, 62, 0});
  attrs["direction"] = std::string("reverse");
  expect_near(all("rnn", in, attrs)[0], {3, 1, 1, 1}, {71, 7, 0});
  attrs["clip"] = 5.0;
  expect_near(all("rnn", in, attrs)[1], {1, 1, 1}, {5});
}

TEST(Lstm, PeepholesAndInputForget) {
  // Everything through the peepholes: i = c0, f = 1 - i, c = f * c0 + i * g, o = 2 * c.
  std::vector<Tensor> in{zeros({1, 1, 1}), zeros({1, 4, 1}), zeros({1, 4, 1}),      f32({1, 8}, {0, 0, 0, 3, 0, 0, 0, 0}),
                         i32({1}, {1}),    zeros({1, 1, 1}), f32({1, 1, 1}, {0.5}), f32({1, 3}, {1, 2, 9})};
  AttrMap attrs{{"activations", std::vector<std::string>{"relu", "relu", "relu"}}, {"input_forget", true}};
  auto out = all("lstm", in, attrs);
  expect_near(out[2], {1, 1, 1}, {1.75});
  expect_near(out[0], {1, 1, 1, 1}, {1.75 * 3.5});
  attrs["cell_clip"] = 0.25;
  out = all("lstm", in, attrs);
  expect_near(out[2], {1, 1, 1}, {0.25});
  expect_near(out[0], {1, 1, 1, 1}, {0.25 * 0.5});
}

TEST(Recurrent, Refusals) {
  std::vector<Tensor> in{kX, zeros({1, 2, 2}), zeros({1, 2, 2}), zeros({1, 4}), i32({2}, {3, 4}), zeros({1, 2, 2})};
  EXPECT_EQ(error_of("rnn", in), "OP003: sequence 1 has length 4; sequences have 0 to 3 steps");
  in[4] = i32({2}, {3, 3});
  EXPECT_EQ(error_of("rnn", in, {{"activations", std::vector<std::string>{"swish"}}}),
            "OP003: there is no activation 'swish'; there are affine, elu, hard_sigmoid, leaky_relu, relu, scaled_tanh, sigmoid, softplus, "
            "softsign, "
            "tanh, thresholded_relu");
  in[3] = zeros({1, 2});
  EXPECT_EQ(error_of("rnn", in), "OP003: the input 'b' is [1, 2] where [1, 4] is needed");
}

}  // namespace
}  // namespace buda::ops
