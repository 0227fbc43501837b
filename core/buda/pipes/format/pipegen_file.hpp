// SPDX-License-Identifier: Apache-2.0
// Pipegen files: the YAML that TT-Buda's net2pipe writes and its pipegen2 reads, one temporal epoch in each (docs/formats/pipegen.md).
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::pipes {

// The first line of our files, which is a comment for other readers. It may go on with the device for which the pipes were made.
inline constexpr std::string_view kPipegenHeader = "# buda.pipegen/1";
inline constexpr std::string_view kPipegenDevice = ", device ";

// Lines and columns count from 1.
struct FilePlace {
  std::uint32_t line = 0, column = 0;
};

// A graph, and the position of each of its buffers and pipes in the file.
struct PlacedGraph {
  PipeGraph graph;
  std::vector<FilePlace> buffers, pipes;
};

// Documents `graph_name: …`, `buffer_<id>: {…}`, `pipe_<id>: {…}`, in any order. The form in which net2pipe and we write (block maps, one
// line per key, lists in flow style) is read line by line in linear time; files up to 8 MiB may use all of YAML. Unknown keys are errors,
// but for `x-…`. What comes out is consistent: ids are unique, pipes refer to buffers that exist, counts are not negative, and what is
// scattered has blocks.
Result<PlacedGraph> parse_pipegen(std::string_view text, const std::string& file);

// Writes piece by piece. The text depends on the graph only.
Result<void> write_pipegen(const PipeGraph& graph, io::OutputFile& out);
std::string pipegen_text(const PipeGraph& graph);

}  // namespace buda::pipes
