// SPDX-License-Identifier: Apache-2.0
// What is compiled, from Python or from a file.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/plugin/model_source.hpp>

#include <string>

namespace buda {
class Host;
}

namespace buda::python {

// The text of a graph that was made in Python; without one, the file `model`.
Result<plugin::ModelSource> model_source(const graph::Graph* made, const std::string& model, Host& host);

}  // namespace buda::python
