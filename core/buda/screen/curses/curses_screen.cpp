// SPDX-License-Identifier: Apache-2.0
// Lines go to the terminal by ncurses, and keys come from it.
#include <buda/screen/curses/curses_screen.hpp>

#include <buda/base/text.hpp>

#include <curses.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>

namespace buda::screen {
namespace {

constexpr short kBadPair = 1, kLimitPair = 2;
constexpr int kInterrupt = 3;  // Ctrl-C; raw mode passes it on
constexpr int kRedraw = 12;    // Ctrl-L
constexpr int kEscape = 27;

bool both_terminals() { return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0; }

volatile std::sig_atomic_t ending_signal = 0;
extern "C" void end_by(int signal) { ending_signal = signal; }

// Signals that end the program first end the screens, so that the terminal gets its mode back; then they take the way that they had before.
// They, and what tells of a new size, arrive while keys are waited for and at no other time: none is missed.
class Endings {
 public:
  Endings() {
    sigset_t held;
    ::sigemptyset(&held);
    for (const int signal : kSignals) ::sigaddset(&held, signal);
    ::sigaddset(&held, SIGWINCH);
    ::sigprocmask(SIG_BLOCK, &held, &mask_before_);
    struct sigaction action {};
    action.sa_handler = end_by;
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
  }
  Endings(const Endings&) = delete;
  Endings& operator=(const Endings&) = delete;
  ~Endings() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    if (ending_signal != 0) static_cast<void>(::raise(ending_signal));
  }

  const sigset_t& mask_while_waiting() const { return mask_before_; }

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
  sigset_t mask_before_{};
};

// Curses from here to there. The terminal gets its mode back on every way out.
class Curses {
 public:
  Curses() : screen_(::newterm(nullptr, stdout, stdin)) {
    if (screen_ == nullptr) return;
    ::raw();
    ::noecho();
    ::nonl();
    ::keypad(stdscr, TRUE);
    ::nodelay(stdscr, TRUE);
    ::set_escdelay(50);
    ::curs_set(0);
  }
  Curses(const Curses&) = delete;
  Curses& operator=(const Curses&) = delete;
  ~Curses() {
    if (screen_ == nullptr) return;
    ::endwin();
    ::delscreen(screen_);
  }
  explicit operator bool() const { return screen_ != nullptr; }

 private:
  SCREEN* screen_;
};

bool begin_colors(Theme theme) {
  if (!::has_colors() || ::start_color() == ERR) return false;
  ::use_default_colors();
  // Yellow cannot be read on a light background.
  const short limit = theme == Theme::on_dark ? COLOR_YELLOW : COLOR_BLUE;
  return ::init_pair(kBadPair, COLOR_RED, -1) != ERR && ::init_pair(kLimitPair, limit, -1) != ERR;
}

attr_t attributes_of(Style style, bool color) {
  switch (style) {
    case Style::plain:
      return A_NORMAL;
    case Style::title:
      return A_REVERSE;
    case Style::heading:
      return A_BOLD;
    case Style::bad:
      return color ? static_cast<attr_t>(COLOR_PAIR(kBadPair)) | A_BOLD : A_BOLD;
    case Style::limit:
      return color ? static_cast<attr_t>(COLOR_PAIR(kLimitPair)) | A_BOLD : A_BOLD;
  }
  return A_NORMAL;
}

Size size() { return {static_cast<std::size_t>(std::max(LINES, 1)), static_cast<std::size_t>(std::max(COLS, 1))}; }

void put(const std::vector<Line>& lines, bool color) {
  ::erase();
  for (std::size_t row = 0; row < lines.size(); ++row) {
    ::move(static_cast<int>(row), 0);
    for (const Span& span : lines[row]) {
      ::attrset(static_cast<int>(attributes_of(span.style, color)));
      ::addnstr(span.text.c_str(), static_cast<int>(span.text.size()));
    }
  }
  ::attrset(A_NORMAL);
  ::refresh();
}

std::optional<Key> key_of(int code) {
  using Kind = Key::Kind;
  switch (code) {
    case KEY_UP:
      return Key{Kind::up};
    case KEY_DOWN:
      return Key{Kind::down};
    case KEY_LEFT:
      return Key{Kind::left};
    case KEY_RIGHT:
      return Key{Kind::right};
    case KEY_PPAGE:
      return Key{Kind::page_up};
    case KEY_NPAGE:
      return Key{Kind::page_down};
    case KEY_HOME:
      return Key{Kind::home};
    case KEY_END:
      return Key{Kind::end};
    case KEY_ENTER:
    case '\r':
    case '\n':
      return Key{Kind::enter};
    case KEY_BACKSPACE:
    case '\b':
    case 127:
      return Key{Kind::backspace};
    case kEscape:
      return Key{Kind::escape};
    default:
      break;
  }
  if (code < ' ' || code > '~') return std::nullopt;
  return Key{Kind::character, static_cast<char>(code)};
}

// ERR: the interval is over, or a signal came. None: there will be no more keys.
std::optional<int> next_key(const Session& session, const Endings& endings) {
  if (const int code = ::getch(); code != ERR) return code;
  pollfd keys{STDIN_FILENO, POLLIN, 0};
  timespec interval{};
  if (session.interval) interval = {session.interval->count() / 1000, session.interval->count() % 1000 * 1000000};
  const int ready = ::ppoll(&keys, 1, session.interval ? &interval : nullptr, &endings.mask_while_waiting());
  const int code = ::getch();  // KEY_RESIZE, too: then the size is another
  if (code == ERR && ready > 0) return std::nullopt;
  return code;
}

Result<void> show(const Session& session) {
  const Endings endings;
  const Curses curses;
  if (!curses) return input_error("AN004", {}, cat("the terminal is of no known type; ", session.elsewhere));
  const bool color = session.color && begin_colors(session.theme);
  while (true) {
    put(session.draw(size()), color);
    const std::optional<int> code = next_key(session, endings);
    if (ending_signal != 0 || !code || *code == kInterrupt) return success();
    if (*code == kRedraw) ::clearok(stdscr, TRUE);
    if (const auto key = key_of(*code); key && !session.press(*key, size())) return success();
  }
}

}  // namespace

Screen curses_screen() { return {both_terminals, show}; }

}  // namespace buda::screen
