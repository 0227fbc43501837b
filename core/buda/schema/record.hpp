// Field tables: one list per file format from which it is read, checked, written and described as JSON Schema.
//
// A struct becomes readable by naming its fields once, in a function that the compiler finds through the struct's namespace:
//
//   struct Port { std::int64_t x = 0; std::optional<std::string> label; };
//   const schema::Record<Port>& describe(const Port*) {
//     static const auto record = schema::Record<Port>("a port of the grid")
//         .required("x", &Port::x, "column on the NoC grid, from 0")
//         .optional("label", &Port::label, "name for messages");
//     return record;
//   }
//   Result<Port> port = schema::read<Port>(node);     io::Node node = schema::write(port);     schema::json_schema<Port>()
//
// The top of a file has a format too: Record<T>("a device", {"buda.device", 1}); its map must begin with `schema: buda.device/1`.
// Reading collects every error of the file. Unknown keys are errors with a spelling hint, but for keys that begin with "x-".
#pragma once

#include <buda/schema/codec.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::schema {

// Name and version of a file format of ours, written "name/version".
struct FormatId {
  std::string name;
  int version = 0;
  std::string text() const;
};

// Checks the `schema` member of a file's top map against the format and says which versions are read. For readers without a Record.
Result<void> check_header(const io::Node& top, const FormatId& format);

namespace detail {
// The parts of a record that do not depend on its type. `known` are the field names in order.
void check_keys(const io::Node& node, const std::string& what, const std::vector<std::string>& known, Reader& reader);
void missing_key(const io::Node& node, const std::string& what, const std::string& key, Reader& reader);
io::Node object_schema(const std::string& doc, const FormatId* format, std::vector<std::pair<std::string, io::Node>> properties,
                       const std::vector<std::string>& required);
io::Node with_doc(io::Node schema, const std::string& doc);
}  // namespace detail

template <class T>
class Record {
 public:
  explicit Record(std::string doc) : doc_(std::move(doc)) {}
  Record(std::string doc, FormatId format) : doc_(std::move(doc)), format_(std::move(format)) {}

  // A key that must be there, and is always written.
  template <class M>
  Record& required(std::string name, M T::*member, std::string doc) {
    return add(std::move(name), member, std::move(doc), true);
  }
  // A key that may be absent; the member then keeps its default, and a member with its default value is not written.
  template <class M>
  Record& optional(std::string name, M T::*member, std::string doc) {
    return add(std::move(name), member, std::move(doc), false);
  }

  void read(const io::Node& node, T& out, Reader& reader) const {
    if (!node.is_map()) {
      reader.error(io::node_error("SC001", node, "expected " + doc_ + " (a map), found " + node.describe()));
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
    detail::check_keys(node, doc_, known, reader);
    for (const auto& field : fields_) {
      if (const io::Node* value = node.find(field.name)) {
        field.read(*value, out, reader);
      } else if (field.required) {
        detail::missing_key(node, doc_, field.name, reader);
      }
    }
  }

  io::Node write(const T& value) const {
    io::Node node = io::Node::map();
    if (format_) node.add("schema", io::Node::string(format_->text()));
    for (const auto& field : fields_)
      if (auto text = field.write(value)) node.add(field.name, std::move(*text));
    return node;
  }

  io::Node json_schema() const {
    std::vector<std::pair<std::string, io::Node>> properties;
    std::vector<std::string> required;
    if (format_) required.push_back("schema");
    for (const auto& field : fields_) {
      properties.emplace_back(field.name, detail::with_doc(field.schema(), field.doc));
      if (field.required) required.push_back(field.name);
    }
    return detail::object_schema(doc_, format_ ? &*format_ : nullptr, std::move(properties), required);
  }

  const std::optional<FormatId>& format() const { return format_; }

 private:
  struct Field {
    std::string name;
    std::string doc;
    bool required;
    std::function<void(const io::Node&, T&, Reader&)> read;
    std::function<std::optional<io::Node>(const T&)> write;
    std::function<io::Node()> schema;
  };

  template <class M>
  Record& add(std::string name, M T::*member, std::string doc, bool required) {
    Field field{std::move(name), std::move(doc), required, {}, {}, {}};
    field.read = [member](const io::Node& node, T& out, Reader& reader) { Codec<M>::read(node, out.*member, reader); };
    field.write = [member, required](const T& value) -> std::optional<io::Node> {
      if (!required && value.*member == T{}.*member) return std::nullopt;
      return Codec<M>::write(value.*member);
    };
    field.schema = [] { return Codec<M>::json_schema(); };
    fields_.push_back(std::move(field));
    return *this;
  }

  std::string doc_;
  std::optional<FormatId> format_;
  std::vector<Field> fields_;
};

template <class T>
concept Described = requires(const T* p) {
  { describe(p) } -> std::same_as<const Record<T>&>;
};

template <Described T>
struct Codec<T> {
  static void read(const io::Node& node, T& out, Reader& reader) { describe(static_cast<const T*>(nullptr)).read(node, out, reader); }
  static io::Node write(const T& value) { return describe(static_cast<const T*>(nullptr)).write(value); }
  static io::Node json_schema() { return describe(static_cast<const T*>(nullptr)).json_schema(); }
};

template <class T>
Result<T> read(const io::Node& node) {
  Reader reader;
  T out{};
  Codec<T>::read(node, out, reader);
  if (reader.failed()) return std::move(reader).failure();
  return out;
}

template <class T>
io::Node write(const T& value) {
  return Codec<T>::write(value);
}

// JSON Schema (draft 7) of a format, for schemas/ and for validators of others.
template <class T>
io::Node json_schema() {
  return Codec<T>::json_schema();
}

}  // namespace buda::schema

#pragma GCC visibility pop
