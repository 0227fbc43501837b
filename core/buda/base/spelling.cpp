// SPDX-License-Identifier: Apache-2.0
// Edit distance for spelling hints: optimal string alignment, O(n*m) time, three rows of memory.
#include <buda/base/spelling.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda {
namespace {

// Longer words are not typing errors of anything; the bound keeps a hostile file from costing quadratic time.
constexpr std::size_t kLongestWord = 64;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  std::string lower = to_lower(word);
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const auto& candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    std::size_t distance = edit_distance(lower, to_lower(candidate));
    if (distance * 3 > std::max(word.size(), candidate.size())) continue;
    if (!best || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace buda
