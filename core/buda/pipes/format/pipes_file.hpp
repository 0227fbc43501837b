// SPDX-License-Identifier: Apache-2.0
// Pipes files: the compact form of pipes, JSON (docs/formats/pipes.md). The same keys as in pipegen files, but what the buffers of an
// operand or the pipes to it have in common is said once, and lists of blocks are runs.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/node.hpp>
#include <buda/pipes/format/pipegen_file.hpp>

#include <string>
#include <string_view>

namespace buda::pipes {

inline constexpr std::string_view kPipesFormat = "buda.pipes/1";

// Strict, and with the promises of parse_pipegen. Lists and names of a file come to at most 2^26 numbers and characters. PG codes, and
// those of JSON and schemas.
Result<PlacedGraph> parse_pipes(std::string_view text, const std::string& file);

// Either form: JSON begins with '{'.
Result<PlacedGraph> parse_pipe_graph(std::string_view text, const std::string& file);

// One kind, buffer or pipe per line, piece by piece. The text depends on the graph only; reading it gives the graph back.
Result<void> write_pipes(const PipeGraph& graph, io::OutputFile& out);
std::string pipes_text(const PipeGraph& graph);

// JSON Schema (draft 7).
io::Node pipes_schema();

}  // namespace buda::pipes
