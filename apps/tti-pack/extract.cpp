// SPDX-License-Identifier: Apache-2.0
// Taking apart.
#include "apps/tti-pack/run.hpp"

#include <buda/base/text.hpp>
#include <buda/image/image.hpp>
#include <buda/io/folder_product.hpp>

namespace buda::tti_pack {

Result<void> extract(const Options& o, Host& host) {
  const std::string output = folder_path(o);
  if (output == io::kStdStream) return usage_error("TP001", "option -o: a folder cannot be written to standard output");
  BUDA_ASSIGN(auto bytes, host.fs().read(o.image));
  BUDA_ASSIGN(auto members, image::read_members(bytes, o.image));
  // Names are safe: read_members lets no others through.
  BUDA_ASSIGN(auto folder, io::FolderProduct::begin(host.fs(), output, {.entry = "", .adds = false, .mode = host.write_mode}));
  std::size_t done = 0;
  for (const auto& [name, data] : members) {
    host.progress("extracting", done++, members.size());
    BUDA_TRY(folder->write(name, data.view()));
  }
  BUDA_TRY(folder->commit());
  host.log(1, cat(members.size(), " files in ", output));
  return success();
}

}  // namespace buda::tti_pack
