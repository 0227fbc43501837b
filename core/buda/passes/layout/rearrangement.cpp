// SPDX-License-Identifier: Apache-2.0
// Factors of shapes, and the search for manipulations.
#include <buda/passes/layout/rearrangement.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <utility>

namespace buda::passes {

using graph::Tm;

Rearrangement::Rearrangement(const Shape& shape) : from_(shape), to_(shape) {
  for (std::int64_t size : shape) {
    if (size == 1) continue;
    before_.push_back(static_cast<int>(sizes_.size()));
    sizes_.push_back(size);
  }
  after_ = before_;
}

std::optional<Rearrangement::Groups> Rearrangement::cut(std::vector<int> Rearrangement::*list, const Shape& shape) {
  Groups groups;
  std::size_t at = 0;
  for (std::int64_t size : shape) {
    groups.emplace_back();
    for (std::int64_t left = size; left > 1; ++at) {
      if (at == (this->*list).size()) return std::nullopt;
      int factor = (this->*list)[at];
      std::int64_t& whole = sizes_[static_cast<std::size_t>(factor)];
      if (left % whole != 0) {
        if (whole % left != 0) return std::nullopt;
        // The axis takes the outer part; the inner part is a factor of its own.
        int inner = static_cast<int>(sizes_.size());
        std::int64_t rest = whole / left;
        whole = left;
        sizes_.push_back(rest);
        for (auto order : {&Rearrangement::before_, &Rearrangement::after_}) {
          auto& factors = this->*order;
          factors.insert(std::find(factors.begin(), factors.end(), factor) + 1, inner);
        }
      }
      left /= sizes_[static_cast<std::size_t>(factor)];
      groups.back().push_back(factor);
    }
  }
  if (at != (this->*list).size()) return std::nullopt;
  return groups;
}

bool Rearrangement::transpose(const std::vector<std::size_t>& permutation) {
  Rearrangement next = *this;
  auto groups = next.cut(&Rearrangement::after_, to_);
  if (!groups) return false;
  next.after_.clear();
  std::vector<std::int64_t> dims;
  for (std::size_t axis : permutation) {
    next.after_.insert(next.after_.end(), (*groups)[axis].begin(), (*groups)[axis].end());
    dims.push_back(to_[axis]);
  }
  next.to_ = Shape(std::move(dims));
  *this = std::move(next);
  return true;
}

bool Rearrangement::append(const Rearrangement& next) {
  Rearrangement both = *this;
  both.reshape(Shape(next.split()));
  std::vector<std::size_t> order;
  for (std::int64_t axis : next.order()) order.push_back(static_cast<std::size_t>(axis));
  if (!both.transpose(order)) return false;
  both.reshape(next.to_);
  *this = std::move(both);
  return true;
}

Rearrangement Rearrangement::inverse() const {
  Rearrangement back = *this;
  std::swap(back.from_, back.to_);
  std::swap(back.before_, back.after_);
  return back;
}

bool Rearrangement::moves_nothing() const { return before_ == after_; }

std::vector<std::int64_t> Rearrangement::split() const {
  std::vector<std::int64_t> out;
  for (int factor : before_) out.push_back(sizes_[static_cast<std::size_t>(factor)]);
  return out;
}

std::vector<std::int64_t> Rearrangement::order() const {
  std::vector<std::int64_t> out;
  for (int factor : after_) out.push_back(std::find(before_.begin(), before_.end(), factor) - before_.begin());
  return out;
}

std::vector<std::int64_t> Rearrangement::sources() const {
  const Shape dims(split());
  const std::vector<std::int64_t> steps = dims.strides();
  std::vector<std::int64_t> out{0};
  for (std::int64_t axis : order()) {
    const auto i = static_cast<std::size_t>(axis);
    std::vector<std::int64_t> next;
    next.reserve(out.size() * static_cast<std::size_t>(dims[i]));
    for (std::int64_t outer : out)
      for (std::int64_t k = 0; k < dims[i]; ++k) next.push_back(outer + k * steps[i]);
    out = std::move(next);
  }
  return out;
}

std::optional<Rearrangement::Places> Rearrangement::places(const Shape& from4, const Shape& to4) const {
  Rearrangement fine = *this;
  // Cutting the second list may split factors of the first, so both are cut until nothing changes.
  for (std::size_t factors = 0; factors != fine.sizes_.size();) {
    factors = fine.sizes_.size();
    if (!fine.cut(&Rearrangement::before_, from4) || !fine.cut(&Rearrangement::after_, to4)) return std::nullopt;
  }
  auto from = fine.cut(&Rearrangement::before_, from4), to = fine.cut(&Rearrangement::after_, to4);
  Places out;
  out.sizes = fine.sizes_;
  std::move(from->begin(), from->end(), out.from.begin());
  std::move(to->begin(), to->end(), out.to.begin());
  return out;
}

std::int64_t size_of(const std::vector<int>& factors, const std::vector<std::int64_t>& sizes) {
  std::int64_t n = 1;
  for (int f : factors) n *= sizes[static_cast<std::size_t>(f)];
  return n;
}

namespace {

constexpr std::size_t kMaxManipulations = 4;

// All that one manipulation can make of the axes. Transposes come last, so that among lists of one length slices and stacks come first:
// a transpose at the end of a list is what most ops take.
std::vector<std::pair<Tm, DeviceAxes>> steps(const DeviceAxes& at, const std::vector<std::int64_t>& sizes) {
  std::vector<std::pair<Tm, DeviceAxes>> out;
  for (std::size_t side : {std::size_t{1}, std::size_t{2}}) {
    const auto& list = at.lists[side];
    // The outer factors of rows (columns) go to the end of z.
    for (std::size_t k = 1; k <= list.size(); ++k) {
      std::vector<int> outer(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(k));
      std::vector<int> inner(list.begin() + static_cast<std::ptrdiff_t>(k), list.end());
      if (size_of(inner, sizes) % graph::kTileSide != 0) break;
      DeviceAxes next = at;
      next.lists[0].insert(next.lists[0].end(), outer.begin(), outer.end());
      next.lists[side] = inner;
      std::int64_t n = size_of(outer, sizes);
      out.emplace_back(side == 1 ? Tm::vslice(n) : Tm::hslice(n), std::move(next));
    }
    // The inner factors of z come before those of rows (columns).
    if (size_of(list, sizes) % graph::kTileSide != 0) continue;
    for (std::size_t k = 1; k <= at.z().size(); ++k) {
      std::vector<int> inner(at.z().end() - static_cast<std::ptrdiff_t>(k), at.z().end());
      DeviceAxes next = at;
      next.lists[0].resize(at.z().size() - k);
      next.lists[side].insert(next.lists[side].begin(), inner.begin(), inner.end());
      std::int64_t n = size_of(inner, sizes);
      out.emplace_back(side == 1 ? Tm::vstack(n) : Tm::hstack(n), std::move(next));
    }
  }
  DeviceAxes turned = at;
  std::swap(turned.lists[1], turned.lists[2]);
  out.emplace_back(Tm::transpose(), std::move(turned));
  return out;
}

}  // namespace

std::optional<std::vector<Tm>> manipulations(const DeviceAxes& from, const DeviceAxes& to, const std::vector<std::int64_t>& sizes) {
  std::map<DeviceAxes, std::vector<Tm>> found{{from, {}}};
  std::deque<DeviceAxes> pending{from};
  while (!pending.empty()) {
    DeviceAxes at = std::move(pending.front());
    pending.pop_front();
    std::vector<Tm> so_far = found.at(at);
    if (at == to) return so_far;
    if (so_far.size() == kMaxManipulations) continue;
    for (auto& [tm, next] : steps(at, sizes)) {
      auto [it, is_new] = found.try_emplace(next, so_far);
      if (!is_new) continue;
      it->second.push_back(tm);
      pending.push_back(next);
    }
  }
  return std::nullopt;
}

}  // namespace buda::passes
