// SPDX-License-Identifier: Apache-2.0
// From a model to a graph.
#pragma once

#include "model.hpp"

#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>

#include <map>
#include <string>

namespace buda::tensorflow_frontend {

struct Imported {
  graph::Graph graph;
  std::map<std::string, io::Bytes> files;  // of the checkpoint, by path
};

// Every node that cannot be imported is reported, but not those that merely depend on it.
Result<Imported> import_graph(const Model& model, const std::string& name, Host& host);

}  // namespace buda::tensorflow_frontend
