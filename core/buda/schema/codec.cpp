// SPDX-License-Identifier: Apache-2.0
// The parts of the codecs that do not depend on a type.
#include <buda/schema/codec.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

namespace buda::schema {

namespace detail {

io::Node type_schema(const std::string& type) { return io::Node::map({{"type", io::Node::string(type)}}); }

io::Node integer_schema(std::int64_t least) {
  io::Node node = type_schema("integer");
  node.add("minimum", io::Node::integer(least));
  return node;
}

io::Node list_schema(io::Node items) {
  io::Node node = type_schema("array");
  node.add("items", std::move(items));
  return node;
}

io::Node map_schema(io::Node values) {
  io::Node node = type_schema("object");
  node.add("additionalProperties", std::move(values));
  return node;
}

io::Node enum_schema(const std::vector<std::string>& names) {
  io::Node list = io::Node::list();
  for (const auto& name : names) list.push(io::Node::string(name));
  return io::Node::map({{"enum", std::move(list)}});
}

void unknown_name(const io::Node& node, const std::string& text, const std::vector<std::string>& names, Reader& reader) {
  Diagnostic d = io::node_error("SC004", node, cat('\'', text, "' is not allowed here; allowed: ", join(names, ", ")));
  if (auto near = nearest_word(text, names)) d.hint = cat("did you mean '", *near, "'?");
  reader.error(std::move(d));
}

void out_of_range(const io::Node& node, std::int64_t least, std::uint64_t most, Reader& reader) {
  reader.error(io::node_error("SC005", node, cat(node.describe(), " is out of range; allowed: ", least, " to ", most)));
}

}  // namespace detail

namespace {

// Two integers in a list.
void read_pair(const io::Node& node, const char* what, std::int32_t& first, std::int32_t& second, Reader& reader) {
  if (!node.is_list() || node.size() != 2) {
    reader.error(io::node_error("SC001", node, cat("expected ", what, ", found ", node.describe())));
    return;
  }
  Codec<std::int32_t>::read(node.items()[0], first, reader);
  Codec<std::int32_t>::read(node.items()[1], second, reader);
}

io::Node write_pair(std::int32_t first, std::int32_t second) {
  return io::Node::list({io::Node::integer(first), io::Node::integer(second)});
}

io::Node pair_schema() {
  io::Node node = detail::list_schema(detail::integer_schema(0));
  node.add("minItems", io::Node::integer(2));
  node.add("maxItems", io::Node::integer(2));
  return node;
}

}  // namespace

void Codec<GridShape>::read(const io::Node& node, GridShape& out, Reader& reader) {
  read_pair(node, "a grid size [rows, cols]", out.rows, out.cols, reader);
}
io::Node Codec<GridShape>::write(const GridShape& value) { return write_pair(value.rows, value.cols); }
io::Node Codec<GridShape>::json_schema() { return pair_schema(); }

void Codec<GridCoord>::read(const io::Node& node, GridCoord& out, Reader& reader) {
  read_pair(node, "a place [row, col]", out.row, out.col, reader);
}
io::Node Codec<GridCoord>::write(const GridCoord& value) { return write_pair(value.row, value.col); }
io::Node Codec<GridCoord>::json_schema() { return pair_schema(); }

}  // namespace buda::schema
