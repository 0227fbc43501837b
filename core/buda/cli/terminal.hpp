// SPDX-License-Identifier: Apache-2.0
// Standard error: diagnostics as text or JSON, log lines, and the progress of work.
#pragma once

#include <buda/cli/work.hpp>
#include <buda/diag/format.hpp>
#include <buda/diag/sink.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace spdlog {
class logger;
}

namespace buda::cli {

// Whether terminals are shown colours: not with NO_COLOR (https://no-color.org), and not dumb ones.
bool wants_color();

enum class ProgressForm : std::uint8_t {
  bar,   // on a terminal, after a second, and from then on whenever it changes
  json,  // a line for each stage, and ten in a second at most within it
  off,
};

// Safe to use from several threads at once.
class Terminal final : public DiagSink {
 public:
  explicit Terminal(std::string program);

  void report(const Diagnostic& d) override;
  // A log line of that level (0: asked for by name, as by --print-after; 1: what is done; 2: details), if lines of the level are asked for.
  void log(int level, std::string_view message);
  void progress(std::string_view what, std::size_t done, std::size_t total);
  // Takes the progress bar off the screen.
  void clear_bar();

  void set_json(bool json) { json_ = json; }
  bool is_json() const { return json_; }
  void set_progress(ProgressForm form) { form_ = form; }
  // The highest level of log lines; -1: nothing but errors is said.
  void set_verbosity(int level);
  bool is_terminal() const { return terminal_; }
  // How to show the source line of a diagnostic.
  void set_source(SourceLineFn source) { source_ = std::move(source); }
  // What is done to each diagnostic before it is shown.
  void set_wording(std::function<Diagnostic(Diagnostic)> wording) { wording_ = std::move(wording); }

 private:
  class LogSink;
  using Clock = std::chrono::steady_clock;
  void write(std::string_view text);
  // Takes the bar away and writes.
  void write_lines(std::string_view text);
  void hide_bar();
  void draw_bar(Clock::time_point now);
  // Draws the bar until the terminal is no more: the work may tell nothing for long.
  void redraw(const std::stop_token& stop);
  double seconds(Clock::time_point time) const { return std::chrono::duration<double>(time - started_).count(); }

  std::string program_;
  bool terminal_;
  bool color_;
  bool json_ = false;
  bool quiet_ = false;
  bool bar_shown_ = false;
  ProgressForm form_ = ProgressForm::bar;
  Work work_;
  SourceLineFn source_;
  std::function<Diagnostic(Diagnostic)> wording_;
  Clock::time_point started_;
  Clock::time_point last_told_;
  std::mutex mutex_;  // of the bar and of what is on its way out
  std::shared_ptr<spdlog::logger> logger_;
  std::condition_variable_any stop_;
  std::jthread redrawing_;  // with the first progress that goes to a terminal
};

}  // namespace buda::cli
