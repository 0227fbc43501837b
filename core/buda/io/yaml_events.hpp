// SPDX-License-Identifier: Apache-2.0
// All of YAML, through yaml-cpp. Internal to this module: parse_yaml_stream decides which reader a file needs.
#pragma once

#include <buda/io/yaml.hpp>

namespace buda::io {

// The documents of a text that is UTF-8 without zero bytes, or yaml-cpp's complaint at its place.
Result<std::vector<Node>> read_yaml_events(std::string_view text, const std::string& file, const YamlOptions& options);

}  // namespace buda::io
