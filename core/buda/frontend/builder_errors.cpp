// SPDX-License-Identifier: Apache-2.0
// Takes the node's name off the messages of a builder.
#include <buda/frontend/builder_errors.hpp>

#include <buda/base/text.hpp>

#include <string>
#include <utility>

namespace buda::frontend {

std::vector<Diagnostic> new_errors(const ops::Builder& builder, std::size_t& seen) {
  std::vector<Diagnostic> out;
  const auto status = builder.status();
  if (status) return out;
  const auto& all = status.failure().diagnostics();
  for (; seen < all.size(); ++seen) {
    Diagnostic d = all[seen];
    if (const std::string said = cat("node '", d.node, "': "); d.message.starts_with(said)) d.message.erase(0, said.size());
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace buda::frontend
