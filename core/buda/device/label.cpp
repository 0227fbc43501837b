// SPDX-License-Identifier: Apache-2.0
// What follows the last slash, under the project's name of a board.
#include <buda/device/label.hpp>

#include <buda/device/device_name.hpp>

namespace buda::device {

std::string device_label(const std::string& name_or_path) {
  auto name = parse_device_name(name_or_path);
  const std::string text = name ? name->text() : name_or_path;
  return text.substr(text.rfind('/') + 1);
}

}  // namespace buda::device
