// SPDX-License-Identifier: Apache-2.0
// The content of a parameter or constant, and the first value of a state (loopback.hpp).
#pragma once

#include <buda/tensor/files/raw_file.hpp>
#include <buda/tensor/tensor.hpp>

#include <optional>
#include <string>
#include <utility>

#pragma GCC visibility push(default)

namespace buda::graph {

// Where the bytes of a tensor lie: the file as the file system knows it, and the tensor's name in it, or its place where the file is no
// tensor file.
struct TensorSource {
  std::string path;
  std::string name;
  std::optional<RawPlace> raw = {};
  friend bool operator==(const TensorSource&, const TensorSource&) = default;
};

// A value with a source is one that a file holds already, and a graph file refers there instead of writing it again; the source's tensor
// has the same bytes and type, perhaps under another shape. A changed tensor is a new Value.
struct Value {
  Tensor tensor;
  std::optional<TensorSource> source;

  Value() = default;
  Value(Tensor t) : tensor(std::move(t)) {}  // NOLINT: a tensor made by the program has no source
  Value(Tensor t, TensorSource s) : tensor(std::move(t)), source(std::move(s)) {}
};

}  // namespace buda::graph

#pragma GCC visibility pop
