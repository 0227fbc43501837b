// SPDX-License-Identifier: Apache-2.0
// The parts of records that do not depend on a type: keys, headers, JSON Schema.
#include <buda/schema/record.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::schema {

std::string FormatId::text() const { return cat(name, '/', version); }

Result<void> check_header(const io::Node& top, const FormatId& format) {
  if (!top.is_map()) return io::node_error("SC001", top, cat("expected a file of format ", format.text(), ", found ", top.describe()));
  const io::Node* header = top.find("schema");
  if (header == nullptr)
    return io::node_error("SC006", top, cat("the key 'schema' is missing; a file of this kind begins with schema: ", format.text()));
  BUDA_ASSIGN(std::string text, header->as_string());
  if (text == format.text()) return success();
  if (text.starts_with(format.name + "/"))
    return io::node_error("SC007", *header, cat("this is version '", text, "'; this program reads ", format.text()));
  return io::node_error("SC006", *header, cat("this is a file of format '", text, "'; expected ", format.text()));
}

namespace detail {

void check_keys(const io::Node& node, const std::string& what, const std::vector<std::string>& known, Reader& reader) {
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::string& key = node.keys()[i];
    if (key.starts_with("x-") || std::find(known.begin(), known.end(), key) != known.end()) continue;
    Diagnostic d = io::node_error("SC002", node.items()[i], cat("unknown key '", key, "' in ", what));
    if (auto near = nearest_word(key, known)) {
      d.hint = cat("did you mean '", *near, "'?");
    } else {
      d.hint = cat("known keys: ", join(known, ", "));
    }
    reader.error(std::move(d));
  }
}

void missing_key(const io::Node& node, const std::string& what, const std::string& key, Reader& reader) {
  reader.error(io::node_error("SC003", node, cat("the key '", key, "' is missing in ", what)));
}

io::Node with_doc(io::Node schema, const std::string& doc) {
  if (schema.is_map() && schema.find("description") == nullptr) schema.add("description", io::Node::string(doc));
  return schema;
}

io::Node object_schema(const std::string& doc, const FormatId* format, std::vector<std::pair<std::string, io::Node>> properties,
                       const std::vector<std::string>& required) {
  io::Node node = io::Node::map();
  if (format != nullptr) {
    node.add("$schema", io::Node::string("http://json-schema.org/draft-07/schema#"));
    node.add("title", io::Node::string(format->text()));
  }
  node.add("description", io::Node::string(doc));
  node.add("type", io::Node::string("object"));
  io::Node members = io::Node::map();
  if (format != nullptr) members.add("schema", io::Node::map({{"const", io::Node::string(format->text())}}));
  for (auto& [name, schema] : properties) members.add(name, std::move(schema));
  node.add("properties", std::move(members));
  io::Node names = io::Node::list();
  for (const auto& name : required) names.push(io::Node::string(name));
  if (names.size() != 0) node.add("required", std::move(names));
  node.add("patternProperties", io::Node::map({{"^x-", io::Node::map()}}));
  node.add("additionalProperties", io::Node::boolean(false));
  return node;
}

void FieldTable::add(std::string_view name, std::string_view doc, bool required, std::ptrdiff_t offset, const MemberType& type) {
  fields_.push_back({std::string(name), std::string(doc), required, offset, &type});
}

void FieldTable::read(const io::Node& node, void* out, Reader& reader) const {
  if (!node.is_map()) {
    reader.error(io::node_error("SC001", node, cat("expected ", doc_, " (a map), found ", node.describe())));
    return;
  }
  if (format_) {
    if (auto header = check_header(node, *format_); !header) {
      reader.error(std::move(header).failure());
      return;
    }
  }
  std::vector<std::string> known;
  if (format_) known.push_back("schema");
  for (const auto& field : fields_) known.push_back(field.name);
  check_keys(node, doc_, known, reader);
  for (const auto& field : fields_) {
    if (const io::Node* value = node.find(field.name)) {
      field.type->read(*value, static_cast<char*>(out) + field.offset, reader);
    } else if (field.required) {
      missing_key(node, doc_, field.name, reader);
    }
  }
}

io::Node FieldTable::write(const void* value, const void* standard) const {
  io::Node node = io::Node::map();
  if (format_) node.add("schema", io::Node::string(format_->text()));
  for (const auto& field : fields_) {
    const void* member = static_cast<const char*>(value) + field.offset;
    if (field.required || !field.type->equal(member, static_cast<const char*>(standard) + field.offset))
      node.add(field.name, field.type->write(member));
  }
  return node;
}

io::Node FieldTable::json_schema() const {
  std::vector<std::pair<std::string, io::Node>> properties;
  std::vector<std::string> required;
  if (format_) required.push_back("schema");
  for (const auto& field : fields_) {
    properties.emplace_back(field.name, with_doc(field.type->json_schema(), field.doc));
    if (field.required) required.push_back(field.name);
  }
  return object_schema(doc_, format_ ? &*format_ : nullptr, std::move(properties), required);
}

}  // namespace detail
}  // namespace buda::schema
