// SPDX-License-Identifier: Apache-2.0
// YAML out: what the parser reads back as the same value.
#include <buda/io/yaml.hpp>

#include <buda/base/text.hpp>

namespace buda::io {
namespace {

std::string scalar_text(const Node& node) {
  if (node.is_null()) return "null";
  return node.is_string() ? yaml_scalar(node.text()) : node.text();
}

// Keys are names; integers among them stay unquoted, as people write them.
std::string key_text(const std::string& key) { return parse_int(key) ? key : yaml_scalar(key); }

// YAML ends a plain `key:` after 1024 characters; longer ones are written `? key`.
bool is_long_key(const std::string& text) { return text.size() > 1000; }

void flow(const Node& node, std::string& out) {
  if (node.is_scalar()) {
    out += scalar_text(node);
    return;
  }
  out += node.is_list() ? '[' : '{';
  for (std::size_t i = 0; i < node.size(); ++i) {
    if (i > 0) out += ", ";
    if (node.is_map()) {
      std::string key = key_text(node.keys()[i]);
      out += is_long_key(key) ? cat("? ", key, " : ") : cat(key, ": ");
    }
    flow(node.items()[i], out);
  }
  out += node.is_list() ? ']' : '}';
}

// The flow form, if the value is to be written so: never a map that holds maps, nor anything too long to read.
bool fits_in_flow(const Node& node, std::size_t room, std::string& out) {
  if (node.is_map())
    for (const auto& item : node.items())
      if (item.is_map() && item.size() > 0) return false;
  flow(node, out);
  return node.is_scalar() || node.size() == 0 || out.size() <= room;
}

void block(const Node& node, std::size_t indent, std::size_t width, std::string& out) {
  for (std::size_t i = 0; i < node.size(); ++i) {
    const Node& item = node.items()[i];
    out.append(indent, ' ');
    std::string head = node.is_map() ? key_text(node.keys()[i]) + ":" : "-";
    if (node.is_map() && is_long_key(head)) {
      head.pop_back();
      out += cat("? ", head, '\n');
      out.append(indent, ' ');
      head = ":";
    }
    out += head;
    std::string line;
    std::size_t used = indent + head.size() + 1;
    if (fits_in_flow(item, used < width ? width - used : 0, line)) {
      out += cat(' ', line, '\n');
    } else {
      out += '\n';
      block(item, indent + 2, width, out);
    }
  }
}

}  // namespace

std::string yaml_flow(const Node& node) {
  std::string out;
  flow(node, out);
  return out;
}

std::string yaml_block(const Node& node, std::size_t indent, std::size_t width) {
  std::string out;
  if (node.is_scalar() || node.size() == 0) {
    out.assign(indent, ' ');
    flow(node, out);
    return out + '\n';
  }
  block(node, indent, width, out);
  return out;
}

}  // namespace buda::io
