// SPDX-License-Identifier: Apache-2.0
// A series of graphs, of which each has most of its tensors in common with those before: the steps of a compilation.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/io/file_system.hpp>

#include <map>
#include <optional>
#include <string>

namespace buda::graph {

// Where the tensors lie that were written with earlier graphs of a series, by what they hold.
class TensorSeries {
 public:
  std::optional<TensorSource> find(const Tensor& tensor) const;
  void add(const Tensor& tensor, TensorSource source);

 private:
  std::map<std::string, TensorSource> sources_;  // by type and digest
};

// As write_graph; tensors that an earlier graph of the series has are referred to there.
Result<void> write_graph_of_series(io::FileSystem& fs, const Graph& graph, const std::string& path, TensorSeries& series,
                                   io::WriteMode mode = io::WriteMode::always);

}  // namespace buda::graph
