// SPDX-License-Identifier: Apache-2.0
// Comparison of devices.
#include <buda/image/device_match.hpp>

#include <buda/base/text.hpp>
#include <buda/device/device_name.hpp>
#include <buda/device/format.hpp>
#include <buda/device/load.hpp>
#include <buda/io/process.hpp>
#include <buda/io/yaml.hpp>

#include <vector>

namespace buda::image {
namespace {

std::string grid_text(GridShape grid) { return cat('[', grid.rows, ", ", grid.cols, ']'); }

std::string rows_text(const device::DeviceDescriptor& device) {
  if (device.harvested_y.empty()) return "none";
  return cat(list_text(device.harvested_y), " (mask ", harvest_mask(device), ')');
}

class Comparison {
 public:
  Comparison(const device::DeviceDescriptor& made_for, const device::DeviceDescriptor& device, const std::string& path,
             const std::string& asked_as)
      : made_for_(made_for), device_(device), path_(path), asked_as_(asked_as) {}

  void compare(const char* code, const std::string& what, const std::string& there, const std::string& here) {
    if (there == here) return;
    Diagnostic d = input_error(code, {path_}, cat("the image was made for ", what, ' ', there, ", device '", device_.name, "' has ", here));
    d.data = {{"image", there}, {"device", here}};
    d.hint = "compile the model for this device";
    if (!asked_as_.empty()) d.hint += cat(": ", io::shell_line({"buda", "compile", "MODEL", "--device", asked_as_}));
    failure_.add(std::move(d));
  }

  void memory() {
    auto sizes = [&](const char* name, auto size, std::uint64_t there, std::uint64_t here) {
      if (there != here) compare("IM012", name, size(there), size(here));
    };
    auto number = [](std::uint64_t n) { return cat(n); };
    sizes("this number of DRAM channels:", number, made_for_.dram.channels.size(), device_.dram.channels.size());
    sizes("DRAM channels of", bytes_text, made_for_.dram.bank_bytes, device_.dram.bank_bytes);
    sizes("this number of host channels:", number, static_cast<std::uint64_t>(made_for_.host.channels),
          static_cast<std::uint64_t>(device_.host.channels));
    sizes("host channels of", bytes_text, made_for_.host.channel_bytes, device_.host.channel_bytes);
    sizes("an L1 of", bytes_text, made_for_.l1.size, device_.l1.size);
  }

  void harvesting() {
    const bool by_hand = device::has_rows_set_by_hand(made_for_.name) || device::has_rows_set_by_hand(device_.name);
    const bool hidden = device::family_of(made_for_.arch) == "wh" && !by_hand;
    if (hidden && made_for_.harvested_y.size() == device_.harvested_y.size()) return;
    compare("IM013", "harvested rows", rows_text(made_for_), rows_text(device_));
  }

  Result<void> verdict() && {
    if (!failure_.empty()) return std::move(failure_);
    return success();
  }

 private:
  const device::DeviceDescriptor& made_for_;
  const device::DeviceDescriptor& device_;
  const std::string& path_;
  const std::string& asked_as_;
  Failure failure_;
};

}  // namespace

Result<device::DeviceDescriptor> embedded_device(const Image& image, const std::string& path) {
  auto member = image.extras.find(kDeviceMember);
  if (member == image.extras.end()) return input_error("IM005", {path}, cat("the image has no device descriptor (", kDeviceMember, ')'));
  const std::string where = cat(path, ':', kDeviceMember);
  BUDA_ASSIGN(auto top, io::parse_yaml(member->second.view(), where));
  BUDA_ASSIGN(auto device, schema::read<device::DeviceDescriptor>(top));
  if (auto errors = device::check_device(device, {where}); !errors.empty()) return Failure(std::move(errors));
  BUDA_TRY(check_description(image.device, device, path));
  return device;
}

std::int64_t harvest_mask(const device::DeviceDescriptor& device) {
  std::int64_t mask = 0;
  for (auto y : device.harvested_y)
    if (y >= 0 && y < 62) mask |= std::int64_t{1} << y;
  return mask;
}

Result<void> check_same_device(const device::DeviceDescriptor& made_for, const device::DeviceDescriptor& device, const std::string& path,
                               const std::string& asked_as) {
  Comparison comparison(made_for, device, path, asked_as);
  comparison.compare("IM010", "architecture", made_for.arch, device.arch);
  // Nothing else can be compared between architectures.
  if (made_for.arch == device.arch) {
    comparison.compare("IM011", "a grid of workers of", grid_text(made_for.grid()), grid_text(device.grid()));
    comparison.memory();
    comparison.harvesting();
  }
  return std::move(comparison).verdict();
}

Result<void> check_description(const DeviceJson& description, const device::DeviceDescriptor& device, const std::string& path) {
  auto differs = [&](const char* key, const std::string& said, const std::string& is) {
    return input_error("IM005", {path},
                       cat("device.json says that '", key, "' is ", said, "; in the device descriptor of the image it is ", is));
  };
  if (description.arch != device.arch) return differs("arch", description.arch, device.arch);
  if (description.grid != device.grid()) return differs("grid_size", grid_text(description.grid), grid_text(device.grid()));
  for (auto mask : description.harvested_rows)
    if (mask != harvest_mask(device)) return differs("harvested_rows", cat(mask), cat(harvest_mask(device)));
  return success();
}

}  // namespace buda::image
