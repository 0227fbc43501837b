// The layout of images.
#include <buda/image/image.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/image/checksum.hpp>
#include <buda/io/json.hpp>

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
std::string tensor_member(const std::string& name, std::set<std::string>& taken) {
  std::string safe;
  for (char c : name) {
    bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    safe += keep ? c : '_';
  }
  std::string stem = cat(kTensorFolder, "torch.Tensor.", safe);
  std::string member = stem + ".bin";
  for (int n = 2; !taken.insert(member).second; ++n) member = cat(stem, '_', n, ".bin");
  return member;
}

Result<TensorEntry> entry_for(const std::string& queue, const Tensor& tensor, std::string member) {
  auto format = host_format(tensor.dtype());
  if (!format)
    return input_error(
        "IM007", {},
        cat("parameter for queue '", queue, "': elements of type ", dtype_name(tensor.dtype()), " cannot be stored in an image"));
  TensorEntry entry;
  entry.bin = std::move(member);
  entry.itemsize = static_cast<std::int64_t>(dtype_size(tensor.dtype()));
  entry.shape = tensor.shape().dims();
  for (auto stride : tensor.shape().strides()) entry.strides.push_back(stride * entry.itemsize);
  entry.dim = static_cast<std::int64_t>(tensor.shape().rank());
  entry.format = *format;
  return entry;
}

Result<Tensor> tensor_from(const std::string& queue, const TensorEntry& entry, const Members& members) {
  auto wrong = [&](const std::string& why) {
    return input_error("IM007", {std::string(kDeviceFile)}, cat("tensor for queue '", queue, "': ", why));
  };
  auto dtype = dtype_of_host_format(entry.format);
  if (!dtype) return wrong(cat("format '", entry.format, "' is not one that a host tensor can have"));
  if (entry.itemsize != static_cast<std::int64_t>(dtype_size(*dtype)))
    return wrong(cat("an itemsize of ", entry.itemsize, " does not belong to ", entry.format));
  Shape shape(entry.shape);
  if (entry.dim != static_cast<std::int64_t>(entry.shape.size()))
    return wrong(cat("dim is ", entry.dim, ", but the shape is ", shape.text()));
  auto size = tensor_bytes(*dtype, shape);
  if (!size) return wrong(cat("the shape ", shape.text(), " has no volume"));
  std::vector<std::int64_t> strides;
  for (auto stride : shape.strides()) strides.push_back(stride * entry.itemsize);
  if (strides != entry.strides)
    return wrong(cat("strides are ", list_text(entry.strides), ", row-major ones would be ", list_text(strides)));
  auto member = members.find(entry.bin);
  if (member == members.end()) return wrong(cat("member '", entry.bin, "' is missing"));
  if (static_cast<std::uint64_t>(*size) != member->second.size())
    return wrong(cat("member '", entry.bin, "' has ", member->second.size(), " bytes, the shape ", shape.text(), " needs ", *size));
  return Tensor::from_bytes(*dtype, std::move(shape), member->second);
}

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
    } else if (sha256_hex(member->second.view()) != digest) {
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
  parallel_for(threads, work.size(), [&](std::size_t i) { *work[i].second = sha256_hex(work[i].first); });
  return out;
}

}  // namespace

Result<void> write_image(io::OutputFile& out, Image image, unsigned threads) {
  Members members;
  image.device.netlist = image.netlist_name;
  image.device.tensors.clear();
  std::set<std::string> taken;
  for (const auto& [queue, tensor] : image.parameters) {
    BUDA_ASSIGN(auto entry, entry_for(queue, tensor, tensor_member(queue, taken)));
    // The view keeps its tensor alive.
    members[entry.bin] = io::Bytes(std::make_shared<Tensor>(tensor), tensor.bytes());
    image.device.tensors.emplace(queue, std::move(entry));
  }
  for (const auto& [name, bytes] : image.build) members[cat(kBuildFolder, name)] = bytes;
  for (const auto& [name, bytes] : image.extras) members[name] = bytes;
  members[image.netlist_name] = image.netlist;
  members[std::string(kDeviceFile)] = io::Bytes(io::json_pretty(device_json(image.device)));
  members[std::string(kConfigFile)] = io::Bytes(std::string("{}\n"));

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

Result<Image> read_image(const Members& members, const std::string& path) {
  auto device_file = members.find(std::string(kDeviceFile));
  if (device_file == members.end()) return input_error("IM005", {path}, cat("not a TTI image: it has no ", kDeviceFile));
  BUDA_ASSIGN(auto top, io::parse_json(device_file->second.view(), cat(path, ":", kDeviceFile)));
  Image image;
  BUDA_ASSIGN(image.device, read_device_json(top));
  auto netlist = members.find(image.device.netlist);
  if (netlist == members.end())
    return input_error("IM005", {path}, cat("the netlist '", image.device.netlist, "' named by ", kDeviceFile, " is missing"));
  image.netlist_name = netlist->first;
  image.netlist = netlist->second;
  std::set<std::string> known = {std::string(kDeviceFile), std::string(kConfigFile), std::string(kChecksumFile), image.netlist_name};
  for (const auto& [queue, entry] : image.device.tensors) {
    BUDA_ASSIGN(auto tensor, tensor_from(queue, entry, members));
    image.parameters.emplace(queue, std::move(tensor));
    known.insert(entry.bin);
  }
  for (const auto& [name, data] : members) {
    if (name.starts_with(kBuildFolder)) {
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
