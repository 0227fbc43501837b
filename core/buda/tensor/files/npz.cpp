// SPDX-License-Identifier: Apache-2.0
// .npz: arrays as members of a zip archive.
#include <buda/tensor/files/npz.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/files/npy.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace buda {
namespace {

constexpr std::string_view kMemberEnding = ".npy";

}  // namespace

Result<NamedTensors> parse_npz(const io::Bytes& bytes, const std::string& path) {
  BUDA_ASSIGN(std::vector<ZipMember> members, parse_zip(bytes, path));
  NamedTensors tensors;
  Failure failure;
  bool is_other = false;
  for (const ZipMember& member : members) {
    if (!member.name.ends_with(kMemberEnding)) {
      // One is enough to tell that it is another archive.
      if (!std::exchange(is_other, true))
        failure.add(
            input_error("TN021", {path}, cat("is a zip archive, but not an .npz file: its member '", member.name, "' is not a .npy file")));
      continue;
    }
    auto tensor = parse_npy(member.content, path);
    if (!tensor) {
      for (Diagnostic& d : tensor.failure().diagnostics()) d.message = cat("member '", member.name, "': ", d.message);
      failure.add(std::move(tensor).failure());
      continue;
    }
    tensors.emplace(member.name.substr(0, member.name.size() - kMemberEnding.size()), std::move(*tensor));
  }
  if (!failure.empty()) return failure;
  return tensors;
}

Result<void> write_npz(io::OutputFile& out, const NamedTensors& tensors, ZipMethod method, const std::vector<std::string>& first) {
  std::vector<std::string> names;
  for (const std::string& name : first)
    if (tensors.contains(name) && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  const std::set<std::string> placed(names.begin(), names.end());
  for (const auto& [name, tensor] : tensors)
    if (!placed.contains(name)) names.push_back(name);
  ZipWriter zip(out);
  for (const std::string& name : names) {
    const Tensor& tensor = tensors.at(name);
    std::string header = npy_header(tensor);
    const std::string_view pieces[] = {header, tensor.bytes()};
    BUDA_TRY(zip.add(cat(name, kMemberEnding), pieces, method));
  }
  return zip.finish();
}

}  // namespace buda
