// SPDX-License-Identifier: Apache-2.0
// Diagnostics about files between the stages, for somebody who gave a model.
#pragma once

#include <buda/diag/diagnostic.hpp>

#include <set>
#include <string>
#include <string_view>

namespace buda::cli {

// What the names of the driver's temporary folders begin with. They are deleted when it ends, also after an error.
inline constexpr std::string_view kTemporaryPrefix = "buda-";

// A diagnostic about one of the files that other tools made of `model`, or about a node without a place, names the model and the node; the
// place in the file becomes a note, unless the file is in a temporary folder of the driver, in `temporary_dir`. An error of the input is
// none of the model's then: it is something that is not supported yet.
Diagnostic about_model(Diagnostic d, const std::string& model, const std::set<std::string>& made, const std::string& temporary_dir);

}  // namespace buda::cli
