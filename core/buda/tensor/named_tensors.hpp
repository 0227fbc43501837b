// SPDX-License-Identifier: Apache-2.0
// Tensors by name: what a model takes and gives, and what a tensor file holds.
#pragma once

#include <buda/tensor/fwd.hpp>

#include <initializer_list>
#include <map>
#include <string>

#pragma GCC visibility push(default)

namespace buda {

// Ordered by name, so that whatever is made from it is deterministic. A map, of which what everyone needs who hands tensors on is compiled
// once; who looks at an element includes tensor.hpp.
class NamedTensors : public std::map<std::string, Tensor> {
 public:
  NamedTensors();
  NamedTensors(std::initializer_list<value_type> tensors);  // of entries with one name the first holds
  NamedTensors(const NamedTensors&);
  NamedTensors(NamedTensors&&) noexcept;
  NamedTensors& operator=(const NamedTensors&);
  NamedTensors& operator=(NamedTensors&&) noexcept;
  ~NamedTensors();

  iterator find(const std::string& name);
  const_iterator find(const std::string& name) const;
  bool contains(const std::string& name) const;
  // Throws std::out_of_range when there is none.
  Tensor& at(const std::string& name);
  const Tensor& at(const std::string& name) const;
  Tensor& operator[](const std::string& name);
};

}  // namespace buda

#pragma GCC visibility pop
