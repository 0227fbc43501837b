// Reads pipes, makes stream programs, writes them.
#include "apps/pipegen/run.hpp"

#include <buda/base/text.hpp>
#include <buda/device/load.hpp>
#include <buda/overlay/blob_file.hpp>
#include <buda/overlay/build.hpp>
#include <buda/overlay/report.hpp>
#include <buda/pipes/pipegen_file.hpp>

#include <algorithm>

namespace buda::pipegen {
namespace {

// The document of a pipe or a buffer in the file: what a diagnostic of the stream programs is about.
SourceLoc place_of(const Diagnostic& d, std::string_view text, const std::string& file) {
  for (std::string_view kind : {"pipe", "buffer"})
    for (const auto& [key, value] : d.data) {
      if (key != kind) continue;
      std::string head = cat('\n', kind, '_', value, ':');
      auto at = text.find(head);
      if (at == std::string_view::npos) continue;
      return {file, static_cast<std::uint32_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 2, 1};
    }
  return {file, 0, 0};
}

}  // namespace

Result<void> run(const Options& o, Host& host) {
  if (o.output.empty()) return usage_error("PG040", "option -o FILE is missing: where should the stream programs go?");
  BUDA_ASSIGN(auto device, device::load_device(host, o.device));
  std::string file = o.pipes == io::kStdStream ? "<stdin>" : o.pipes;
  BUDA_ASSIGN(auto bytes, host.fs().read(o.pipes));
  BUDA_ASSIGN(auto graph, pipes::parse_pipegen(bytes.view(), file));
  auto blob = overlay::build_blob(graph, device);
  if (!blob) {
    for (Diagnostic& d : blob.failure().diagnostics())
      if (d.loc.file.empty()) d.loc = place_of(d, bytes.view(), file);
    return std::move(blob).failure();
  }
  BUDA_ASSIGN(auto out, host.fs().create(o.output, host.write_mode));
  if (o.format == "yaml") {
    BUDA_TRY(overlay::write_blob_yaml(*blob, graph, device, static_cast<std::uint32_t>(o.epoch), *out));
  } else {
    BUDA_TRY(overlay::write_blob(*blob, *out));
  }
  BUDA_TRY(out->commit());
  if (!o.report.empty()) {
    overlay::Report report = overlay::make_report(*blob, device);
    bool json = o.report.ends_with(".json");
    BUDA_TRY(host.fs().write(o.report, json ? overlay::report_json(report, *blob) : overlay::report_text(report, *blob, device),
                             host.write_mode));
  }
  std::size_t streams = 0;
  std::int64_t phases = 0;
  for (const auto& core : blob->cores) {
    streams += core.streams.size();
    phases += core.phases();
  }
  host.log(1, cat(blob->cores.size(), " cores, ", streams, " streams, ", phases, " phases"));
  return success();
}

}  // namespace buda::pipegen
