// SPDX-License-Identifier: Apache-2.0
// A perceptron with a softmax, as a compiler would write it: two layers with bias and ReLU, then exp(x - max) / sum with the sum made by a
// matmul with ones, the scale a reciprocal, looping over batches.
#include "netlist_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace buda::golden::test {
namespace {

constexpr int kBatches = 3, kBatch = 64, kIn = 64, kHidden = 96, kClasses = 10;

std::string mlp_text(const std::string& df, const std::string& acc, const std::string& fidelity) {
  auto q = [&](const std::string& name, const std::string& input, int rt, int ct, int entries, const std::string& type) {
    return queue(name, input, 1, rt, ct, df, entries, type);
  };
  std::string queues = q("x", "HOST", 2, 2, 2, "queue") + q("w1", "HOST", 2, 3, 1, "ram") + q("b1", "HOST", 1, 3, 1, "ram") +
                       q("w2", "HOST", 3, 1, 1, "ram") + q("b2", "HOST", 1, 1, 1, "ram") + q("mask", "HOST", 1, 1, 1, "ram") +
                       q("ones", "HOST", 1, 1, 1, "ram") + q("out", "softmax", 2, 1, 2, "queue");
  int row = 0;
  auto op = [&](const std::string& name, const std::string& type, const std::vector<std::string>& inputs, int rt, int ct,
                const std::string& attributes = "", const std::string& more = "") {
    OpText o{name, type, inputs, 1, rt, ct};
    o.in_df = o.out_df = df;
    o.acc_df = o.intermed_df = acc;
    o.fidelity = fidelity;
    o.attributes = attributes;
    o.more = more;
    o.row = row++;
    return o.text();
  };
  std::string ops =
      op("fc1", "matmul", {"x", "w1", "b1"}, 2, 3, "m_k: 2, u_kt: 1, bias: true, relu_en: true, relu_threshold: 0.0, relu_mode: min",
         ", input_2_tms: [broadcast: {r: 2}]") +
      op("fc2", "matmul", {"fc1", "w2", "b2"}, 2, 1, "m_k: 1, u_kt: 3, bias: true", ", input_2_tms: [broadcast: {r: 2}]") +
      op("masked", "add", {"fc2", "mask"}, 2, 1, "", ", input_1_tms: [broadcast: {r: 2}]") +
      op("most", "reduce", {"masked"}, 2, 1, "dim: c, type: max, m_k: 1, u_kt: 1") +
      op("spread", "matmul", {"most", "ones"}, 2, 1, "m_k: 1, u_kt: 1") +  // column 0 times a matrix whose row 0 is ones
      op("shifted", "subtract", {"masked", "spread"}, 2, 1) + op("e", "exp", {"shifted"}, 2, 1) +
      op("sum", "matmul", {"e", "all_ones"}, 2, 1, "m_k: 1, u_kt: 1") + op("scale", "reciprocal", {"sum"}, 2, 1) +
      op("softmax", "multiply", {"e", "scale"}, 2, 1);
  queues += q("all_ones", "HOST", 1, 1, 1, "ram");
  std::string rams;
  for (const char* r : {"w1", "b1", "w2", "b2", "mask", "ones", "all_ones"})
    rams += cat(", ", r, ": {prologue: true, epilogue: false, zero: false, rd_ptr_global: $c_zero, wr_ptr_global: $c_zero}");
  std::string program =
      cat("  - run_fwd:\n    - param: [$p_loop_count]\n    - var: {$c_one: 1, $c_zero: 0}\n    - staticvar: {$g: 0, $l: 0}\n    - loop: "
          "$p_loop_count\n"
          "    - execute: {graph_name: g, queue_settings: {x: {prologue: false, epilogue: false, zero: false, rd_ptr_local: $l, "
          "rd_ptr_global: $g}",
          rams, "}}\n    - varinst: [$g, incwrap, $c_one, 4]\n    - varinst: [$l, incwrap, $c_one, 4]\n    - endloop\n");
  return netlist_text(queues, ops, program);
}

// A matrix in the corner of a padded one.
Tensor padded(const std::vector<double>& m, int rows, int cols, int to_rows, int to_cols, double fill = 0) {
  std::vector<float> v(static_cast<std::size_t>(to_rows) * static_cast<std::size_t>(to_cols), static_cast<float>(fill));
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      v[static_cast<std::size_t>(r * to_cols + c)] = static_cast<float>(m[static_cast<std::size_t>(r * cols + c)]);
  return Tensor(Shape{1, 1, to_rows, to_cols}, std::move(v));
}

std::vector<double> random_numbers(int count, std::uint64_t seed, double scale) {
  Rng rng(seed);
  std::vector<double> v(static_cast<std::size_t>(count));
  for (double& x : v) x = static_cast<double>(static_cast<float>(rng.uniform(-scale, scale)));
  return v;
}

struct Perceptron {
  std::vector<double> w1 = random_numbers(kIn * kHidden, 1, 0.3), b1 = random_numbers(kHidden, 2, 0.3),
                      w2 = random_numbers(kHidden * kClasses, 3, 0.3), b2 = random_numbers(kClasses, 4, 0.3);

  std::vector<double> operator()(const std::vector<double>& x, int rows) const {
    std::vector<double> out;
    for (int r = 0; r < rows; ++r) {
      std::vector<double> hidden(b1), y(b2);
      for (int j = 0; j < kHidden; ++j) {
        for (int i = 0; i < kIn; ++i)
          hidden[static_cast<std::size_t>(j)] += x[static_cast<std::size_t>(r * kIn + i)] * w1[static_cast<std::size_t>(i * kHidden + j)];
        hidden[static_cast<std::size_t>(j)] = std::max(hidden[static_cast<std::size_t>(j)], 0.0);
      }
      double sum = 0;
      for (int j = 0; j < kClasses; ++j) {
        for (int i = 0; i < kHidden; ++i)
          y[static_cast<std::size_t>(j)] += hidden[static_cast<std::size_t>(i)] * w2[static_cast<std::size_t>(i * kClasses + j)];
        sum += std::exp(y[static_cast<std::size_t>(j)]);
      }
      for (double v : y) out.push_back(std::exp(v) / sum);
    }
    return out;
  }
};

struct Outcome {
  double worst = 0, correlation = 0;
};

Outcome run(const std::string& text, const functional::DeviceOptions& options, std::string* error, double hidden_class = -10000) {
  TestHost host;
  auto device = open_device(text, host, options);
  if (!device) {
    *error = first_error(device.failure());
    return {};
  }
  Perceptron model;
  std::vector<double> mask(32, hidden_class);
  std::fill_n(mask.begin(), kClasses, 0.0);
  auto write = [&](const char* name, const Tensor& t) {
    if (auto r = (*device)->write(name, 0, t); !r) *error = first_error(r.failure());
  };
  write("w1", padded(model.w1, kIn, kHidden, 64, 96));
  write("b1", padded(model.b1, 1, kHidden, 32, 96));
  write("w2", padded(model.w2, kHidden, kClasses, 96, 32));
  write("b2", padded(model.b2, 1, kClasses, 32, 32));
  std::vector<double> mask_rows;
  for (int i = 0; i < 32; ++i) mask_rows.insert(mask_rows.end(), mask.begin(), mask.end());
  write("mask", padded(mask_rows, 32, 32, 32, 32));
  write("ones", padded(std::vector<double>(32, 1.0), 1, 32, 32, 32));
  write("all_ones", padded(std::vector<double>(1024, 1.0), 32, 32, 32, 32));

  Outcome out;
  double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, n = 0;
  for (int b = 0; b < kBatches && error->empty(); ++b) {
    auto x = random_numbers(2 * kBatch * kIn, 10 + static_cast<std::uint64_t>(b), 1.0);
    std::vector<float> xf(x.begin(), x.end());
    if (auto r = (*device)->push("x", Tensor(Shape{2, 1, kBatch, kIn}, xf)); !r) *error = first_error(r.failure());
    if (auto r = (*device)->run("run_fwd", {{"$p_loop_count", 2}}); !r) *error = first_error(r.failure());
    auto y = (*device)->pop("out", 2);
    if (!y) {
      *error = first_error(y.failure());
      break;
    }
    auto want = model(x, 2 * kBatch);
    for (int r = 0; r < 2 * kBatch; ++r)
      for (int c = 0; c < kClasses; ++c) {
        double g = static_cast<double>(y->as<float>()[static_cast<std::size_t>(r * 32 + c)]),
               w = want[static_cast<std::size_t>(r * kClasses + c)];
        out.worst = std::max(out.worst, std::fabs(g - w));
        sx += g, sy += w, sxx += g * g, syy += w * w, sxy += g * w, n += 1;
      }
  }
  out.correlation = (n * sxy - sx * sy) / std::sqrt((n * sxx - sx * sx) * (n * syy - sy * sy));
  return out;
}

TEST(Mlp, Fp32ModeIsThePerceptron) {
  std::string error;
  auto out = run(mlp_text("Float16_b", "Float16_b", "HiFi3"), {arith::Mode::fp32, false}, &error);
  ASSERT_EQ(error, "");
  EXPECT_LT(out.worst, 1e-6);
}

TEST(Mlp, ExactModeIsNear) {
  struct Case {
    const char *df, *acc, *fidelity;
    double correlation;
    // What hides the columns that are no classes; in block floating point it shares their exponent and must not be large.
    double hidden_class = -10000;
  };
  for (const auto& c : {Case{"Float32", "Float32", "HiFi4", 0.99999}, Case{"Float16_b", "Float32", "HiFi3", 0.9999},
                        Case{"Float16_b", "Float16_b", "HiFi3", 0.999}, Case{"Float16", "Float16", "HiFi4", 0.9999},
                        Case{"Bfp8_b", "Float16_b", "LoFi", 0.95, -15}}) {
    std::string error;
    auto out = run(mlp_text(c.df, c.acc, c.fidelity), {arith::Mode::exact, false}, &error, c.hidden_class);
    ASSERT_EQ(error, "") << c.df;
    EXPECT_GT(out.correlation, c.correlation) << c.df << ' ' << c.acc << ' ' << c.fidelity;
    EXPECT_LT(out.correlation, 1.0) << "nothing was rounded";
  }
}

}  // namespace
}  // namespace buda::golden::test
