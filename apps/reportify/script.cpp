// Values as scripts.
#include "apps/reportify/script.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

namespace buda::reportify {

io::Node facts_node(const Facts& facts) {
  io::Node out = io::Node::list();
  for (const auto& [name, value] : facts) out.push(io::Node::list({io::Node::string(name), io::Node::string(value)}));
  return out;
}

std::string data_script(std::string_view id, const io::Node& data) {
  const std::string json = io::json_line(data);
  std::string out = cat("reportify.receive(", io::json_line(io::Node::string(std::string(id))), ", ");
  out.reserve(out.size() + json.size() + 3);
  // Outside of strings JSON has no "<".
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out + ");\n";
}

}  // namespace buda::reportify
