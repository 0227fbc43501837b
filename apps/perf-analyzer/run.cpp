// SPDX-License-Identifier: Apache-2.0
// Load, then save, print or show.
#include "apps/perf-analyzer/run.hpp"

#include "apps/perf-analyzer/draw.hpp"
#include "apps/perf-analyzer/load.hpp"
#include "apps/perf-analyzer/print.hpp"
#include "apps/perf-analyzer/trials.hpp"

#include <buda/io/json.hpp>

namespace buda::perf_analyzer {
namespace {

Result<void> show_run(const Options& o, const Run& run, const Screen& screen, const cli::ToolHost& host) {
  View view;
  view.full_names = o.full_names;
  screen::Session session;
  session.draw = [&](Size size) { return draw(run, view, size); };
  session.press = [&](Key key, Size size) {
    view = press(run, view, key, size);
    return !view.quit;
  };
  session.color = host.color && !o.no_color;
  session.elsewhere = "--print writes the tables as text";
  return screen.show(session);
}

}  // namespace

Result<void> run(const Options& o, const Screen& screen, cli::ToolHost& host) {
  if (!o.load.empty() && o.folder != ".") return usage_error("AN003", "a folder and --load: only one of them can be shown");
  if (o.graph.empty() && !o.settings.empty()) return usage_error("AN007", "option --settings needs --graph");
  if (!o.graph.empty() && o.spatial_epochs)
    return usage_error("AN007", "options --graph and --spatial-epochs: what is placed anew is the epochs of one chip");
  if (o.json && o.spatial_epochs) return usage_error("AN007", "options --json and --spatial-epochs: the report has the epochs that ran");
  BUDA_ASSIGN(Run run, load(o, host));
  if (!o.graph.empty()) BUDA_TRY(try_advice(o, run, host));
  if (!o.save.empty()) {
    BUDA_TRY(host.fs().write(o.save, io::json_pretty(schema::write(run.report)), host.write_mode));
    if (!o.print && !o.json) return success();
  }
  if (o.json) return host.fs().write(std::string(io::kStdStream), io::json_pretty(schema::write(run.report)), host.write_mode);
  if (!o.print && screen.usable()) return show_run(o, run, screen, host);
  return host.fs().write(std::string(io::kStdStream), printed(run, o.full_names), host.write_mode);
}

}  // namespace buda::perf_analyzer
