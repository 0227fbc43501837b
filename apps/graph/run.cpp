// SPDX-License-Identifier: Apache-2.0
// The commands of graph, apart from the counting.
#include "apps/graph/run.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/check/diff.hpp>
#include <buda/graph/drawing/dot.hpp>
#include <buda/graph/file/graph_file.hpp>
#include <buda/graph/parts/cut.hpp>
#include <buda/ops/whole_graph/infer.hpp>
#include <buda/passes/pipeline/listing.hpp>

namespace buda::graph_tool {

Result<graph::Graph> read_typed(const std::string& path, Host& host) {
  BUDA_ASSIGN(auto graph, graph::read_graph(host.fs(), path));
  BUDA_TRY(ops::infer_types(graph));
  return graph;
}

Result<void> print(const Options& o, Host& host) {
  BUDA_ASSIGN(auto graph, read_typed(o.graph, host));
  return host.fs().write(o.output, passes::listing(graph), host.write_mode);
}

Result<void> draw(const Options& o, Host& host) {
  BUDA_ASSIGN(auto graph, read_typed(o.graph, host));
  return host.fs().write(o.output, graph::dot_text(graph, o.full ? graph::Detail::full : graph::Detail::overview), host.write_mode);
}

Result<void> cut(const Options& o, Host& host) {
  BUDA_ASSIGN(auto graph, read_typed(o.graph, host));
  BUDA_ASSIGN(auto part, graph::cut(graph, o.from, o.to));
  host.log(1, cat(part.size(), " of ", graph.size(), " nodes"));
  return graph::write_graph(host.fs(), part, o.output, host.write_mode);
}

Result<void> diff(const Options& o, Host& host) {
  BUDA_ASSIGN(auto before, graph::read_graph(host.fs(), o.graph));
  BUDA_ASSIGN(auto after, graph::read_graph(host.fs(), o.other));
  auto lines = graph::diff(before, after);
  if (lines.empty()) return success();
  BUDA_TRY(host.fs().write(std::string(io::kStdStream), join(lines, "\n") + "\n"));
  Diagnostic d =
      input_error("GC010", {o.other}, cat(lines.size(), lines.size() == 1 ? " difference" : " differences", " to '", o.graph, "'"));
  d.fault = Fault::mismatch;
  return d;
}

}  // namespace buda::graph_tool
