// SPDX-License-Identifier: Apache-2.0
// Members of an archive.
#include "archive.hpp"

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>
#include <buda/tensor/files/zip.hpp>

namespace buda::torchscript {
namespace {

constexpr std::string_view kSaveIt = "save the model with torch.jit.save(torch.jit.trace(model.eval(), example_inputs), FILE)";

Diagnostic refused(const Archive& archive, std::string message) {
  Diagnostic d = archive.error("TS001", std::move(message));
  d.hint = kSaveIt;
  return d;
}

}  // namespace

const io::Bytes* Archive::find(const std::string& path) const {
  auto it = members.find(path);
  return it == members.end() ? nullptr : &it->second;
}

Diagnostic Archive::error(std::string_view code, std::string message) const { return input_error(code, {file}, std::move(message)); }

bool begins_like_archive(std::string_view head) {
  constexpr std::size_t kNameAt = 30, kNameLengthAt = 26;
  if (!head.starts_with("PK\x03\x04") || head.size() < kNameAt) return false;
  auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(head[at])); };
  const std::string_view name = head.substr(kNameAt, byte(kNameLengthAt) | byte(kNameLengthAt + 1) << 8);
  for (std::string_view first : {"/data.pkl", "/data/0", "/version", "/byteorder", "/.format_version", "/constants.pkl", "/constants/0"})
    if (name.ends_with(first)) return true;
  return name.find("/code/__torch__") != std::string_view::npos;
}

Result<Archive> read_archive(const plugin::ModelSource& source) {
  Archive archive;
  archive.file = source.path == io::kStdStream ? "<stdin>" : source.path.substr(source.path.rfind('/') + 1);
  if (source.bytes.view().starts_with("\x80\x02"))
    return refused(archive, "is a pickle of an old version of torch.save, which holds Python objects and not a program");
  BUDA_ASSIGN(auto members, parse_zip(source.bytes, source.path == io::kStdStream ? archive.file : source.path));
  for (auto& member : members) {
    const auto slash = member.name.find('/');
    archive.members.emplace(slash == std::string::npos ? member.name : member.name.substr(slash + 1), std::move(member.content));
  }
  if (archive.find("data.pkl") == nullptr) return refused(archive, "is a zip file without 'data.pkl': not an archive of PyTorch");
  if (auto code = archive.members.lower_bound("code/"); code == archive.members.end() || !code->first.starts_with("code/"))
    return refused(archive, "has tensors but no code: it is an archive of torch.save, not of torch.jit.save");
  if (const auto* order = archive.find("byteorder"); order != nullptr && order->view() != "little")
    return archive.error("TS001", cat("has numbers in byte order '", order->view().substr(0, 20), "'; 'little' is supported"));
  return archive;
}

}  // namespace buda::torchscript
