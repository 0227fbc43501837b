// SPDX-License-Identifier: Apache-2.0
// Values and the files that they come from.
#include <buda/graph/file/refer.hpp>

#include <buda/graph/graph.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/io/file_system.hpp>

#include <functional>

namespace buda::graph {

void refer_to_file(Graph& graph, const io::Bytes& file, const std::string& path) {
  if (path == io::kStdStream) return;
  const char *begin = file.data(), *end = begin + file.size();
  const std::less_equal<const char*> not_after;
  for (NodeId id : graph.ids()) {
    auto& value = graph.node(id).value;
    if (!value || value->source) continue;
    const std::string_view bytes = value->tensor.memory();
    if (bytes.empty() || !not_after(begin, bytes.data()) || !not_after(bytes.data() + bytes.size(), end)) continue;
    value->source = TensorSource{path, "", RawPlace{bytes.data() - begin, static_cast<std::int64_t>(file.size()), value->tensor.is_text()}};
  }
}

void forget_files(Graph& graph) {
  for (NodeId id : graph.ids())
    if (auto& value = graph.node(id).value) value->source.reset();
}

}  // namespace buda::graph
