// Choosing among a netlist's architectures.
#include <buda/runtime/bare_netlist.hpp>

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/netlist/check.hpp>
#include <buda/netlist/parse.hpp>

#include <algorithm>

namespace buda::runtime {
namespace {

using device::DeviceDescriptor;
using netlist::Netlist;

constexpr const char* kStandIn = "wormhole_b0";
// With descriptors first; the order in which they are preferred.
constexpr const char* kArchs[] = {"wormhole_b0", "grayskull", "wormhole", "blackhole"};

bool has_descriptor(const std::string& arch) { return arch == "wormhole_b0" || arch == "grayskull"; }

std::int32_t chips_of(const Netlist& netlist) {
  std::int32_t last = 0;
  for (const auto& g : netlist.graphs) {
    last = std::max(last, g.target_device);
    for (const auto& op : g.ops) last = std::max(last, op.attributes.dest_device);  // of ethernet copies
  }
  for (const auto& q : netlist.queues) last = std::max(last, q.target_device);
  return last + 1;
}

Result<BareNetlist> checked(Host& host, Netlist netlist, DeviceDescriptor device, bool shapes_only) {
  Failure failure;
  for (auto& d : netlist::check_netlist(netlist, device)) {
    if (shapes_only && !d.code.starts_with("NL4")) continue;
    if (d.severity == Severity::error) {
      failure.add(std::move(d));
    } else {
      host.report(d);
    }
  }
  if (!failure.empty()) return failure;
  return BareNetlist{std::move(netlist), std::move(device)};
}

Result<BareNetlist> on_full_grid(Host& host, Netlist netlist) {
  const bool known = has_descriptor(netlist.arch);
  BUDA_ASSIGN(auto device, device::load_device(host, known ? netlist.arch : kStandIn));
  device.chips = std::max(device.chips, chips_of(netlist));
  if (!known) {
    device.arch = netlist.arch;
    Diagnostic d = warning("RT025", {netlist.file},
                           cat("there is no device of architecture ", netlist.arch, "; the netlist runs as on ", kStandIn,
                               ", and only its shapes are checked"));
    d.hint = "--device FILE names one";
    host.report(d);
  }
  return checked(host, std::move(netlist), std::move(device), !known);
}

}  // namespace

Result<BareNetlist> load_bare_netlist(Host& host, std::string_view text, const std::string& file, std::optional<DeviceDescriptor> device) {
  netlist::ParseOptions options;
  if (device) {
    options.arch = device->arch;
    BUDA_ASSIGN(auto netlist, netlist::parse_netlist(text, file, options));
    return checked(host, std::move(netlist), std::move(*device), false);
  }
  auto netlist = netlist::parse_netlist(text, file, options);
  if (netlist) return on_full_grid(host, std::move(*netlist));
  if (netlist.failure().diagnostics().front().code != "NL007") return netlist.failure();
  std::optional<Failure> reasons;
  for (const char* arch : kArchs) {
    options.arch = arch;
    netlist = netlist::parse_netlist(text, file, options);
    if (!netlist) {
      if (netlist.failure().diagnostics().front().code == "NL007") continue;  // not one of the netlist's
      return netlist.failure();
    }
    // Where there is a choice, nothing is run unchecked.
    if (reasons && !has_descriptor(arch)) break;
    auto found = on_full_grid(host, std::move(*netlist));
    if (found) return found;
    if (!reasons) reasons = found.failure();
  }
  if (reasons) return std::move(*reasons);
  return netlist.failure();
}

}  // namespace buda::runtime
