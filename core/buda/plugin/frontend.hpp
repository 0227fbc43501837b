// SPDX-License-Identifier: Apache-2.0
// Frontends: readers of model files.
//
// To write one, derive Frontend and register it in a plugin (docs/plugins/frontend.md). The graph that comes out is at tensor level, uses
// the operators of <buda/ops/table/registry.hpp>, and names for every node where it came from. The plugin includes <buda/graph/graph.hpp>,
// and <buda/tensor/tensor.hpp> where it looks at values.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/host.hpp>
#include <buda/plugin/model_source.hpp>

#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::plugin {

// An operator of a framework that a frontend reads, and what is to be said of it.
struct ReadOperator {
  std::string name;
  std::string notes;
};

class Frontend {
 public:
  virtual ~Frontend() = default;

  // How sure the frontend is that it can read a file, from its first bytes (at most 4096) and its name: 0 not at all, 100 by a
  // magic number. The importer asks every frontend and takes the surest.
  virtual int recognizes(std::string_view head, const std::string& file_name) const {
    static_cast<void>(head);
    static_cast<void>(file_name);
    return 0;
  }

  // The operators that are read, sorted by name, for lists of them.
  virtual std::vector<ReadOperator> operators() const { return {}; }

  // The model as a graph, or every reason why not: node, op type, version and what is missing.
  virtual Result<graph::Graph> import(const ModelSource& source, const ImportOptions& options, Host& host) = 0;
};

}  // namespace buda::plugin

#pragma GCC visibility pop
