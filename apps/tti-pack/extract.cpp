// Taking apart.
#include "apps/tti-pack/run.hpp"

#include <buda/base/text.hpp>
#include <buda/image/image.hpp>

#include <set>

namespace buda::tti_pack {

Result<void> extract(const Options& o, Host& host) {
  const std::string output = folder_path(o);
  if (output == io::kStdStream) return usage_error("TP001", "option -o: a folder cannot be written to standard output");
  BUDA_ASSIGN(auto bytes, host.fs().read(o.image));
  BUDA_ASSIGN(auto members, image::read_members(bytes, o.image));
  // Names are safe: read_members lets no others through.
  BUDA_TRY(host.fs().make_directories(output));
  std::set<std::string> made;
  std::size_t done = 0;
  for (const auto& [name, data] : members) {
    host.progress("extracting", done++, members.size());
    const std::string path = cat(output, '/', name);
    const std::string folder = path.substr(0, path.rfind('/'));
    if (made.insert(folder).second) BUDA_TRY(host.fs().make_directories(folder));
    BUDA_TRY(host.fs().write(path, data.view(), host.write_mode));
  }
  host.log(1, cat(members.size(), " files in ", output));
  return success();
}

}  // namespace buda::tti_pack
