// SPDX-License-Identifier: Apache-2.0
// Reads the part of YAML that netlists, device files and configs use, some fifteen times as fast as yaml-cpp. Internal to this module.
#pragma once

#include <buda/io/yaml.hpp>

#include <optional>

namespace buda::io {

// The documents of a text that is UTF-8, exactly as read_yaml_events gives them: values, kinds, places and order. Nothing where the text
// uses more of YAML than this reader knows, or is wrong: it has no diagnostics of its own, and yaml-cpp then says what the text means.
// Takes time linear in the text, whatever the text.
std::optional<std::vector<Node>> read_regular_yaml(std::string_view text, const std::string& file, const YamlOptions& options);

}  // namespace buda::io
