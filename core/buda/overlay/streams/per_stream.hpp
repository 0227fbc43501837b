// SPDX-License-Identifier: Apache-2.0
// A value for each stream of an epoch. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace buda::overlay {

// Cores are numbered as in CoreMap::cores(). Access is O(log streams of the core).
template <class T>
class PerStream {
 public:
  using OfCore = std::map<std::int32_t, T>;  // by number of the stream

  explicit PerStream(std::size_t cores) : cores_(cores) {}

  std::size_t cores() const { return cores_.size(); }
  OfCore& of_core(std::size_t core) { return cores_[core]; }
  const OfCore& of_core(std::size_t core) const { return cores_[core]; }
  bool contains(StreamRef r) const { return of_core(static_cast<std::size_t>(r.core)).contains(r.stream); }
  // The stream has a value.
  T& at(StreamRef r) { return of_core(static_cast<std::size_t>(r.core)).at(r.stream); }
  const T& at(StreamRef r) const { return of_core(static_cast<std::size_t>(r.core)).at(r.stream); }
  // A new value if there is none.
  T& operator[](StreamRef r) { return of_core(static_cast<std::size_t>(r.core))[r.stream]; }

 private:
  std::vector<OfCore> cores_;
};

}  // namespace buda::overlay
