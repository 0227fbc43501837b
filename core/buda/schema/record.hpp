// SPDX-License-Identifier: Apache-2.0
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

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
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

// The parts of a record that readers without one use, too. `known` are the names of the fields, in order.
void check_keys(const io::Node& node, const std::string& what, const std::vector<std::string>& known, Reader& reader);
void missing_key(const io::Node& node, const std::string& what, const std::string& key, Reader& reader);
io::Node object_schema(const std::string& doc, const FormatId* format, std::vector<std::pair<std::string, io::Node>> properties,
                       const std::vector<std::string>& required);
io::Node with_doc(io::Node schema, const std::string& doc);

// How members of one type are read, written, compared and described, whatever struct they are in.
struct MemberType {
  void (*read)(const io::Node& node, void* member, Reader& reader);
  io::Node (*write)(const void* member);
  bool (*equal)(const void* a, const void* b);
  io::Node (*json_schema)();
};
template <class M>
inline constexpr MemberType kMemberType{
    [](const io::Node& node, void* member, Reader& reader) { Codec<M>::read(node, *static_cast<M*>(member), reader); },
    [](const void* member) { return Codec<M>::write(*static_cast<const M*>(member)); },
    [](const void* a, const void* b) { return *static_cast<const M*>(a) == *static_cast<const M*>(b); },
    [] { return Codec<M>::json_schema(); }};

// A record without the type of its struct, so that a format of many fields is a table and not code: members are found by their offset.
class FieldTable {
 public:
  FieldTable(std::string_view doc, std::optional<FormatId> format) : doc_(doc), format_(std::move(format)) {}
  void add(std::string_view name, std::string_view doc, bool required, std::ptrdiff_t offset, const MemberType& type);

  void read(const io::Node& node, void* out, Reader& reader) const;
  // `standard` is a struct of default values.
  io::Node write(const void* value, const void* standard) const;
  io::Node json_schema() const;
  const std::optional<FormatId>& format() const { return format_; }

 private:
  struct Field {
    std::string name;
    std::string doc;
    bool required = false;
    std::ptrdiff_t offset = 0;
    const MemberType* type = nullptr;
  };

  std::string doc_;
  std::optional<FormatId> format_;
  std::vector<Field> fields_;
};

}  // namespace detail

template <class T>
class Record {
 public:
  explicit Record(std::string_view doc) : table_(doc, std::nullopt) {}
  Record(std::string_view doc, FormatId format) : table_(doc, std::move(format)) {}

  // A key that must be there, and is always written.
  template <class M>
  Record& required(std::string_view name, M T::*member, std::string_view doc) {
    table_.add(name, doc, true, offset(member), detail::kMemberType<M>);
    return *this;
  }
  // A key that may be absent; the member then keeps its default, and a member with its default value is not written.
  template <class M>
  Record& optional(std::string_view name, M T::*member, std::string_view doc) {
    table_.add(name, doc, false, offset(member), detail::kMemberType<M>);
    return *this;
  }

  void read(const io::Node& node, T& out, Reader& reader) const { table_.read(node, &out, reader); }
  io::Node write(const T& value) const { return table_.write(&value, &standard_); }
  io::Node json_schema() const { return table_.json_schema(); }
  const std::optional<FormatId>& format() const { return table_.format(); }

 private:
  template <class M>
  std::ptrdiff_t offset(M T::*member) const {
    return reinterpret_cast<const char*>(&(standard_.*member)) - reinterpret_cast<const char*>(&standard_);
  }

  T standard_{};
  detail::FieldTable table_;
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
