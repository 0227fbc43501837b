// SPDX-License-Identifier: Apache-2.0
// Netlists are the same where their texts are.
#include "apps/reportify/current.hpp"

#include <buda/base/text.hpp>
#include <buda/io/sha256.hpp>

namespace buda::reportify {

Result<void> require_current(const Module& module, const std::string& results, const std::string& netlist_digest, io::FileSystem& fs) {
  if (netlist_digest.empty() || module.netlist.empty()) return success();
  BUDA_ASSIGN(const auto text, fs.read(module.netlist));
  if (io::sha256_hex(text.view()) == netlist_digest) return success();
  Diagnostic d = input_error("RY004", {results}, cat("is of another compilation than ", module.netlist, ", so it is not shown with it"));
  d.hint = "run the image of this compilation with the same options";
  return d;
}

}  // namespace buda::reportify
