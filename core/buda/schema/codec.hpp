// SPDX-License-Identifier: Apache-2.0
// How single values are read from and written to a file: numbers, strings, lists, maps, enumerations.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/io/node.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::schema {

// Collects the errors of one file. A file full of errors is cut off: the first hundred tell the story.
class Reader {
 public:
  void error(Diagnostic d) {
    if (failure_.diagnostics().size() < kMaxErrors) failure_.add(std::move(d));
  }
  void error(Failure f) {
    for (auto& d : f.diagnostics()) error(std::move(d));
  }
  bool failed() const { return !failure_.empty(); }
  Failure failure() && { return std::move(failure_); }

 private:
  static constexpr std::size_t kMaxErrors = 100;
  Failure failure_;
};

// Codec<T>::read(node, out, reader) reports what is wrong and leaves `out` alone; write(value); json_schema().
template <class T>
struct Codec;

// The names of an enumeration's values, in order, found through the enum's namespace: describe_enum(const E*).
template <class E>
using EnumNames = std::vector<std::pair<E, std::string>>;

namespace detail {
io::Node type_schema(const std::string& type);
io::Node integer_schema(std::int64_t least);
io::Node list_schema(io::Node items);
io::Node map_schema(io::Node values);
io::Node enum_schema(const std::vector<std::string>& names);
void unknown_name(const io::Node& node, const std::string& text, const std::vector<std::string>& names, Reader& reader);
void out_of_range(const io::Node& node, std::int64_t least, std::uint64_t most, Reader& reader);

// Keeps a Result's value or its errors.
template <class T, class U>
void take(Result<U> result, T& out, Reader& reader) {
  if (result) {
    out = static_cast<T>(std::move(result).value());
  } else {
    reader.error(std::move(result).failure());
  }
}
}  // namespace detail

template <>
struct Codec<bool> {
  static void read(const io::Node& node, bool& out, Reader& reader) { detail::take(node.as_bool(), out, reader); }
  static io::Node write(bool value) { return io::Node::boolean(value); }
  static io::Node json_schema() { return detail::type_schema("boolean"); }
};

template <std::integral T>
requires(!std::same_as<T, bool>) struct Codec<T> {
  static void read(const io::Node& node, T& out, Reader& reader) {
    auto value = node.as_int();
    if (!value) {
      reader.error(std::move(value).failure());
    } else if (!std::in_range<T>(*value)) {
      detail::out_of_range(node, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                           static_cast<std::uint64_t>(std::numeric_limits<T>::max()), reader);
    } else {
      out = static_cast<T>(*value);
    }
  }
  static io::Node write(T value) { return io::Node::integer(static_cast<std::int64_t>(value)); }
  static io::Node json_schema() { return std::unsigned_integral<T> ? detail::integer_schema(0) : detail::type_schema("integer"); }
};

template <std::floating_point T>
struct Codec<T> {
  static void read(const io::Node& node, T& out, Reader& reader) { detail::take(node.as_double(), out, reader); }
  static io::Node write(T value) { return io::Node::real(static_cast<double>(value)); }
  static io::Node json_schema() { return detail::type_schema("number"); }
};

template <>
struct Codec<std::string> {
  static void read(const io::Node& node, std::string& out, Reader& reader) { detail::take(node.as_string(), out, reader); }
  static io::Node write(const std::string& value) { return io::Node::string(value); }
  static io::Node json_schema() { return detail::type_schema("string"); }
};

// Anything: kept as it is.
template <>
struct Codec<io::Node> {
  static void read(const io::Node& node, io::Node& out, Reader&) { out = node; }
  static io::Node write(const io::Node& value) { return value; }
  static io::Node json_schema() { return io::Node::map(); }
};

template <class T>
struct Codec<std::optional<T>> {
  static void read(const io::Node& node, std::optional<T>& out, Reader& reader) {
    T value{};
    Codec<T>::read(node, value, reader);
    out = std::move(value);
  }
  static io::Node write(const std::optional<T>& value) { return value ? Codec<T>::write(*value) : io::Node::null(); }
  static io::Node json_schema() { return Codec<T>::json_schema(); }
};

template <class T>
struct Codec<std::vector<T>> {
  static void read(const io::Node& node, std::vector<T>& out, Reader& reader) {
    if (!node.is_list()) {
      reader.error(io::node_error("SC001", node, "expected a list, found " + node.describe()));
      return;
    }
    out.clear();
    out.reserve(node.size());
    for (const auto& item : node.items()) {
      T value{};
      Codec<T>::read(item, value, reader);
      out.push_back(std::move(value));
    }
  }
  static io::Node write(const std::vector<T>& value) {
    io::Node node = io::Node::list();
    for (const auto& item : value) node.push(Codec<T>::write(item));
    return node;
  }
  static io::Node json_schema() { return detail::list_schema(Codec<T>::json_schema()); }
};

template <class T>
struct Codec<std::map<std::string, T>> {
  static void read(const io::Node& node, std::map<std::string, T>& out, Reader& reader) {
    if (!node.is_map()) {
      reader.error(io::node_error("SC001", node, "expected a map, found " + node.describe()));
      return;
    }
    out.clear();
    for (std::size_t i = 0; i < node.size(); ++i) Codec<T>::read(node.items()[i], out[node.keys()[i]], reader);
  }
  static io::Node write(const std::map<std::string, T>& value) {
    io::Node node = io::Node::map();
    for (const auto& [key, item] : value) node.add(key, Codec<T>::write(item));
    return node;
  }
  static io::Node json_schema() { return detail::map_schema(Codec<T>::json_schema()); }
};

// Grid values are written as [rows, cols] and [row, col].
template <>
struct Codec<GridShape> {
  static void read(const io::Node& node, GridShape& out, Reader& reader);
  static io::Node write(const GridShape& value);
  static io::Node json_schema();
};
template <>
struct Codec<GridCoord> {
  static void read(const io::Node& node, GridCoord& out, Reader& reader);
  static io::Node write(const GridCoord& value);
  static io::Node json_schema();
};

template <class E>
requires requires(const E* p) {
  { describe_enum(p) } -> std::same_as<const EnumNames<E>&>;
}
struct Codec<E> {
  static const EnumNames<E>& names() { return describe_enum(static_cast<const E*>(nullptr)); }
  static std::vector<std::string> words() {
    std::vector<std::string> out;
    for (const auto& [value, name] : names()) out.push_back(name);
    return out;
  }
  static void read(const io::Node& node, E& out, Reader& reader) {
    auto text = node.as_string();
    if (!text) {
      reader.error(std::move(text).failure());
      return;
    }
    for (const auto& [value, name] : names()) {
      if (name == *text) {
        out = value;
        return;
      }
    }
    detail::unknown_name(node, *text, words(), reader);
  }
  static io::Node write(E wanted) {
    for (const auto& [value, name] : names())
      if (value == wanted) return io::Node::string(name);
    return io::Node::null();
  }
  static io::Node json_schema() { return detail::enum_schema(words()); }
};

}  // namespace buda::schema

#pragma GCC visibility pop
