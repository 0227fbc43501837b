// What a frontend is given: a model's file, and what the user says of its inputs.
#pragma once

#include <buda/io/bytes.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <map>
#include <string>

#pragma GCC visibility push(default)

namespace buda::plugin {

// A model file as it was found. `path` serves messages and to find files that belong to the model; it may be "-".
struct ModelSource {
  std::string path;
  io::Bytes bytes;
};

struct ImportOptions {
  std::string name;                          // of the graph; empty: the file's name without its endings
  std::map<std::string, std::int64_t> dims;  // values of symbolic dimensions, from --dim batch=4
  // Inputs whose values are fixed now, from --value NAME=FILE: the graph keeps such an input, but computes with this value. For models that
  // take as an input what decides about shapes.
  NamedTensors values = {};
};

}  // namespace buda::plugin

#pragma GCC visibility pop
