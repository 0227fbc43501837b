// SPDX-License-Identifier: Apache-2.0
// Reads a netlist once and checks it on one device after the other.
#include <buda/netlist/check/validate.hpp>

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/netlist/text/parse.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace buda::netlist {
namespace {

Verdict verdict_of(const std::string& arch, const std::vector<Diagnostic>& found) {
  Verdict v;
  v.arch = arch;
  std::set<std::string> codes;
  for (const Diagnostic& d : found) {
    if (d.severity == Severity::error) {
      ++v.errors;
      codes.insert(d.code);
    } else if (d.severity == Severity::warning) {
      ++v.warnings;
    }
  }
  v.codes.assign(codes.begin(), codes.end());
  return v;
}

// Findings of several architectures as one list. Two are the same finding when they say the same of the same place.
class Merged {
 public:
  void add(const std::string& arch, std::vector<Diagnostic> found) {
    archs_.push_back(arch);
    for (Diagnostic& d : found) {
      auto key = std::make_tuple(d.loc.line, d.loc.column, d.code, d.message, static_cast<int>(d.severity));
      auto [it, is_new] = by_key_.try_emplace(std::move(key), list_.size());
      if (is_new) list_.push_back({std::move(d), {}});
      auto& who = list_[it->second].archs;
      if (who.empty() || who.back() != arch) who.push_back(arch);
    }
  }
  std::vector<Diagnostic> take() {
    std::vector<Diagnostic> out;
    for (auto& [d, who] : list_) {
      if (who.size() < archs_.size()) d.notes.push_back({{d.loc.file}, cat("on ", join(who, ", "), ", not on ", join(others(who), ", "))});
      out.push_back(std::move(d));
    }
    std::stable_sort(out.begin(), out.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.loc.line, a.loc.column) < std::tie(b.loc.line, b.loc.column);
    });
    return out;
  }

 private:
  struct Entry {
    Diagnostic diagnostic;
    std::vector<std::string> archs;
  };
  std::vector<std::string> others(const std::vector<std::string>& who) const {
    std::vector<std::string> out;
    for (const auto& arch : archs_)
      if (std::find(who.begin(), who.end(), arch) == who.end()) out.push_back(arch);
    return out;
  }

  std::vector<std::string> archs_;
  std::vector<Entry> list_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::string, std::string, int>, std::size_t> by_key_;
};

}  // namespace

std::int32_t chips_used(const Netlist& netlist) {
  std::int32_t last = 0;
  for (const Queue& q : netlist.queues) last = std::max(last, q.target_device);
  for (const Graph& g : netlist.graphs) {
    last = std::max(last, g.target_device);
    for (const Op& op : g.ops)
      if (op.type == OpType::ethernet_datacopy) last = std::max(last, op.attributes.dest_device);
  }
  return last + 1;
}

Result<ValidationDevices> ValidationDevices::make(Host& host, const std::string& device, std::int32_t chips) {
  ValidationDevices out;
  out.chips_ = chips;
  if (!device.empty()) {
    BUDA_ASSIGN(auto one, device::load_device(host, device));
    out.arch_ = one.arch;
    out.devices_.push_back(std::move(one));
    return out;
  }
  for (const std::string& arch : known_archs()) {
    BUDA_ASSIGN(auto full, device::load_device(host, arch));
    out.devices_.push_back(std::move(full));
  }
  return out;
}

std::vector<device::DeviceDescriptor> ValidationDevices::devices_for(const Netlist& netlist) const {
  std::vector<device::DeviceDescriptor> out;
  const auto wanted = arch_.empty() ? netlist.archs : std::vector<std::string>{arch_};
  for (const auto& arch : wanted)
    for (const auto& d : devices_)
      if (d.arch == arch) out.push_back(d);
  for (auto& d : out)
    if (chips_ > 0 || arch_.empty()) d.chips = chips_ > 0 ? chips_ : std::max(d.chips, chips_used(netlist));
  return out;
}

Validation validate_netlist(std::string_view text, const std::string& file, const ValidationDevices& devices, const CheckOptions& options) {
  Validation out;
  auto netlist = parse_netlist(text, file, {.arch = devices.arch(), .any_arch = true});
  if (!netlist) {
    out.findings = std::move(netlist.failure().diagnostics());
    out.verdicts.push_back(verdict_of(devices.arch(), out.findings));
    return out;
  }
  Merged merged;
  for (const auto& device : devices.devices_for(*netlist)) {
    netlist->arch = device.arch;
    auto found = check_netlist(*netlist, device, options);
    out.verdicts.push_back(verdict_of(device.arch, found));
    merged.add(device.arch, std::move(found));
  }
  out.findings = merged.take();
  return out;
}

}  // namespace buda::netlist
