// SPDX-License-Identifier: Apache-2.0
// tti-pack info: says what an image holds.
#include "apps/tti-pack/image_info.hpp"
#include "apps/tti-pack/run.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/netlist/text/parse.hpp>

#include <utility>

namespace buda::tti_pack {
namespace {

bool is_ours(const image::DeviceJson& description) { return !description.plan.segments.empty() || !description.models.empty(); }

}  // namespace

Result<void> info(const Options& o, Host& host) {
  BUDA_ASSIGN(auto bytes, host.fs().read(o.image));
  BUDA_ASSIGN(auto members, image::read_members(bytes, o.image));
  BUDA_ASSIGN(auto description, image::read_description(members, o.image));
  // Images of TT-Buda can be shown, though not run; ours are read as the runner reads them.
  if (is_ours(description)) BUDA_TRY(image::read_image(members, o.image));
  BUDA_ASSIGN(auto settings, image::read_settings(members, o.image));
  netlist::ParseOptions options;
  options.arch = description.plan.arch;
  BUDA_ASSIGN(auto netlist,
              netlist::parse_netlist(members.at(description.netlist).view(), cat(o.image, ":", description.netlist), options));
  BUDA_ASSIGN(auto shown, image_info(description, members, netlist, std::move(settings), bytes.size()));
  return host.fs().write(std::string(io::kStdStream), o.json ? io::json_pretty(schema::write(shown)) : image_info_text(shown));
}

}  // namespace buda::tti_pack
