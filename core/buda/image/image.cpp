// SPDX-License-Identifier: Apache-2.0
// The layout of images.
#include <buda/image/image.hpp>

#include "buda/image/tensor_member.hpp"

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/image/checksum.hpp>
#include <buda/io/json.hpp>
#include <buda/io/sha256.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace buda::image {
namespace {

constexpr std::string_view kDeviceFile = "device.json";
constexpr std::string_view kConfigFile = "compile_and_runtime_config.json";
constexpr std::string_view kChecksumFile = "checksum.txt";
constexpr std::string_view kBuildFolder = "backend_build_binaries/";
constexpr std::string_view kTensorFolder = "tensors/";

// A tensor's name as part of a file name: letters, digits, '.', '_' and '-'; numbered where that makes two names equal.
std::string tensor_stem(const std::string& name, std::set<std::string>& taken) {
  std::string safe;
  for (char c : name) {
    bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    safe += keep ? c : '_';
  }
  const std::string stem = cat(kTensorFolder, "torch.Tensor.", safe);
  std::string numbered = stem;
  for (int n = 2; !taken.insert(numbered).second; ++n) numbered = cat(stem, '_', n);
  return numbered;
}

// The queues by name, of a netlist that tilized tensors refer to; of no netlist otherwise.
class Queues {
 public:
  static Result<Queues> of(const Image& image, bool needed) {
    Queues out;
    if (!needed) return out;
    netlist::ParseOptions options;
    options.arch = image.device.plan.arch;
    BUDA_ASSIGN(out.netlist_, netlist::parse_netlist(image.netlist.view(), image.netlist_name, options));
    for (std::size_t i = 0; i < out.netlist_.queues.size(); ++i) out.by_name_.emplace(out.netlist_.queues[i].name, i);
    return out;
  }
  const netlist::Queue* find(const std::string& name) const {
    auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &netlist_.queues[found->second];
  }

 private:
  netlist::Netlist netlist_;
  std::map<std::string, std::size_t> by_name_;
};

Result<void> verify(const Members& members, const std::string& path) {
  auto list = members.find(std::string(kChecksumFile));
  if (list == members.end()) return success();
  BUDA_ASSIGN(auto digests, parse_checksums(list->second.view(), cat(path, ":", kChecksumFile)));
  if (digests.empty()) return success();
  Failure failure;
  for (const auto& [name, digest] : digests) {
    auto member = members.find(name);
    if (member == members.end()) {
      failure.add(input_error("IM009", {path}, cat("member '", name, "' is missing: the archive was truncated or modified")));
    } else if (io::sha256_hex(member->second.view()) != digest) {
      failure.add(input_error("IM009", {path}, cat("member '", name, "' is damaged: its SHA-256 is not the one in ", kChecksumFile)));
    }
  }
  for (const auto& [name, bytes] : members)
    if (name != kChecksumFile && digests.count(name) == 0)
      failure.add(input_error("IM009", {path}, cat("member '", name, "' has no digest in ", kChecksumFile, ": it was added later")));
  if (!failure.empty()) return failure;
  return success();
}

std::map<std::string, std::string> digests_of(const Members& members, unsigned threads) {
  std::vector<std::pair<std::string_view, std::string*>> work;
  std::map<std::string, std::string> out;
  for (const auto& [name, bytes] : members) work.emplace_back(bytes.view(), &out[name]);
  parallel_for(threads, work.size(), [&](std::size_t i) { *work[i].second = io::sha256_hex(work[i].first); });
  return out;
}

}  // namespace

Image::Image() = default;
Image::Image(const Image&) = default;
Image::Image(Image&&) noexcept = default;
Image& Image::operator=(const Image&) = default;
Image& Image::operator=(Image&&) noexcept = default;
Image::~Image() = default;

Result<void> write_image(io::OutputFile& out, Image image, unsigned threads, TensorStore store) {
  Members members;
  image.device.netlist = image.netlist_name;
  image.device.tensors.clear();
  std::set<std::string> taken;
  BUDA_ASSIGN(const auto queues, Queues::of(image, store == TensorStore::tilized));
  for (const auto& [queue, tensor] : image.parameters) {
    BUDA_ASSIGN(auto stored, store_tensor(queue, tensor, queues.find(queue), store, tensor_stem(queue, taken)));
    members[stored.entry.bin] = std::move(stored.bytes);
    image.device.tensors.emplace(queue, std::move(stored.entry));
  }
  for (const auto& [name, bytes] : image.build) members[cat(kBuildFolder, name)] = bytes;
  for (const auto& [name, bytes] : image.extras) members[name] = bytes;
  members[image.netlist_name] = image.netlist;
  members[std::string(kDeviceFile)] = io::Bytes(io::json_pretty(device_json(image.device)));
  io::Node settings = io::Node::map();
  for (const auto& [key, value] : image.settings) settings.add(key, io::Node::string(value));
  members[std::string(kConfigFile)] = io::Bytes(io::json_pretty(settings));
  members[std::string(kChecksumFile)] = io::Bytes(checksum_text(digests_of(members, threads)));

  Members with_folder;
  for (auto& [name, bytes] : members) with_folder.emplace(cat(kTopFolder, name), std::move(bytes));
  return write_archive(out, with_folder);
}

Result<Members> read_members(const io::Bytes& bytes, const std::string& path) {
  BUDA_ASSIGN(auto all, read_archive(bytes, path));
  Members members;
  for (auto& [name, data] : all) {
    if (!name.starts_with(kTopFolder))
      return input_error("IM005", {path}, cat("not a TTI image: member '", name, "' is not in ", kTopFolder));
    members.emplace(name.substr(kTopFolder.size()), std::move(data));
  }
  BUDA_TRY(verify(members, path));
  return members;
}

Result<Image> read_image(const io::Bytes& bytes, const std::string& path) {
  BUDA_ASSIGN(auto members, read_members(bytes, path));
  return read_image(members, path);
}

namespace {

Result<io::Node> description_node(const Members& members, const std::string& path) {
  auto device_file = members.find(std::string(kDeviceFile));
  if (device_file == members.end()) return input_error("IM005", {path}, cat("not a TTI image: it has no ", kDeviceFile));
  return io::parse_json(device_file->second.view(), cat(path, ":", kDeviceFile));
}

Result<void> find_netlist(const Members& members, const DeviceJson& description, const std::string& path) {
  if (members.contains(description.netlist)) return success();
  return input_error("IM005", {path}, cat("the netlist '", description.netlist, "' named by ", kDeviceFile, " is missing"));
}

// A pickle is a program; who reads it runs it. They are named, so that nobody wonders.
void tell_of_pickles(Failure& failure, const Members& members) {
  std::vector<std::string> pickles;
  for (const auto& [name, bytes] : members)
    if (name.starts_with(kTensorFolder) && (name.ends_with(".pkl") || name.ends_with(".pickle"))) pickles.push_back(name);
  if (pickles.empty()) return;
  for (Diagnostic& d : failure.diagnostics())
    if (d.code == "IM006")
      d.notes.push_back({{},
                         cat(pickles.size(), pickles.size() == 1 ? " tensor is" : " tensors are", " pickled (", pickles.front(),
                             pickles.size() == 1 ? ")" : ", …)", ": pickles are programs, and none is executed here")});
}

}  // namespace

Result<DeviceJson> read_description(const Members& members, const std::string& path) {
  BUDA_ASSIGN(auto top, description_node(members, path));
  BUDA_ASSIGN(auto description, describe_device_json(top));
  BUDA_TRY(find_netlist(members, description, path));
  return description;
}

Result<std::map<std::string, std::string>> read_settings(const Members& members, const std::string& path) {
  std::map<std::string, std::string> out;
  auto file = members.find(std::string(kConfigFile));
  if (file == members.end()) return out;
  BUDA_ASSIGN(auto top, io::parse_json(file->second.view(), cat(path, ":", kConfigFile)));
  if (!top.is_map()) return io::node_error("IM005", top, "expected a map, found " + top.describe());
  for (std::size_t i = 0; i < top.size(); ++i)
    out[top.keys()[i]] = top.items()[i].is_scalar() ? top.items()[i].text() : io::json_line(top.items()[i]);
  return out;
}

Result<Image> read_image(const Members& members, const std::string& path) {
  BUDA_ASSIGN(auto top, description_node(members, path));
  Image image;
  auto device = read_device_json(top);
  if (!device) {
    tell_of_pickles(device.failure(), members);
    return std::move(device).failure();
  }
  image.device = std::move(*device);
  BUDA_ASSIGN(image.settings, read_settings(members, path));
  BUDA_TRY(find_netlist(members, image.device, path));
  const auto netlist = members.find(image.device.netlist);
  image.netlist_name = netlist->first;
  image.netlist = netlist->second;
  std::set<std::string> known = {std::string(kDeviceFile), std::string(kConfigFile), std::string(kChecksumFile), image.netlist_name};
  const auto& entries = image.device.tensors;
  BUDA_ASSIGN(const auto queues,
              Queues::of(image, std::any_of(entries.begin(), entries.end(), [](const auto& e) { return is_tilized(e.second); })));
  for (const auto& [queue, entry] : entries) {
    BUDA_ASSIGN(auto tensor, tensor_of_entry(queue, entry, members, queues.find(queue)));
    image.parameters.emplace(queue, std::move(tensor));
    known.insert(entry.bin);
  }
  for (const auto& [name, data] : members) {
    if (name == kDeviceMember || name == kClusterMember) {
      image.extras.emplace(name, data);
    } else if (name.starts_with(kBuildFolder)) {
      image.build.emplace(name.substr(kBuildFolder.size()), data);
    } else if (known.count(name) == 0) {
      image.extras.emplace(name, data);
    }
  }
  return image;
}

bool looks_like_image(std::string_view head) {
  constexpr std::size_t kTarMagic = 257;
  return head.starts_with("PK\x03\x04") || (head.size() >= kTarMagic + 5 && head.substr(kTarMagic, 5) == "ustar");
}

}  // namespace buda::image
