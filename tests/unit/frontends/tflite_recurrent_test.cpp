// SPDX-License-Identifier: Apache-2.0
// Recurrent operators of TensorFlow Lite against the equations of their cells, written here.
#include "tflite_fixture.hpp"

#include <buda/base/rng.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace buda::test {
namespace {

using ::testing::HasSubstr;
using tfl::Activation;
using tfl::BuiltinOperator;
using tfl::TensorType;

using Numbers = std::vector<double>;

double gate(double x) { return 1 / (1 + std::exp(-x)); }

Numbers numbers(const Tensor& t) {
  auto f = t.to_f32();
  return {f.begin(), f.end()};
}

// Row `row` of a matrix times a vector.
double dot(const Numbers& matrix, std::size_t row, const Numbers& v) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += matrix[row * v.size() + i] * v[i];
  return sum;
}

constexpr int kSteps = 3, kBatch = 2, kInputs = 4, kHidden = 3;

// Weights of the gates input, forget, cell, output, as the format orders them.
struct Lstm {
  std::array<Tensor, 4> w, r, b;
  double cell_clip = 0;

  Lstm() {
    for (std::size_t g = 0; g < 4; ++g) {
      auto phase = static_cast<float>(g);
      w[g] = pattern({kHidden, kInputs}, 0.3f + phase);
      r[g] = pattern({kHidden, kHidden}, 0.7f + phase);
      b[g] = pattern({kHidden}, 0.1f + phase);
    }
  }

  void step(const Numbers& x, Numbers& h, Numbers& c) const {
    Numbers before = h;
    auto arriving = [&](std::size_t g, std::size_t k) {
      return dot(numbers(w[g]), k, x) + dot(numbers(r[g]), k, before) + numbers(b[g])[k];
    };
    for (std::size_t k = 0; k < h.size(); ++k) {
      c[k] = gate(arriving(1, k)) * c[k] + gate(arriving(0, k)) * std::tanh(arriving(2, k));
      if (cell_clip > 0) c[k] = std::clamp(c[k], -cell_clip, cell_clip);
      h[k] = gate(arriving(3, k)) * std::tanh(c[k]);
    }
  }

  // As the operator's inputs 1 to 23; x is given, the states are variables h and c.
  std::vector<int> inputs(TfliteModel& m, int x) const {
    std::vector<int> in(24, -1);
    in[0] = x;
    const std::size_t places[] = {1, 2, 3, 4};
    for (std::size_t g = 0; g < 4; ++g) {
      in[places[g]] = m.constant(cat("w", g), {kHidden, kInputs}, w[g].to_f32());
      in[places[g] + 4] = m.constant(cat("r", g), {kHidden, kHidden}, r[g].to_f32());
      in[places[g] + 11] = m.constant(cat("b", g), {kHidden}, b[g].to_f32());
    }
    in[18] = m.variable("h", {kBatch, kHidden});
    in[19] = m.variable("c", {kBatch, kHidden});
    return in;
  }
};

class TfliteRecurrent : public Tflite {
 protected:
  static TfliteModel sequence(const Lstm& lstm, bool time_major) {
    TfliteModel m;
    const int first = time_major ? kSteps : kBatch, second = time_major ? kBatch : kSteps;
    int x = m.input("x", {first, second, kInputs}), y = m.tensor("y", {first, second, kHidden});
    tfl::UnidirectionalSequenceLSTMOptionsT options;
    options.activation = Activation::TANH;
    options.time_major = time_major;
    options.cell_clip = static_cast<float>(lstm.cell_clip);
    m.op(BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, lstm.inputs(m, x), {y}, options);
    m.output(y);
    return m;
  }
};

// The states that are given are those of another run; what is left goes on.
TEST_F(TfliteRecurrent, LstmOverASequenceWithStates) {
  for (bool time_major : {true, false})
    for (double clip : {0.0, 0.2}) {
      SCOPED_TRACE(cat(time_major, ' ', clip));
      Lstm lstm;
      lstm.cell_clip = clip;
      Tensor x = time_major ? pattern({kSteps, kBatch, kInputs}) : pattern({kBatch, kSteps, kInputs});
      Tensor h0 = pattern({kBatch, kHidden}, 0.9f), c0 = pattern({kBatch, kHidden}, 1.7f);
      auto out = run_all(sequence(lstm, time_major), {x, h0, c0});
      std::vector<float> ys(static_cast<std::size_t>(kSteps * kBatch * kHidden)), hs, cs;
      for (int b = 0; b < kBatch; ++b) {
        auto row = [&](const Tensor& t) {
          Numbers all = numbers(t);
          return Numbers(all.begin() + b * kHidden, all.begin() + (b + 1) * kHidden);
        };
        Numbers h = row(h0), c = row(c0), all = numbers(x);
        for (int t = 0; t < kSteps; ++t) {
          int place = time_major ? t * kBatch + b : b * kSteps + t;
          lstm.step(Numbers(all.begin() + place * kInputs, all.begin() + (place + 1) * kInputs), h, c);
          std::copy(h.begin(), h.end(), ys.begin() + place * kHidden);
        }
        hs.insert(hs.end(), h.begin(), h.end());
        cs.insert(cs.end(), c.begin(), c.end());
      }
      expect_near(out.at("y").to_f32(), ys);
      expect_near(out.at("h.next").to_f32(), hs);
      expect_near(out.at("c.next").to_f32(), cs);
    }
}

TEST_F(TfliteRecurrent, StatesThatBeginAnewAreNeitherInputsNorOutputs) {
  TfliteModel m = sequence(Lstm(), true);
  Tensor x = pattern({kSteps, kBatch, kInputs}), zeros = *Tensor::zeros(DType::f32, {kBatch, kHidden});
  std::vector<float> expected = run_all(m, {x, zeros, zeros}).at("y").to_f32();
  set_option("state", "initial");
  graph::Graph graph = imported(m.bytes());
  EXPECT_EQ(graph.inputs().size(), 1u);
  EXPECT_EQ(graph.outputs().size(), 1u);
  expect_near(run(m, {x}).to_f32(), expected);
}

TEST_F(TfliteRecurrent, AStateThatIsMissing) {
  TfliteModel m = sequence(Lstm(), true);
  m.graph().operators[0]->inputs[18] = -1;
  EXPECT_THAT(refusal(m.bytes()),
              HasSubstr("TF040 node 'y' (op type UNIDIRECTIONAL_SEQUENCE_LSTM, operator 0, version 1): its input 18 is missing"));
}

TEST_F(TfliteRecurrent, OneStepOfTheFullKernel) {
  Lstm lstm;
  TfliteModel m;
  int x = m.input("x", {kBatch, kInputs}), y = m.tensor("y", {kBatch, kHidden});
  tfl::LSTMOptionsT options;
  options.activation = Activation::TANH;
  m.op(BuiltinOperator::LSTM, lstm.inputs(m, x), {y}, options);
  m.output(y);
  Tensor in = pattern({kBatch, kInputs}), h0 = pattern({kBatch, kHidden}, 0.9f), c0 = pattern({kBatch, kHidden}, 1.7f);
  std::vector<float> expected;
  for (int b = 0; b < kBatch; ++b) {
    Numbers x0 = numbers(in), h = numbers(h0), c = numbers(c0);
    h = Numbers(h.begin() + b * kHidden, h.begin() + (b + 1) * kHidden);
    c = Numbers(c.begin() + b * kHidden, c.begin() + (b + 1) * kHidden);
    lstm.step(Numbers(x0.begin() + b * kInputs, x0.begin() + (b + 1) * kInputs), h, c);
    expected.insert(expected.end(), h.begin(), h.end());
  }
  expect_near(run_all(m, {in, h0, c0}).at("y").to_f32(), expected);
}

// Weights of the gates input, cell, forget, output under one another, for x and h side by side.
TEST_F(TfliteRecurrent, BasicKernel) {
  TfliteModel m;
  int x = m.input("x", {1, 2}), h = m.input("h", {1, 2}), c = m.input("c", {1, 2});
  Tensor weights = pattern({8, 4}, 0.2f), biases = pattern({8}, 0.6f);
  int w = m.constant("w", {8, 4}, weights.to_f32()), b = m.constant("b", {8}, biases.to_f32());
  int y = m.tensor("y", {1, 2}), next = m.tensor("next", {1, 2}), t0 = m.tensor("t0", {1, 4}), t1 = m.tensor("t1", {1, 8});
  tfl::LSTMOptionsT options;
  options.kernel_type = tfl::LSTMKernelType::BASIC;
  options.activation = Activation::TANH;
  m.op(BuiltinOperator::LSTM, {x, h, w, b, c}, {y, next, t0, t1}, options);
  m.output(y).output(next);
  auto out = run_all(m, {Tensor({1, 2}, std::vector<float>{0.5f, -1}), Tensor({1, 2}, std::vector<float>{0.2f, 0.9f}),
                         Tensor({1, 2}, std::vector<float>{1.5f, -0.3f})});
  Numbers both{0.5, -1, 0.2, 0.9}, cell{1.5, -0.3};
  std::vector<float> expected_y, expected_c;
  for (std::size_t k = 0; k < 2; ++k) {
    auto arriving = [&](std::size_t g) { return dot(numbers(weights), 2 * g + k, both) + numbers(biases)[2 * g + k]; };
    double after = gate(arriving(2)) * cell[k] + gate(arriving(0)) * std::tanh(arriving(1));
    expected_c.push_back(static_cast<float>(after));
    expected_y.push_back(static_cast<float>(gate(arriving(3)) * std::tanh(after)));
  }
  expect_near(out.at("y").to_f32(), expected_y);
  expect_near(out.at("next").to_f32(), expected_c);
}

TEST_F(TfliteRecurrent, PlainNetworkOverASequence) {
  TfliteModel m;
  Tensor wt = pattern({3, 2}, 0.2f), rt = pattern({3, 3}, 0.6f), bt = pattern({3}, 0.4f), xt = pattern({1, 2, 2}, 1.1f);
  int x = m.input("x", {1, 2, 2}), w = m.constant("w", {3, 2}, wt.to_f32()), r = m.constant("r", {3, 3}, rt.to_f32());
  int b = m.constant("b", {3}, bt.to_f32()), h = m.variable("h", {1, 3}), y = m.tensor("y", {1, 2, 3});
  tfl::SequenceRNNOptionsT options;
  options.activation = Activation::TANH;
  m.op(BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_RNN, {x, w, r, b, h}, {y}, options);
  m.output(y);
  Numbers state{0.1, -0.2, 0.3}, in = numbers(xt);
  auto out = run_all(m, {xt, Tensor({1, 3}, std::vector<float>{0.1f, -0.2f, 0.3f})});
  std::vector<float> expected;
  for (int t = 0; t < 2; ++t) {
    Numbers next;
    for (std::size_t k = 0; k < 3; ++k)
      next.push_back(std::tanh(dot(numbers(wt), k, Numbers(in.begin() + 2 * t, in.begin() + 2 * t + 2)) + dot(numbers(rt), k, state) +
                               numbers(bt)[k]));
    state = next;
    expected.insert(expected.end(), state.begin(), state.end());
  }
  expect_near(out.at("y").to_f32(), expected);
  expect_near(out.at("h.next").to_f32(), {expected.end() - 3, expected.end()});
}

TEST_F(TfliteRecurrent, FormsOfLstmThatAreNotReadAreNamed) {
  auto said = [&](const std::function<void(TfliteModel&, tfl::OperatorT&)>& change) {
    TfliteModel m = sequence(Lstm(), true);
    change(m, *m.graph().operators[0]);
    return refusal(m.bytes());
  };
  EXPECT_THAT(said([](auto&, auto& op) { op.inputs[1] = -1; }), HasSubstr("coupled with the forget gate"));
  EXPECT_THAT(said([](auto& m, auto& op) {
                op.inputs[16] = m.constant("p", {3, 3}, std::vector<float>(9));
              }),
              HasSubstr("has a projection (input 16)"));
  EXPECT_THAT(said([](auto& m, auto& op) { op.inputs[21] = m.constant("n", {3}, std::vector<float>(3)); }),
              HasSubstr("has a normalisation of its gates (input 21)"));
  EXPECT_THAT(said([](auto& m, auto& op) { op.inputs[9] = m.constant("p", {3}, std::vector<float>(3)); }),
              HasSubstr("some of its three peepholes"));
  EXPECT_THAT(said([](auto& m, auto& op) {
                op.inputs[6] = m.constant("r", {3, 4}, std::vector<float>(12));
              }),
              HasSubstr("its input 6 ('r') is [3, 4]; [3, 3] is needed"));
  EXPECT_THAT(said([](auto&, auto& op) { op.inputs.resize(21); }), HasSubstr("has 21 inputs; 20 or 24 are needed"));
}

// ---- in integers

std::int32_t clipped_16(std::int32_t x) { return std::clamp(x, -32768, 32767); }

// Each step rounds to the scales of h and c, so that the two ways are a few units apart.
TEST_F(TfliteRecurrent, LstmInIntegersIsCloseToRealNumbers) {
  constexpr float kX = 0.02f, kH = 1.0f / 128, kC = 1.0f / 2048;
  Lstm lstm;
  auto model = [&] {
    TfliteModel m;
    int x = m.input("x", {kSteps, kBatch, kInputs}, TensorType::INT8), y = m.tensor("y", {kSteps, kBatch, kHidden}, TensorType::INT8);
    std::vector<int> in(24, -1);
    in[0] = x;
    for (std::size_t g = 0; g < 4; ++g) {
      auto bytes = [](const Tensor& t, float scale) {
        std::vector<std::uint8_t> out;
        for (float v : t.to_f32()) out.push_back(as_byte(std::clamp(static_cast<int>(std::lround(v / scale)), -127, 127)));
        return out;
      };
      const float scale = 0.01f + 0.001f * static_cast<float>(g);
      std::vector<std::int32_t> bias;
      for (float v : lstm.b[g].to_f32()) bias.push_back(static_cast<std::int32_t>(std::lround(v / (scale * kX))));
      in[1 + g] = m.bytes_constant(cat("w", g), {kHidden, kInputs}, TensorType::INT8, bytes(lstm.w[g], scale));
      in[5 + g] = m.bytes_constant(cat("r", g), {kHidden, kHidden}, TensorType::INT8, bytes(lstm.r[g], scale));
      in[12 + g] = m.constant(cat("b", g), {kHidden}, bias);
      m.scale(in[1 + g], {scale}).scale(in[5 + g], {scale}).scale(in[12 + g], {scale * kX});
    }
    in[18] = m.variable("h", {kBatch, kHidden}, TensorType::INT8);
    in[19] = m.variable("c", {kBatch, kHidden}, TensorType::INT16);
    m.scale(x, {kX}, {5}).scale(in[18], {kH}, {-1}).scale(in[19], {kC}).scale(y, {kH}, {-1});
    tfl::UnidirectionalSequenceLSTMOptionsT options;
    options.activation = Activation::TANH;
    options.time_major = true;
    m.op(BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, in, {y}, options);
    m.output(y);
    return m;
  };
  std::vector<std::int8_t> x, h{-1, 20, -100, 5, 90, -1};
  Rng rng(3);
  for (int i = 0; i < kSteps * kBatch * kInputs; ++i) x.push_back(static_cast<std::int8_t>(static_cast<int>(rng.below(256)) - 128));
  std::vector<std::int16_t> c{100, -3000, 5000, 0, 2047, -1};
  std::vector<Tensor> inputs{Tensor({kSteps, kBatch, kInputs}, x), Tensor({kBatch, kHidden}, h), Tensor({kBatch, kHidden}, c)};
  auto exact = run_all(model(), inputs);
  set_option("arithmetic", "real");
  auto real = run_all(model(), inputs);
  EXPECT_EQ(exact.at("c.next").dtype(), DType::i16);
  EXPECT_EQ(real.at("c.next").dtype(), DType::i16);
  expect_near(exact.at("y").to_f32(), real.at("y").to_f32(), 1.01);
  expect_near(exact.at("h.next").to_f32(), real.at("h.next").to_f32(), 1.01);
  expect_near(exact.at("c.next").to_f32(), real.at("c.next").to_f32(), 8.01);
}

class TfliteSvdf : public Tflite {
 protected:
  static constexpr int kFilters = 4, kRank = 2, kMemory = 3;
};

TEST_F(TfliteSvdf, RealNumbersOverThreeRuns) {
  Tensor features = pattern({kFilters, kInputs}, 0.2f), time = pattern({kFilters, kMemory}, 0.8f), bias = pattern({kFilters / kRank}, 0.5f);
  TfliteModel m;
  int x = m.input("x", {kBatch, kInputs}), y = m.tensor("y", {kBatch, kFilters / kRank});
  int f = m.constant("f", {kFilters, kInputs}, features.to_f32()), t = m.constant("t", {kFilters, kMemory}, time.to_f32());
  int b = m.constant("b", {kFilters / kRank}, bias.to_f32()), s = m.variable("s", {kBatch, kFilters * kMemory});
  tfl::SVDFOptionsT options;
  options.rank = kRank;
  options.activation = Activation::RELU;
  m.op(BuiltinOperator::SVDF, {x, f, t, b, s}, {y}, options);
  m.output(y);
  std::vector<Numbers> runs;
  Tensor state = *Tensor::zeros(DType::f32, {kBatch, kFilters * kMemory});
  for (int run = 0; run < 3; ++run) {
    Tensor in = pattern({kBatch, kInputs}, static_cast<float>(run));
    runs.push_back(numbers(in));
    auto out = run_all(m, {in, state});
    state = out.at("s.next");
    // What a filter makes of the inputs of the last runs, the newest one last.
    std::vector<float> expected;
    for (int sample = 0; sample < kBatch; ++sample)
      for (int unit = 0; unit < kFilters / kRank; ++unit) {
        double sum = numbers(bias)[static_cast<std::size_t>(unit)];
        for (int filter = unit * kRank; filter < (unit + 1) * kRank; ++filter)
          for (int past = 0; past <= run; ++past) {
            const Numbers& all = runs[static_cast<std::size_t>(run - past)];
            Numbers row(all.begin() + sample * kInputs, all.begin() + (sample + 1) * kInputs);
            sum += dot(numbers(features), static_cast<std::size_t>(filter), row) *
                   numbers(time)[static_cast<std::size_t>(filter * kMemory + kMemory - 1 - past)];
          }
        expected.push_back(static_cast<float>(std::max(0.0, sum)));
      }
    expect_near(out.at("y").to_f32(), expected);
  }
}

TEST_F(TfliteSvdf, IntegersWithTheReferencesRounding) {
  constexpr float kX = 0.05f, kF = 0.01f, kT = 0.0004f, kS = 0.0007f, kY = 0.02f;
  TfliteModel m;
  Rng rng(11);
  auto bytes = [&](int count) {
    std::vector<std::uint8_t> out;
    for (int i = 0; i < count; ++i) out.push_back(static_cast<std::uint8_t>(rng.below(255) + 129));
    return out;
  };
  auto wide = [&](int count) {
    std::vector<std::int16_t> out;
    for (int i = 0; i < count; ++i) out.push_back(static_cast<std::int16_t>(static_cast<int>(rng.below(65536)) - 32768));
    return out;
  };
  auto feature_bytes = bytes(kFilters * kInputs);
  auto time = wide(kFilters * kMemory), before = wide(kBatch * kFilters * kMemory);
  std::vector<std::uint8_t> time_bytes(time.size() * 2);
  std::memcpy(time_bytes.data(), time.data(), time_bytes.size());
  int x = m.input("x", {kBatch, kInputs}, TensorType::INT8), y = m.tensor("y", {kBatch, kFilters / kRank}, TensorType::INT8);
  int f = m.bytes_constant("f", {kFilters, kInputs}, TensorType::INT8, feature_bytes);
  int t = m.bytes_constant("t", {kFilters, kMemory}, TensorType::INT16, time_bytes);
  int b = m.constant("b", {kFilters / kRank}, std::vector<std::int32_t>{100000, -2500});
  int s = m.variable("s", {kBatch, kFilters * kMemory}, TensorType::INT16);
  m.scale(x, {kX}, {3}).scale(f, {kF}).scale(t, {kT}).scale(b, {kT * kS}).scale(s, {kS}).scale(y, {kY}, {-128});
  tfl::SVDFOptionsT options;
  options.rank = kRank;
  m.op(BuiltinOperator::SVDF, {x, f, t, b, s}, {y}, options);
  m.output(y);
  std::vector<std::int8_t> in;
  for (int i = 0; i < kBatch * kInputs; ++i) in.push_back(static_cast<std::int8_t>(static_cast<int>(rng.below(256)) - 128));
  auto out = run_all(m, {Tensor({kBatch, kInputs}, in), Tensor({kBatch, kFilters * kMemory}, before)});
  std::vector<float> expected_y, expected_s;
  for (int sample = 0; sample < kBatch; ++sample)
    for (int unit = 0; unit < kFilters / kRank; ++unit) {
      std::int32_t sum = unit == 0 ? 100000 : -2500;
      for (int filter = unit * kRank; filter < (unit + 1) * kRank; ++filter) {
        std::int32_t product = 0;
        for (int i = 0; i < kInputs; ++i)
          product += (in[static_cast<std::size_t>(sample * kInputs + i)] - 3) *
                     static_cast<std::int8_t>(feature_bytes[static_cast<std::size_t>(filter * kInputs + i)]);
        std::int32_t newest = clipped_16(reference_scaled(product, static_cast<double>(kX * kF / kS)));
        for (int i = 0; i < kMemory; ++i) {
          auto at = static_cast<std::size_t>((sample * kFilters + filter) * kMemory + i);
          std::int32_t number = i + 1 < kMemory ? before[at + 1] : newest;
          expected_s.push_back(static_cast<float>(number));
          sum += number * time[static_cast<std::size_t>(filter * kMemory + i)];
        }
      }
      expected_y.push_back(static_cast<float>(std::clamp(reference_scaled(sum, static_cast<double>(kS * kT / kY)) - 128, -128, 127)));
    }
  EXPECT_EQ(out.at("y").to_f32(), expected_y);
  EXPECT_EQ(out.at("s.next").to_f32(), expected_s);
}

}  // namespace
}  // namespace buda::test
