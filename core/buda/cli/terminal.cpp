// Writing to standard error. Time decides only whether a bar is drawn, never what a product holds.
#include <buda/cli/terminal.hpp>

#include <buda/base/text.hpp>

#include <unistd.h>

#include <cerrno>

namespace buda::cli {
namespace {

constexpr auto kBarAfter = std::chrono::seconds(1);
constexpr auto kBarEvery = std::chrono::milliseconds(100);
constexpr std::size_t kBarWidth = 30;

}  // namespace

Terminal::Terminal(std::string program)
    : program_(std::move(program)), terminal_(::isatty(STDERR_FILENO) != 0), color_(terminal_), started_(Clock::now()), last_bar_(started_) {}

void Terminal::write(std::string_view text) {
  while (!text.empty()) {
    ssize_t put = ::write(STDERR_FILENO, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;  // nobody listens
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

void Terminal::report(const Diagnostic& d) {
  if (quiet_ && d.severity != Severity::error) return;
  clear_bar();
  write(json_ ? format_json(d) : format_text(d, {color_, program_}, source_));
}

void Terminal::log(std::string_view message) {
  clear_bar();
  if (json_) {
    Diagnostic d = note("", {}, std::string(message));
    write(format_json(d));
  } else {
    write(cat(program_, ": ", message, '\n'));
  }
}

void Terminal::progress(std::string_view what, std::size_t done, std::size_t total) {
  if (!terminal_ || quiet_ || json_) return;
  auto now = Clock::now();
  if (now - started_ < kBarAfter || now - last_bar_ < kBarEvery) return;
  last_bar_ = now;
  std::string bar;
  if (total > 0) {
    std::size_t full = kBarWidth * std::min(done, total) / total;
    bar = cat('[', std::string(full, '='), std::string(kBarWidth - full, ' '), "] ", done, '/', total);
  } else {
    bar = cat(done);
  }
  write(cat("\r\x1b[K", program_, ": ", what, ' ', bar));
  bar_shown_ = true;
}

void Terminal::clear_bar() {
  if (!bar_shown_) return;
  bar_shown_ = false;
  write("\r\x1b[K");
}

}  // namespace buda::cli
