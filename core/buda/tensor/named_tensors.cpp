// SPDX-License-Identifier: Apache-2.0
// The map of tensors, compiled once.
#include <buda/tensor/named_tensors.hpp>

#include <buda/tensor/tensor.hpp>

namespace buda {

NamedTensors::NamedTensors() = default;
NamedTensors::NamedTensors(std::initializer_list<value_type> tensors) : map(tensors) {}
NamedTensors::NamedTensors(const NamedTensors&) = default;
NamedTensors::NamedTensors(NamedTensors&&) noexcept = default;
NamedTensors& NamedTensors::operator=(const NamedTensors&) = default;
NamedTensors& NamedTensors::operator=(NamedTensors&&) noexcept = default;
NamedTensors::~NamedTensors() = default;

NamedTensors::iterator NamedTensors::find(const std::string& name) { return map::find(name); }
NamedTensors::const_iterator NamedTensors::find(const std::string& name) const { return map::find(name); }
bool NamedTensors::contains(const std::string& name) const { return map::contains(name); }
Tensor& NamedTensors::at(const std::string& name) { return map::at(name); }
const Tensor& NamedTensors::at(const std::string& name) const { return map::at(name); }
Tensor& NamedTensors::operator[](const std::string& name) { return map::operator[](name); }

}  // namespace buda
