// SPDX-License-Identifier: Apache-2.0
// Writing to standard error. Time decides only whether a bar is drawn, never what a product holds.
#include <buda/cli/terminal.hpp>

#include <buda/base/printable.hpp>
#include <buda/base/text.hpp>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace buda::cli {
namespace {

constexpr auto kBarAfter = std::chrono::seconds(1);
constexpr auto kTellEvery = std::chrono::milliseconds(100), kRedrawEvery = std::chrono::milliseconds(250);

// Of the terminal; eighty where it does not say.
std::size_t columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

spdlog::level::level_enum log_level(int level) {
  return level <= 0 ? spdlog::level::warn : level == 1 ? spdlog::level::info : spdlog::level::debug;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

// A dumb terminal shows escape sequences as they are.
bool wants_color() { return !is_set("NO_COLOR") && (!is_set("TERM") || std::string_view(std::getenv("TERM")) != "dumb"); }

// Log lines share standard error with diagnostics and the bar, so they leave by the same door and in the same form. Time and thread are not
// shown: two runs of the same command say the same.
class Terminal::LogSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit LogSink(Terminal& terminal) : terminal_(terminal) {
    set_formatter(std::make_unique<spdlog::pattern_formatter>("%n: %v", spdlog::pattern_time_type::local, "\n"));
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (terminal_.json_) {
      terminal_.write_lines(format_json(note("", {}, std::string(message.payload.data(), message.payload.size()))));
      return;
    }
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    terminal_.write_lines(printable({line.data(), line.size()}, Lines::kept));
  }
  void flush_() override {}

  Terminal& terminal_;
};

Terminal::Terminal(std::string program)
    : program_(std::move(program)),
      terminal_(::isatty(STDERR_FILENO) != 0),
      color_(terminal_ && wants_color()),
      started_(Clock::now()),
      last_told_(started_),
      logger_(std::make_shared<spdlog::logger>(program_, std::make_shared<LogSink>(*this))) {
  set_verbosity(0);
}

void Terminal::set_verbosity(int level) {
  quiet_ = level < 0;
  logger_->set_level(level < 0 ? spdlog::level::err : log_level(level));
}

void Terminal::write(std::string_view text) {
  while (!text.empty()) {
    ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;  // nobody listens
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

void Terminal::write_lines(std::string_view text) {
  std::lock_guard lock(mutex_);
  hide_bar();
  write(text);
}

void Terminal::report(const Diagnostic& d) {
  if (quiet_ && d.severity != Severity::error) return;
  const Diagnostic said = wording_ ? wording_(d) : d;
  write_lines(json_ ? format_json(said) : format_text(said, {color_, program_}, source_));
}

void Terminal::log(int level, std::string_view message) {
  logger_->log(log_level(level), spdlog::string_view_t(message.data(), message.size()));
}

void Terminal::progress(std::string_view what, std::size_t done, std::size_t total) {
  const bool as_json = form_ == ProgressForm::json;
  if (quiet_ || (!as_json && (form_ == ProgressForm::off || !terminal_ || json_))) return;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  work_.at(what, done, total, seconds(now));
  if (!work_.turned() && now - last_told_ < kTellEvery) return;
  last_told_ = now;
  if (as_json) {
    write(work_.json(program_, seconds(now)));
    return;
  }
  draw_bar(now);
  if (!redrawing_.joinable()) redrawing_ = std::jthread([this](const std::stop_token& stop) { redraw(stop); });
}

void Terminal::draw_bar(Clock::time_point now) {
  if (!work_.is_going_on()) return hide_bar();
  if (now - started_ < kBarAfter) return;
  const std::size_t width = columns(), name = program_.size() + 2;
  write(cat("\r\x1b[K", program_, ": ", printable(work_.bar(seconds(now), width > name + 1 ? width - name - 1 : 1))));
  bar_shown_ = true;
}

void Terminal::redraw(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    stop_.wait_for(lock, stop, kRedrawEvery, [] { return false; });
    draw_bar(Clock::now());
  }
}

void Terminal::clear_bar() {
  std::lock_guard lock(mutex_);
  work_ = {};
  hide_bar();
}

void Terminal::hide_bar() {
  if (!bar_shown_) return;
  bar_shown_ = false;
  write("\r\x1b[K");
}

}  // namespace buda::cli
