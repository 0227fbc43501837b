// SPDX-License-Identifier: Apache-2.0
// What is seen is read again after each interval; keys take snapshots and dumps.
#include "apps/tt-smi/live.hpp"

#include "apps/tt-smi/draw.hpp"
#include "apps/tt-smi/snapshot.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/screen/text.hpp>

#include <optional>
#include <utility>

namespace buda::tt_smi {
namespace {

constexpr const char* kLogs = "tt-smi-logs";
constexpr const char* kStamp = "%Y-%m-%d_%H-%M-%S";

class Live {
 public:
  Live(const Options& options, const Outside& outside, Seen seen, cli::ToolHost& host)
      : o_(options), outside_(outside), host_(host), seen_(std::move(seen)), info_(outside.machine.host()), read_(seconds()) {}

  std::vector<screen::Line> draw(screen::Size size) {
    if (seconds() - read_ >= o_.interval) read();
    return tt_smi::draw({seen_, info_, outside_.machine.time("%Y-%m-%d %H:%M:%S"), message_}, view_, size);
  }

  bool press(screen::Key key, screen::Size size) {
    message_.clear();
    switch (tt_smi::press(view_, key, size)) {
      case Wish::nothing:
        return true;
      case Wish::snapshot:
        take_snapshot();
        return true;
      case Wish::dump:
        dump_begun_ ? end_dump() : begin_dump();
        return true;
      case Wish::quit:
        return false;
    }
    return true;
  }

  // A dump that has not been stopped is written, too.
  Result<void> end() { return dump_begun_ ? write() : success(); }

 private:
  double seconds() const { return outside_.machine.seconds(); }

  void read() {
    read_ = seconds();
    if (auto seen = look(o_.file, o_.device, outside_.machine, host_)) {
      seen_ = std::move(*seen);
    } else {
      message_ = message_of(seen.failure());
    }
    if (dump_begun_) add_reading(sheets_, read_ - *dump_begun_, seen_);
  }

  static std::string message_of(const Failure& failure) { return screen::safe_text(failure.diagnostics().front().message); }

  void take_snapshot() {
    const std::string path = snapshot_path(o_, outside_.machine);
    const auto done = write_snapshot(seen_, path, outside_.machine, host_);
    message_ = done ? cat("snapshot: ", screen::safe_text(path)) : message_of(done.failure());
  }

  void begin_dump() {
    dump_begun_ = seconds();
    folder_ = dump_folder(o_, outside_.machine);
    message_ = "dumping; D stops it";
  }

  void end_dump() {
    const auto done = write();
    message_ = done ? cat("dump: ", screen::safe_text(folder_)) : message_of(done.failure());
  }

  Result<void> write() {
    dump_begun_.reset();
    return write_dump(std::exchange(sheets_, {}), folder_, outside_.write_workbook, host_.temporary_dir, host_);
  }

  const Options& o_;
  const Outside& outside_;
  cli::ToolHost& host_;
  Seen seen_;
  HostInfo info_;
  View view_;
  std::string message_, folder_;
  double read_ = 0;
  std::optional<double> dump_begun_;
  std::vector<Sheet> sheets_;
};

}  // namespace

std::string snapshot_path(const Options& options, const Machine& machine) {
  return options.filename.empty() ? cat(kLogs, "/tt-smi-snapshot_", machine.time(kStamp)) : options.filename;
}

std::string dump_folder(const Options& options, const Machine& machine) {
  return options.dump_dir.empty() ? cat(kLogs, "/tt-smi-dump_", machine.time(kStamp)) : options.dump_dir;
}

Result<void> write_snapshot(const Seen& seen, const std::string& path, const Machine& machine, Host& host) {
  if (const auto slash = path.rfind('/'); slash != std::string::npos && slash > 0)
    BUDA_TRY(host.fs().make_directories(path.substr(0, slash)));
  return host.fs().write(path, io::json_pretty(schema::write(snapshot_of(seen, machine))), host.write_mode);
}

Result<void> show_live(const Options& options, const Outside& outside, Seen seen, cli::ToolHost& host) {
  Live live(options, outside, std::move(seen), host);
  screen::Session session;
  session.draw = [&](screen::Size size) { return live.draw(size); };
  session.press = [&](screen::Key key, screen::Size size) { return live.press(key, size); };
  session.color = host.color && !options.no_color;
  session.theme = options.theme == "dark" ? screen::Theme::on_light : screen::Theme::on_dark;
  session.interval = std::chrono::milliseconds(static_cast<std::int64_t>(options.interval * 1000));
  session.elsewhere = "--snapshot writes the same into a file";
  BUDA_TRY(outside.screen.show(session));
  return live.end();
}

}  // namespace buda::tt_smi
