// tti-pack info: says what an image holds.
#include "apps/tti-pack/image_info.hpp"
#include "apps/tti-pack/run.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/text/parse.hpp>

namespace buda::tti_pack {

Result<void> info(const Options& o, Host& host) {
  BUDA_ASSIGN(auto bytes, host.fs().read(o.image));
  BUDA_ASSIGN(auto members, image::read_members(bytes, o.image));
  BUDA_ASSIGN(auto image, image::read_image(members, o.image));
  netlist::ParseOptions options;
  options.arch = image.device.plan.arch;
  BUDA_ASSIGN(auto netlist, netlist::parse_netlist(image.netlist.view(), cat(o.image, ":", image.netlist_name), options));
  BUDA_ASSIGN(auto description, image_info(image, members, netlist, bytes.size()));
  return host.fs().write(std::string(io::kStdStream), o.json ? io::json_pretty(schema::write(description)) : image_info_text(description));
}

}  // namespace buda::tti_pack
