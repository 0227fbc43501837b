// SPDX-License-Identifier: Apache-2.0
// Diagnostics about files between the stages, for somebody who gave a model.
#pragma once

#include <buda/diag/diagnostic.hpp>

#include <set>
#include <string>

namespace buda::cli {

// A diagnostic about one of the files that other tools made of `model`, or about a node without a place, names the model and the node; the
// place in the file becomes a note. An error of the input is none of the model's then: it is something that is not supported yet.
Diagnostic about_model(Diagnostic d, const std::string& model, const std::set<std::string>& made);

}  // namespace buda::cli
