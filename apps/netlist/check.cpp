// SPDX-License-Identifier: Apache-2.0
// netlist check: many netlists validated side by side, with a line for each and architecture.
#include "apps/netlist/proof.hpp"
#include "apps/netlist/run.hpp"

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/liveness/liveness.hpp>
#include <buda/netlist/check/validate.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/overlay/usage.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace buda::netlist_tool {
namespace {

// Files are read one after the other and validated side by side; so many at once bound the memory.
constexpr std::size_t kBatch = 64;

struct FileVerdict {
  std::string file;
  std::optional<io::Bytes> bytes;
  netlist::Validation validation;
  std::map<std::string, std::vector<liveness::EpochLiveness>> epochs;  // by architecture, with --liveness
};

std::string verdict_word(const netlist::Verdict& v) { return v.accepted() ? "ok" : "refused"; }

std::string text_line(const FileVerdict& work, const netlist::Verdict& v) {
  std::string line = cat(shown_name(work.file), '\t', v.arch.empty() ? "-" : v.arch, '\t', verdict_word(v));
  if (!v.accepted()) line += cat('\t', join(v.codes, " "));
  const auto epochs = work.epochs.find(v.arch);
  return line + "\n" + (epochs == work.epochs.end() ? "" : proof_text(epochs->second));
}

std::string json_line(const FileVerdict& work, const netlist::Verdict& v) {
  io::Node line = io::Node::map();
  line.add("file", io::Node::string(shown_name(work.file)));
  if (!v.arch.empty()) line.add("arch", io::Node::string(v.arch));
  line.add("verdict", io::Node::string(verdict_word(v)));
  line.add("errors", io::Node::integer(static_cast<std::int64_t>(v.errors)));
  line.add("warnings", io::Node::integer(static_cast<std::int64_t>(v.warnings)));
  io::Node codes = io::Node::list();
  for (const auto& code : v.codes) codes.push(io::Node::string(code));
  line.add("codes", std::move(codes));
  if (auto epochs = work.epochs.find(v.arch); epochs != work.epochs.end()) line.add("epochs", proof_json(epochs->second));
  return io::json_line(line) + "\n";
}

// A file that cannot be read is refused like a bad one, so that the others are validated all the same.
void read(FileVerdict& work, Host& host) {
  auto bytes = host.fs().read(work.file);
  if (bytes) {
    work.bytes = std::move(*bytes);
    return;
  }
  work.validation.findings = std::move(bytes.failure().diagnostics());
  netlist::Verdict verdict;
  verdict.errors = work.validation.findings.size();
  for (const auto& d : work.validation.findings) verdict.codes.push_back(d.code);
  work.validation.verdicts.push_back(std::move(verdict));
}

// Whether the epochs end, in `work`, and why some do not.
std::vector<Diagnostic> deadlocks_on(FileVerdict& work, const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                                     Host& host) {
  auto epochs = liveness::check_liveness(netlist, device, host);
  if (!epochs) return epochs.failure().diagnostics();
  std::vector<Diagnostic> out;
  for (const auto& epoch : *epochs)
    if (epoch.deadlock) out.push_back(*epoch.deadlock);
  work.epochs[device.arch] = std::move(*epochs);
  return out;
}

// Why the netlist cannot be laid out, or deadlocks, on a device that breaks none of its rules; nothing when it can and does not, or when
// the device does not say enough for that.
std::vector<Diagnostic> misfits_on(FileVerdict& work, const std::string& arch, const Options& o, const netlist::ValidationDevices& devices,
                                   Host& host) {
  auto netlist = netlist::parse_netlist(work.bytes->view(), shown_name(work.file), {.arch = arch});
  if (!netlist) return netlist.failure().diagnostics();
  for (const device::DeviceDescriptor& device : devices.devices_for(*netlist)) {
    if (device.arch != arch || overlay::missing_description(device)) continue;
    if (o.liveness) return deadlocks_on(work, *netlist, device, host);
    auto compiler = overlay::EpochCompiler::make(*netlist, device, "", host);
    if (!compiler) return compiler.failure().diagnostics();
    if (auto usage = overlay::predict_usage(*compiler, host.threads); !usage) return usage.failure().diagnostics();
  }
  return {};
}

void add_misfits(FileVerdict& work, const Options& o, const netlist::ValidationDevices& devices, Host& host) {
  for (netlist::Verdict& verdict : work.validation.verdicts) {
    if (!verdict.accepted()) continue;
    std::set<std::string> codes;
    for (Diagnostic& d : misfits_on(work, verdict.arch, o, devices, host)) {
      ++verdict.errors;
      codes.insert(d.code);
      if (d.loc.file.empty()) d.loc.file = shown_name(work.file);
      if (work.validation.verdicts.size() > 1) d.notes.push_back({{d.loc.file}, cat("on ", verdict.arch)});
      work.validation.findings.push_back(std::move(d));
    }
    verdict.codes.assign(codes.begin(), codes.end());
  }
}

}  // namespace

Result<void> check(const Options& o, Host& host) {
  BUDA_ASSIGN(auto devices, netlist::ValidationDevices::make(host, o.device, static_cast<std::int32_t>(o.chips)));
  netlist::CheckOptions options;
  options.level = o.for_run ? netlist::CheckLevel::run : netlist::CheckLevel::compile;
  BUDA_ASSIGN(auto report, host.fs().create(o.output, host.write_mode));
  Failure failure;
  std::size_t refused = 0;
  for (std::size_t begin = 0; begin < o.files.size(); begin += kBatch) {
    host.progress("checking netlists", begin, o.files.size());
    std::vector<FileVerdict> batch(std::min(kBatch, o.files.size() - begin));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i].file = o.files[begin + i];
      read(batch[i], host);
    }
    parallel_for(host.threads, batch.size(), [&](std::size_t i) {
      FileVerdict& work = batch[i];
      if (work.bytes) work.validation = netlist::validate_netlist(work.bytes->view(), shown_name(work.file), devices, options);
      if (!o.fit && !o.liveness) work.bytes.reset();
    });
    for (FileVerdict& work : batch) {
      if (work.bytes) add_misfits(work, o, devices, host);
      work.bytes.reset();
      bool accepted = true;
      for (const auto& v : work.validation.verdicts) {
        accepted = accepted && v.accepted();
        BUDA_TRY(report->write(o.format == "json" ? json_line(work, v) : text_line(work, v)));
      }
      refused += accepted ? 0 : 1;
      for (Diagnostic& d : work.validation.findings) {
        if (d.severity == Severity::error)
          failure.add(std::move(d));
        else
          host.report(d);
      }
    }
  }
  BUDA_TRY(report->commit());
  if (o.files.size() > 1) host.log(1, cat(o.files.size(), " netlists, ", refused, " refused"));
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::netlist_tool
