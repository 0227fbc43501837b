// SPDX-License-Identifier: Apache-2.0
// Subsets of the restrictions that hold, by their size.
#include <buda/balance/legalize/restrictions.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace buda::balance {
namespace {

struct Restriction {
  std::string_view lifted;  // the option
  bool ModelOptions::*member;
  bool free;  // the member's value without the restriction
};

constexpr std::array<Restriction, 4> kRestrictions = {
    {{"--enumerate-u-kt=true", &ModelOptions::all_steps, true},
     {"--place-on-one-row=false", &ModelOptions::one_row, false},
     {"--single-buffer-fallback=true", &ModelOptions::single_buffer_fallback, true},
     {"--t-streaming=true --manual-t-streaming=false", &ModelOptions::t_streaming, true}}};

}  // namespace

std::vector<Relaxed> relaxed(const ModelOptions& options) {
  std::vector<Restriction> held;
  for (const Restriction& r : kRestrictions)
    if (options.*r.member != r.free) held.push_back(r);
  std::vector<std::uint32_t> subsets;
  for (std::uint32_t subset = 1; subset < 1U << held.size(); ++subset) subsets.push_back(subset);
  std::stable_sort(subsets.begin(), subsets.end(), [](auto a, auto b) { return std::popcount(a) < std::popcount(b); });
  std::vector<Relaxed> out;
  for (const std::uint32_t subset : subsets) {
    Relaxed way{options, {}};
    for (std::size_t i = 0; i < held.size(); ++i) {
      if ((subset >> i & 1) == 0) continue;
      way.options.*held[i].member = held[i].free;
      if (!way.text.empty()) way.text += ' ';
      way.text += held[i].lifted;
    }
    out.push_back(std::move(way));
  }
  return out;
}

}  // namespace buda::balance
