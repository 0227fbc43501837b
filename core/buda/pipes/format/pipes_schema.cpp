// SPDX-License-Identifier: Apache-2.0
// What pipes files look like, as JSON Schema: the tables of keys.
#include <buda/pipes/format/pipes_file.hpp>

#include <buda/pipes/format/pipegen_keys.hpp>
#include <buda/schema/record.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace buda::pipes {
namespace {

namespace build = schema::detail;
using Properties = std::vector<std::pair<std::string, io::Node>>;

io::Node numbers() { return build::list_schema(io::Node::map()); }

io::Node special(SpecialKey key) {
  switch (key) {
    case SpecialKey::op:
    case SpecialKey::type:
      return build::type_schema("string");
    case SpecialKey::chip:
    case SpecialKey::core:
      return build::list_schema(build::type_schema("integer"));
    case SpecialKey::prefetch:
    case SpecialKey::address:
      break;
  }
  return build::type_schema("integer");
}

template <class Keys, class Defaults>
io::Node kind_schema(const std::string& doc, const Keys& keys, const Defaults& defaults) {
  Properties properties;
  auto add = [&](std::string_view name, io::Node node) { properties.emplace_back(name, std::move(node)); };
  for (const auto& key : keys) {
    auto put = [&](const auto& value) {
      using V = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<V, SpecialKey>) {
        add(key.name, special(value));
      } else if constexpr (requires { value.begin(); }) {
        add(key.name, numbers());
      } else {
        add(key.name, build::type_schema("integer"));
      }
    };
    visit_key(key, put, defaults);
  }
  add("each", build::with_doc(build::list_schema(build::type_schema("string")), "keys whose values are in the lines"));
  return build::object_schema(doc, nullptr, std::move(properties), {"each"});
}

}  // namespace

io::Node pipes_schema() {
  static const schema::FormatId kFormat{"buda.pipes", 1};
  auto list = [](io::Node items, const char* doc) { return build::with_doc(build::list_schema(std::move(items)), doc); };
  Properties properties;
  properties.emplace_back("device", build::with_doc(build::type_schema("string"), "device for which the pipes were made"));
  properties.emplace_back("graphs", list(build::type_schema("string"), "graphs of the epoch"));
  properties.emplace_back("buffer_kinds", list(kind_schema("what buffers have in common", buffer_keys(), Buffer{}), "kinds of buffers"));
  properties.emplace_back("buffers", list(numbers(), "[kind, value of each key in its 'each'], a line per buffer"));
  properties.emplace_back("pipe_kinds", list(kind_schema("what pipes have in common", pipe_keys(), Pipe{}), "kinds of pipes"));
  properties.emplace_back("pipes", list(numbers(), "[kind, value of each key in its 'each'], a line per pipe"));
  return build::object_schema("pipes", &kFormat, std::move(properties),
                              {"schema", "graphs", "buffer_kinds", "buffers", "pipe_kinds", "pipes"});
}

}  // namespace buda::pipes
