// SPDX-License-Identifier: Apache-2.0
// Looks devices up and reads them, bases first.
#include <buda/device/load.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/device/device_name.hpp>
#include <buda/device/format.hpp>
#include <buda/io/yaml.hpp>

#include <algorithm>

namespace buda::device {
namespace {

constexpr int kMaxDeviceBaseDepth = 8;
constexpr std::string_view kSuffix = ".yaml";

bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml") || name == io::kStdStream;
}

std::string folder(Host& host) { return cat(host.share_dir, "/devices"); }

Diagnostic unknown_device(Host& host, const std::string& name, SourceLoc loc) {
  auto known = known_devices(host);
  const bool is_option = loc.file.empty();  // else the base of a file
  Diagnostic d = input_error("DV002", std::move(loc), "");
  if (is_option) d.fault = Fault::usage;
  if (known.empty()) {
    d.message = cat("device '", name, "' is unknown; there are no device files in ", folder(host));
    d.hint = "name the path of a device file";
    return d;
  }
  d.message = cat("device '", name, "' is unknown; known are ", join(known, ", "));
  if (auto near = nearest_word(name, known)) {
    d.hint = cat("did you mean '", *near, "'?");
  } else {
    d.hint = "the path of a device descriptor is accepted, too";
  }
  return d;
}

// Switches off the workers of these rows, and of no others.
Result<void> harvest(DeviceDescriptor& device, const std::vector<std::int32_t>& rows) {
  std::vector<std::int32_t> there = device.workers.y;
  there.insert(there.end(), device.harvested_y.begin(), device.harvested_y.end());
  std::sort(there.begin(), there.end());
  device.workers.y.clear();
  for (auto row : there)
    if (!std::binary_search(rows.begin(), rows.end(), row)) device.workers.y.push_back(row);
  for (auto row : rows)
    if (!std::binary_search(there.begin(), there.end(), row)) {
      std::vector<std::string> texts;
      for (auto y : there) texts.push_back(cat(y));
      return usage_error("DV021",
                         cat("row ", row, " of device '", device.name, "' cannot be harvested: workers are in rows ", join(texts, ", ")));
    }
  if (device.workers.y.empty())
    return usage_error("DV021",
                       cat("device '", device.name, "' has no workers left when all of its ", there.size(), " rows are harvested"));
  device.harvested_y = rows;
  device.name = DeviceName{device.name, "", rows}.text();
  return success();
}

class Loader {
 public:
  explicit Loader(Host& host) : host_(host) {}

  // `asked` is where the device is named, when a file does so.
  Result<DeviceDescriptor> load(const std::string& name, const SourceLoc& asked) {
    std::string path = name;
    if (!is_path(name)) {
      path = cat(folder(host_), '/', name, kSuffix);
      if (!host_.fs().exists(path)) return unknown_device(host_, name, asked);
    }
    if (std::find(chain_.begin(), chain_.end(), path) != chain_.end() || chain_.size() >= kMaxDeviceBaseDepth)
      return input_error("DV003", asked, cat("device '", name, "' is based on itself: ", join(chain_, " -> "), " -> ", path));
    chain_.push_back(path);
    BUDA_ASSIGN(io::Bytes bytes, host_.fs().read(path));
    BUDA_ASSIGN(io::Node top, io::parse_yaml(bytes.view(), path));
    return is_soc_descriptor(top) ? soc(top) : own(top, path);
  }

 private:
  Result<DeviceDescriptor> own(const io::Node& top, const std::string& path) {
    BUDA_TRY(schema::check_header(top, {"buda.device", 1}));
    DeviceDescriptor device;
    if (const io::Node* base = top.find("base")) {
      BUDA_ASSIGN(std::string name, base->as_name());
      // A base beside the file itself is written like a path: ./mine.yaml
      if (name.starts_with("./")) name = cat(path.substr(0, path.find_last_of('/') + 1), name.substr(2));
      BUDA_ASSIGN(device, load(name, base->loc()));
    }
    schema::Reader reader;
    describe(static_cast<const DeviceDescriptor*>(nullptr)).read(top, device, reader);
    if (reader.failed()) return std::move(reader).failure();
    device.base.clear();
    return checked(std::move(device), top.loc());
  }

  Result<DeviceDescriptor> soc(const io::Node& top) {
    BUDA_ASSIGN(std::string arch, soc_arch(top));
    BUDA_ASSIGN(DeviceDescriptor device, load(arch, top.loc()));
    BUDA_TRY(apply_soc_descriptor(top, device));
    return checked(std::move(device), top.loc());
  }

  static Result<DeviceDescriptor> checked(DeviceDescriptor device, const SourceLoc& loc) {
    auto problems = check_device(device, loc);
    if (!problems.empty()) return Failure(std::move(problems));
    return device;
  }

  Host& host_;
  std::vector<std::string> chain_;
};

}  // namespace

Result<DeviceDescriptor> load_device(Host& host, const std::string& name_or_path) {
  BUDA_ASSIGN(const DeviceName name, parse_device_name(name_or_path));
  if (name.board.empty() && !name.rows.empty()) {
    Diagnostic d = usage_error("DV021", "harvested rows are given without the device whose rows they are");
    d.hint = "name the device, too: --device NAME|FILE";
    return d;
  }
  const std::string of_pybuda = cat(name.family, '_', name.board);
  auto is_installed = [&](const std::string& board) { return host.fs().exists(cat(folder(host), '/', board, kSuffix)); };
  // A file of that very name comes first.
  const bool translated = !name.family.empty() && !is_installed(of_pybuda);
  if (translated && !is_installed(name.board)) return unknown_device(host, of_pybuda, {});
  BUDA_ASSIGN(DeviceDescriptor device, Loader(host).load(name.family.empty() || translated ? name.board : of_pybuda, {}));
  if (translated && family_of(device.arch) != name.family) return unknown_device(host, of_pybuda, {});
  if (!name.rows.empty()) BUDA_TRY(harvest(device, name.rows));
  return device;
}

std::vector<std::string> known_devices(Host& host) {
  std::vector<std::string> names;
  auto entries = host.fs().list(folder(host));
  if (!entries) return names;
  for (const auto& entry : *entries)
    if (entry.ends_with(kSuffix)) names.push_back(entry.substr(0, entry.size() - kSuffix.size()));
  return names;
}

}  // namespace buda::device
