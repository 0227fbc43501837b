// Standard error: diagnostics as text or JSON, log lines, and a progress bar where there is a terminal.
#pragma once

#include <buda/diag/format.hpp>
#include <buda/diag/sink.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace buda::cli {

class Terminal final : public DiagSink {
 public:
  explicit Terminal(std::string program);

  void report(const Diagnostic& d) override;
  void log(std::string_view message);
  void progress(std::string_view what, std::size_t done, std::size_t total);
  // Takes the progress bar off the screen.
  void clear_bar();

  void set_json(bool json) { json_ = json; }
  void set_quiet(bool quiet) { quiet_ = quiet; }
  bool is_terminal() const { return terminal_; }
  // How to show the source line of a diagnostic.
  void set_source(SourceLineFn source) { source_ = std::move(source); }

 private:
  using Clock = std::chrono::steady_clock;
  void write(std::string_view text);

  std::string program_;
  bool terminal_;
  bool color_;
  bool json_ = false;
  bool quiet_ = false;
  bool bar_shown_ = false;
  SourceLineFn source_;
  Clock::time_point started_;
  Clock::time_point last_bar_;
};

}  // namespace buda::cli
