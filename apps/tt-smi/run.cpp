// SPDX-License-Identifier: Apache-2.0
// Which of the modes it is.
#include "apps/tt-smi/run.hpp"

#include "apps/tt-smi/live.hpp"
#include "apps/tt-smi/reset.hpp"
#include "apps/tt-smi/seen.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <algorithm>
#include <utility>

namespace buda::tt_smi {
namespace {

// A reading at once, and one after each interval, until Enter or the end of the duration.
Result<void> dump(const Options& o, const Outside& outside, Seen seen, cli::ToolHost& host) {
  const std::string folder = dump_folder(o, outside.machine);
  if (!o.duration) host.log(0, "dumping; Enter ends it");
  const double begun = outside.machine.seconds();
  std::vector<Sheet> sheets;
  bool listens = true;
  add_reading(sheets, 0, seen);
  for (std::size_t n = 1;; ++n) {
    const double next = static_cast<double>(n) * o.interval;
    if (o.duration && next > *o.duration) break;
    const double wait = std::max(0.0, begun + next - outside.machine.seconds());
    const Input input = outside.machine.wait(wait, listens);
    if (input == Input::enter || (input == Input::end && !o.duration)) break;
    if (input == Input::end) {  // nobody is there: the duration counts
      listens = false;
      --n;
      continue;
    }
    // Of a file that is damaged meanwhile: what was read until then is still written.
    auto now = look(o.file, o.device, outside.machine, host);
    if (!now) {
      for (Diagnostic d : now.failure().diagnostics()) {
        d.severity = Severity::warning;
        host.report(d);
      }
      break;
    }
    add_reading(sheets, outside.machine.seconds() - begun, *now);
  }
  BUDA_TRY(write_dump(sheets, folder, outside.write_workbook, host.temporary_dir, host));
  host.log(0, cat("telemetry written to ", folder));
  return success();
}

Result<void> check(const Options& o) {
  const int modes = int{o.snapshot} + int{o.dump} + int{o.warm_reset} + int{o.mobo_reset};
  if (modes > 1) return usage_error("SI001", "--snapshot, --dump, --warm_reset and --mobo_nb_reset: only one at a time");
  if (o.duration && !o.dump) return usage_error("SI001", "option --duration needs --dump");
  return success();
}

}  // namespace

Result<void> run(const Options& o, const Outside& outside, cli::ToolHost& host) {
  BUDA_TRY(check(o));
  if (o.external) host.log(0, "there is no other version for --external: this one is external");
  BUDA_ASSIGN(Seen seen, look(o.file, o.device, outside.machine, host));
  if (o.warm_reset) return warm_reset(o, outside, seen, host);
  if (o.mobo_reset) return mobo_reset(o, outside, seen, host);
  if (o.dump) return dump(o, outside, std::move(seen), host);
  if (!o.snapshot && outside.screen.usable()) return show_live(o, outside, std::move(seen), host);
  if (!o.snapshot) return usage_error("SI005", "the live display needs a terminal; --snapshot or --dump write files");
  const std::string path = snapshot_path(o, outside.machine);
  BUDA_TRY(write_snapshot(seen, path, outside.machine, host));
  if (path != io::kStdStream) host.log(0, cat("snapshot written to ", path));
  return success();
}

}  // namespace buda::tt_smi
