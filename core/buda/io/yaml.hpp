// SPDX-License-Identifier: Apache-2.0
// YAML in, with places.
#pragma once

#include <buda/io/node.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::io {

// How deep collections may nest.
inline constexpr std::size_t kDeepestYaml = 200;

// What a format may allow beyond YAML.
struct YamlOptions {
  // A key may occur several times in a map; the members then stand in the map in their order. Formats read by yaml-cpp's node
  // iteration, as TT-Buda's, give meaning to that.
  bool repeated_keys = false;
};

// One document. Plain scalars are typed by YAML's core schema (null, true/false, integers, reals); their text is kept. Anchors and
// aliases are resolved within a bound on the total size; a duplicate key is an error; depth is limited to kDeepestYaml.
Result<Node> parse_yaml(std::string_view text, const std::string& file, const YamlOptions& options = {});

// A stream of documents separated by `---`; an empty text gives none.
Result<std::vector<Node>> parse_yaml_stream(std::string_view text, const std::string& file, const YamlOptions& options = {});

// True where `text`, written plainly in YAML, reads back as the same string.
bool is_plain_yaml(std::string_view text);
// `text` as a YAML scalar, quoted when it has to be.
std::string yaml_scalar(std::string_view text);

// A value on one line, in flow style: `{a: 1, b: [x, y]}`. Numbers keep the spelling they were read with.
std::string yaml_flow(const Node& node);
// The members of a map or list in block style, each line indented by `indent` spaces and ended by '\n'; a member whose flow form fits
// in `width` columns is written in flow style, but for maps of maps. Scalars and empty collections are one flow line.
std::string yaml_block(const Node& node, std::size_t indent = 0, std::size_t width = 140);

}  // namespace buda::io
