// SPDX-License-Identifier: Apache-2.0
// Periods by the failure function of Knuth, Morris and Pratt ("Fast pattern matching in strings", 1977): every period that divides the
// length is a multiple of the shortest one that does.
#include <buda/pipes/build/period.hpp>

namespace buda::pipes {
namespace {

constexpr std::size_t kLeast = 32, kMost = 64;

std::size_t shortest_period(const std::vector<Id>& list) {
  std::vector<std::size_t> border(list.size(), 0);
  for (std::size_t i = 1; i < list.size(); ++i) {
    std::size_t k = border[i - 1];
    while (k > 0 && list[i] != list[k]) k = border[k - 1];
    border[i] = list[i] == list[k] ? k + 1 : 0;
  }
  std::size_t period = list.size() - border.back();
  return list.size() % period == 0 ? period : list.size();
}

}  // namespace

std::optional<std::size_t> list_period(const std::vector<Id>& list, std::int64_t block_tiles, std::int64_t clear_tiles) {
  std::size_t n = list.size();
  if (n <= kMost) return std::nullopt;
  std::size_t shortest = shortest_period(list);
  std::optional<std::size_t> small, chosen;
  for (std::size_t p = shortest; p <= n / 2 && !chosen; p += shortest) {
    if (n % p != 0) continue;
    if (clear_tiles > 0 && static_cast<std::int64_t>(p) * block_tiles % clear_tiles != 0) continue;
    if (p < kLeast) {
      small = p;
    } else {
      chosen = p;
    }
  }
  return chosen && (*chosen <= kMost || !small) ? chosen : small;
}

}  // namespace buda::pipes
