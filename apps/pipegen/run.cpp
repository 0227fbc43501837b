// SPDX-License-Identifier: Apache-2.0
// The pipes of one epoch, or of all in a folder: reads, compiles, writes.
#include "apps/pipegen/run.hpp"

#include "apps/pipegen/stream_programs.hpp"

#include <buda/base/text.hpp>
#include <buda/diag/parallel_results.hpp>
#include <buda/io/folder_product.hpp>
#include <buda/movers/lower.hpp>
#include <buda/movers/text.hpp>
#include <buda/overlay/blob/blob_file.hpp>
#include <buda/overlay/reports/report.hpp>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <string_view>
#include <vector>

namespace buda::pipegen {
namespace {

Result<void> write_blob(const StreamPrograms& made, const std::string& format, std::int64_t epoch, io::OutputFile& out) {
  if (format == "yaml") return overlay::write_blob_yaml(made.blob, made.pipes.graph, made.device, static_cast<std::uint32_t>(epoch), out);
  if (format == "movers") {
    BUDA_ASSIGN(const auto tables, movers::lower(made.blob, {}));
    return out.write(movers::text_of(tables, made.blob, made.device));
  }
  return overlay::write_blob(made.blob, out);
}

Result<void> write_report(const StreamPrograms& made, const std::string& path, Host& host) {
  const overlay::Report report = overlay::make_report(made.blob, made.device, made.cluster.eth_core);
  const std::string text = path.ends_with(".json")  ? overlay::report_json(report, made.blob)
                           : path.ends_with(".svg") ? overlay::report_svg(report, made.blob, made.device)
                                                    : overlay::report_text(report, made.blob, made.device);
  return host.fs().write(path, text, host.write_mode);
}

// What --verbose tells of stream programs.
struct Totals {
  std::size_t cores = 0, streams = 0;
  std::int64_t phases = 0;

  void add(const overlay::Blob& blob) {
    cores += blob.cores.size();
    for (const auto& core : blob.cores) {
      streams += core.streams.size();
      phases += core.phases();
    }
  }
  std::string text() const { return cat(cores, " cores, ", streams, " streams, ", phases, " phases"); }
};

Result<void> run_file(Options& o, Host& host) {
  o.products = {output_path(o)};
  const std::string file = o.pipes == io::kStdStream ? "<stdin>" : o.pipes;
  host.progress("reading pipes", 0, 0);
  BUDA_ASSIGN(auto bytes, host.fs().read(o.pipes));
  host.progress("making stream programs", 0, 0);
  std::mutex files;
  Devices devices(o, host, files);
  BUDA_ASSIGN(const auto made, compile(bytes, file, !o.cluster.empty(), devices));
  host.progress("writing", 0, 0);
  BUDA_ASSIGN(auto out, host.fs().create(output_path(o), host.write_mode));
  BUDA_TRY(write_blob(made, o.format, o.epoch, *out));
  BUDA_TRY(out->commit());
  if (!o.report.empty()) BUDA_TRY(write_report(made, o.report, host));
  Totals totals;
  totals.add(made.blob);
  host.log(1, totals.text());
  return success();
}

// An epoch in a folder of netlist2pipe.
struct Epoch {
  std::int64_t number = 0;
  std::string pipes, blob;
};

constexpr std::string_view kEpochFolder = "temporal_epoch_";

Result<std::vector<Epoch>> epochs_of(const Options& o, io::FileSystem& fs) {
  BUDA_TRY(io::require_whole(fs, o.pipes));
  BUDA_ASSIGN(const auto names, fs.list(o.pipes));
  std::vector<Epoch> out;
  for (const std::string& name : names) {
    if (!name.starts_with(kEpochFolder)) continue;
    Epoch epoch;
    const char* end = name.data() + name.size();
    auto [rest, error] = std::from_chars(name.data() + kEpochFolder.size(), end, epoch.number);
    if (error != std::errc() || rest != end) continue;
    const std::string overlay = cat('/', name, "/overlay/");
    epoch.pipes = cat(o.pipes, overlay, fs.exists(cat(o.pipes, overlay, "pipes.json")) ? "pipes.json" : "pipegen.yaml");
    epoch.blob = cat(o.output.empty() ? o.pipes : o.output, overlay,
                     o.format == "yaml"     ? "blob.yaml"
                     : o.format == "movers" ? "movers.txt"
                                            : "blob.json");
    out.push_back(std::move(epoch));
  }
  std::sort(out.begin(), out.end(), [](const Epoch& a, const Epoch& b) { return a.number < b.number; });
  // Of a netlist that executes nothing, netlist2pipe writes this file only.
  if (out.empty() && !fs.exists(o.pipes + "/netlist_queues.yaml")) {
    Diagnostic d = input_error("OV042", {o.pipes, 0, 0}, "the folder has no epochs");
    d.hint = "give the folder that netlist2pipe has written, or the pipes of one epoch";
    return d;
  }
  return out;
}

Result<void> check_options_of_folder(const Options& o) {
  if (!o.report.empty()) return usage_error("OV043", "option --report: a report is about one epoch; give the pipes of that epoch");
  if (o.epoch != 0) return usage_error("OV043", "option --epoch: the epochs of a folder have their numbers from their names");
  return success();
}

// The file system works in one thread at a time; the work between reading and committing is shared.
Result<void> run_folder(Options& o, Host& host) {
  BUDA_TRY(check_options_of_folder(o));
  BUDA_ASSIGN(const auto epochs, epochs_of(o, host.fs()));
  if (!o.output.empty())
    for (const Epoch& epoch : epochs) BUDA_TRY(host.fs().make_directories(epoch.blob.substr(0, epoch.blob.rfind('/'))));
  std::mutex files;
  Devices devices(o, host, files);
  std::size_t ended = 0;
  Totals totals;
  host.progress("making stream programs", 0, epochs.size());
  auto compile_epoch = [&](const Epoch& epoch) -> Result<std::string> {
    std::unique_lock lock(files);
    BUDA_ASSIGN(auto bytes, host.fs().read(epoch.pipes));
    lock.unlock();
    BUDA_ASSIGN(const auto made, compile(bytes, epoch.pipes, !o.cluster.empty(), devices));
    lock.lock();
    BUDA_ASSIGN(auto out, host.fs().create(epoch.blob, host.write_mode));
    lock.unlock();
    BUDA_TRY(write_blob(made, o.format, epoch.number, *out));
    lock.lock();
    BUDA_TRY(out->commit());
    totals.add(made.blob);
    host.progress("making stream programs", ++ended, epochs.size());
    return epoch.blob;
  };
  BUDA_ASSIGN(o.products, parallel_results(host.threads, epochs.size(), [&](std::size_t i) { return compile_epoch(epochs[i]); }));
  // A depfile's rule is for something.
  if (epochs.empty()) o.products.push_back(o.output.empty() ? o.pipes : o.output);
  host.log(1, cat(epochs.size(), epochs.size() == 1 ? " epoch: " : " epochs: ", totals.text()));
  return success();
}

}  // namespace

Result<void> run(Options& o, Host& host) {
  return o.pipes != io::kStdStream && host.fs().is_directory(o.pipes) ? run_folder(o, host) : run_file(o, host);
}

}  // namespace buda::pipegen
