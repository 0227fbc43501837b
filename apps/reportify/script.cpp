// SPDX-License-Identifier: Apache-2.0
// Values as scripts.
#include "apps/reportify/script.hpp"

#include <buda/base/text.hpp>
#include <buda/serve/service.hpp>

namespace buda::reportify {

io::Node facts_node(const Facts& facts) {
  io::Node out = io::Node::list();
  for (const auto& [name, value] : facts) out.push(io::Node::list({io::Node::string(name), io::Node::string(value)}));
  return out;
}

std::string data_script(std::string_view id, const io::Node& data) {
  return cat("reportify.receive(", serve::script_value(io::Node::string(std::string(id))), ", ", serve::script_value(data), ");\n");
}

}  // namespace buda::reportify
