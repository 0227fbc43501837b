// SPDX-License-Identifier: Apache-2.0
// Finds runs.
#include <buda/pipes/format/number_runs.hpp>

#include <utility>

namespace buda::pipes {
namespace {

using Item = NumberRuns::Item;

constexpr std::size_t kLongestPeriod = 16;
constexpr std::size_t kShortestRun = 3;  // of numbers; two runs are worth being one

struct Found {
  std::size_t period = 1, count = 1;
  std::uint64_t step = 0;
  std::size_t length() const { return period * count; }
};

// The run with which `rest` begins that covers most of it, or one item by itself.
Found first_run(std::span<const Item> rest) {
  Found best;
  for (std::size_t period = 1; period <= kLongestPeriod && 2 * period <= rest.size(); ++period) {
    const std::uint64_t step = rest[period].first - rest[0].first;
    auto continues = [&](std::size_t i) {
      return rest[i + period].shape == rest[i].shape && rest[i + period].first - rest[i].first == step;
    };
    std::size_t same = 0;
    while (same + period < rest.size() && continues(same)) ++same;
    const Found run{period, same / period + 1, step};
    const bool is_long = run.length() >= kShortestRun || rest[0].shape != NumberRuns::kNumber;
    if (run.count >= 2 && is_long && run.length() > best.length()) best = run;
  }
  return best;
}

}  // namespace

NumberRuns::NumberRuns(std::span<const std::uint64_t> numbers) : shapes_{nullptr} {
  items_.reserve(numbers.size());
  for (std::uint64_t n : numbers) items_.push_back({n, kNumber});
  while (find_runs()) {
  }
}

// True when there were any. Each takes the place of at least two items, so this ends.
bool NumberRuns::find_runs() {
  std::vector<Item> out;
  for (std::span<const Item> rest(items_); !rest.empty();) {
    const Found run = first_run(rest);
    const std::uint64_t first = rest.front().first;
    if (run.count == 1) {
      out.push_back(rest.front());
    } else {
      Shape shape{{rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(run.period)}, run.count, static_cast<std::int64_t>(run.step)};
      for (Item& part : shape.parts) part.first -= first;
      auto [at, fresh] = numbers_.emplace(std::move(shape), shapes_.size());
      if (fresh) shapes_.push_back(&at->first);
      out.push_back({first, at->second});
    }
    rest = rest.subspan(run.length());
  }
  const bool any = out.size() < items_.size();
  items_ = std::move(out);
  return any;
}

}  // namespace buda::pipes
