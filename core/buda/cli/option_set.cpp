// SPDX-License-Identifier: Apache-2.0
// Declaration of positional arguments, and of the options that name a device.
#include <buda/cli/option_set.hpp>

#include <buda/device/device_name.hpp>

#include <limits>
#include <memory>

namespace buda::cli {

void OptionSet::positional(std::string name, std::string& target, std::string summary) {
  positionals_.push_back({std::move(name), std::move(summary), 1, 1, nullptr, &target});
}

void OptionSet::optional_positional(std::string name, std::string& target, std::string summary) {
  positionals_.push_back({std::move(name), std::move(summary), 0, 1, nullptr, &target});
}

void OptionSet::positionals(std::string name, std::vector<std::string>& target, std::size_t least, std::string summary) {
  positionals_.push_back({std::move(name), std::move(summary), least, std::numeric_limits<std::size_t>::max(), &target, nullptr});
}

void declare_device(OptionSet& set, std::string& device, std::string summary) {
  // The options may come in any order: each completes what the other has left.
  auto rows = std::make_shared<std::string>();
  schema::OptionSpec name;
  name.name = "device";
  name.value_name = "NAME|FILE";
  name.default_text = device;
  name.summary = std::move(summary);
  name.known_as = {"device_config", "backend_device_descriptor_path"};
  set.declare(std::move(name), [&device, rows](const auto& texts) { device = device::with_harvested_rows(texts.back(), *rows); });
  schema::OptionSpec harvested;
  harvested.name = "harvested-rows";
  harvested.value_name = "ROWS";
  harvested.summary = "rows of the NoC whose workers are switched off, instead of those that the device lacks";
  harvested.check = [](const std::string& text) -> Result<void> {
    BUDA_TRY(device::parse_device_name(device::with_harvested_rows("", text)));
    return success();
  };
  set.declare(std::move(harvested), [&device, rows](const auto& texts) {
    *rows = texts.back();
    device = device::with_harvested_rows(device, *rows);
  });
}

}  // namespace buda::cli
