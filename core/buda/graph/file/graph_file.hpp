// SPDX-License-Identifier: Apache-2.0
// The graph file, format buda.graph/1: JSON with one node per line, and tensors in safetensors files beside it (docs/formats/graph.md).
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/file_system.hpp>
#include <buda/io/node.hpp>

#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::graph {

// Reads a graph, checks that it is well formed (verify.hpp) and remembers for every node its line. Tensor files are found relative to the
// graph file's folder and shared with the file system's mapping. Path "-" is standard input; tensor files are then relative to the
// working directory. Types may be left out in a file written by hand; ops::infer_types() fills them in.
Result<Graph> read_graph(io::FileSystem& fs, const std::string& path);

// The same for text at hand; `path` is used in messages and to find tensor files.
Result<Graph> parse_graph(io::FileSystem& fs, std::string_view text, const std::string& path);

// Writes a graph. Tensors without a source go into the safetensors file beside it (m.json: m.safetensors), which is complete before the
// graph file appears; the others are referred to where they are, by a path relative to the graph file. To "-" everything is written
// into the text. Same graph, same bytes; the folder does not matter as long as tensor files lie in the same relation to it.
Result<void> write_graph(io::FileSystem& fs, const Graph& graph, const std::string& path, io::WriteMode mode = io::WriteMode::always);

// The text of a graph file that needs no other file: tensors stand in it as base64.
std::string graph_text(const Graph& graph);

// Where write_graph puts new tensors: "out/m.graph.json" gives "out/m.graph.safetensors". Of a name that is not UTF-8 every byte that is
// not ASCII becomes "_".
std::string tensor_file_for(const std::string& graph_path);

// JSON Schema of the format.
io::Node graph_file_schema();

}  // namespace buda::graph

#pragma GCC visibility pop
