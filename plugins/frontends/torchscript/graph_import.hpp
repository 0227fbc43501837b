// SPDX-License-Identifier: Apache-2.0
// From an archive to a graph.
#pragma once

#include "archive.hpp"

#include <buda/graph/graph.hpp>
#include <buda/plugin/model_source.hpp>

#include <string>

namespace buda::torchscript {

// `method` is the one of the model that is imported: "forward". Every operator that cannot be read is reported, but not those that merely
// depend on it.
Result<graph::Graph> import_graph(const Archive& archive, const std::string& name, const std::string& method,
                                  const plugin::ImportOptions& options);

}  // namespace buda::torchscript
