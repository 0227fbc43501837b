// SPDX-License-Identifier: Apache-2.0
// Verdicts by queue.
#include "apps/runner/net_test.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/check/compare.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::runner {
namespace {

using runtime::ComparisonConfig;
using runtime::TileRange;

// Numbers outside of the ranges become zeros on both sides.
Tensor masked(const Tensor& tensor, const netlist::Queue& queue, const ComparisonConfig& config) {
  if (!config.rows && !config.cols) return tensor;
  std::vector<float> numbers = tensor.to_f32();
  const auto cols = static_cast<std::size_t>(tensor.shape()[3]), h = static_cast<std::size_t>(queue.tile_dim.rows),
             w = static_cast<std::size_t>(queue.tile_dim.cols);
  auto outside = [](const std::optional<TileRange>& range, std::size_t place) {
    const auto p = static_cast<std::int32_t>(place) + 1;
    return range && (p < range->first || p > range->second);
  };
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (outside(config.rows, i / cols % h) || outside(config.cols, i % cols % w)) numbers[i] = 0;
  return Tensor(tensor.shape(), std::move(numbers));
}

CompareThresholds thresholds(const ComparisonConfig* config, DType type) {
  CompareThresholds out;
  if (config == nullptr && !is_float(type)) {
    out.all_equal = true;
  } else if (config == nullptr) {
    out.min_correlation = 0.99;
  } else if (config->kind == ComparisonConfig::Kind::exact) {
    out.max_abs_error = 0;
  } else {
    out.min_close_fraction = config->close_fraction;
    out.min_correlation = config->correlation;
  }
  return out;
}

}  // namespace

Result<void> compare_with_reference(const netlist::Netlist& netlist, const runtime::TestConfig& config, const NamedTensors& outputs,
                                    const NamedTensors& reference, Host& host) {
  Failure failure;
  for (const auto& [name, want] : reference) {
    if (!config.outputs.empty() && std::find(config.outputs.begin(), config.outputs.end(), name) == config.outputs.end()) continue;
    const auto queue = std::find_if(netlist.queues.begin(), netlist.queues.end(), [&n = name](const auto& q) { return q.name == n; });
    const auto output = outputs.find(name);
    if (output == outputs.end()) return internal_error("the reference has another output");
    const ComparisonConfig* rules = config.comparison.find(name);
    CompareOptions options;
    if (rules != nullptr) {
      options.rtol = rules->rtol;
      options.atol = rules->atol;
    }
    const ComparisonConfig none;
    const ComparisonConfig& ranges = rules != nullptr ? *rules : none;
    const bool whole = queue == netlist.queues.end();  // an output of a model
    BUDA_ASSIGN(auto comparison, whole ? compare(want, output->second, options)
                                       : compare(masked(want, *queue, ranges), masked(output->second, *queue, ranges), options));
    const bool constant = comparison.correlation.state != Correlation::State::defined;
    CompareThresholds limits = thresholds(rules, want.dtype());
    // Where one side does not vary, there is nothing to correlate; closeness has to do.
    if (constant && limits.min_correlation) {
      limits.min_correlation.reset();
      if (!limits.min_close_fraction) limits.min_close_fraction = 1.0;
    }
    auto verdict = judge(comparison, limits, name);
    host.log(0, cat(name, ": ", comparison.count, " elements, correlation ",
                    constant ? std::string("(constant)") : to_text(comparison.correlation.value), ", close ", comparison.close_fraction(),
                    ", max error ", comparison.max_abs_error, verdict ? "" : ": different"));
    if (!verdict) failure.add(std::move(verdict).failure());
  }
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::runner
