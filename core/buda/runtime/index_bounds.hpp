// Inputs of a model that are numbers of rows of a table, and how many rows it has.
#pragma once

#include <buda/runtime/model.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace buda::runtime {

// By name of the input: below what its elements must be, since graphs of the host gather by them, or embeddings of the device look rows up.
// The smallest where there are several. Followed through ops that only move elements or change their type.
std::map<std::string, std::int64_t> index_bounds(const Model& model);

}  // namespace buda::runtime
