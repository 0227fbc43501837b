// SPDX-License-Identifier: Apache-2.0
// Values that need not be written because a file of the model holds them.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/io/bytes.hpp>

#include <string>

#pragma GCC visibility push(default)

namespace buda::graph {

// Every value of the graph whose memory is a part of `file` (the content of the file at `path`, as it was mapped) gets its place there for
// a source, so that a graph file refers to it. Others, and those that have a source already, stay as they are. For frontends.
void refer_to_file(Graph& graph, const io::Bytes& file, const std::string& path);

// The opposite: all values are to be written, whatever file holds them.
void forget_files(Graph& graph);

}  // namespace buda::graph

#pragma GCC visibility pop
