// SPDX-License-Identifier: Apache-2.0
// What a frontend is given: a model's file, and what the user says of its inputs.
#pragma once

#include <buda/io/bytes.hpp>
#include <buda/tensor/dtype.hpp>
#include <buda/tensor/named_tensors.hpp>
#include <buda/tensor/shape.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace buda::plugin {

// A model file as it was found. `path` serves messages and to find files that belong to the model; it may be "-".
struct ModelSource {
  std::string path;
  io::Bytes bytes;
};

// What an input has: its shape, and its element type where the user names one.
struct InputShape {
  Shape shape;
  std::optional<DType> dtype = {};
};

struct ImportOptions {
  std::string name;                          // of the graph; empty: the file's name without its endings
  std::map<std::string, std::int64_t> dims;  // values of symbolic dimensions, from --dim batch=4
  // Inputs whose values are fixed now, from --value NAME=FILE: the graph keeps such an input, but computes with this value. For models that
  // take as an input what decides about shapes.
  NamedTensors values = {};
  // Shapes of inputs, from --input-shape NAME=1,3,224,224. A model that states shapes may leave sizes open there; one that states none
  // needs them.
  std::map<std::string, InputShape> input_shapes = {};
  // Of a model in training mode: what is random or depends on whether a step learns becomes inputs (frontend/training_mode.hpp). Otherwise
  // such operators are refused.
  bool training = false;
};

}  // namespace buda::plugin

#pragma GCC visibility pop
