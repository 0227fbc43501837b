// SPDX-License-Identifier: Apache-2.0
// Free parts, none of them empty.
#include <buda/movers/space.hpp>

#include <algorithm>
#include <iterator>

namespace buda::movers {
namespace {

constexpr std::uint64_t kAlignment = 32;
std::uint64_t up(std::uint64_t address) { return (address + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

FreeSpace::FreeSpace(std::uint64_t begin, std::uint64_t end) {
  if (up(begin) < end) parts_[up(begin)] = end;
}

void FreeSpace::take(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = up(address + bytes);
  auto part = parts_.upper_bound(address);
  if (part != parts_.begin()) --part;
  while (part != parts_.end() && part->first < end) {
    const auto [first, last] = *part;
    if (last <= address) {
      ++part;
      continue;
    }
    part = parts_.erase(part);
    if (first < address) parts_[first] = address;
    if (end < last) part = std::next(parts_.emplace(end, last).first);
  }
}

std::optional<std::uint64_t> FreeSpace::place(std::uint64_t bytes) {
  auto best = parts_.end();
  for (auto part = parts_.begin(); part != parts_.end(); ++part)
    if (part->second - part->first >= bytes && (best == parts_.end() || part->second - part->first < best->second - best->first))
      best = part;
  if (best == parts_.end()) return std::nullopt;
  const std::uint64_t at = best->first;
  take(at, bytes);
  return at;
}

std::uint64_t FreeSpace::bytes() const {
  std::uint64_t out = 0;
  for (const auto& [first, last] : parts_) out += last - first;
  return out;
}

}  // namespace buda::movers
