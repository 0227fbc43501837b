// SPDX-License-Identifier: Apache-2.0
// Lines of six fields, after any number of others that say what the log is.
#include "apps/profiler/device_log.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace buda::profiler {
namespace {

struct Line {
  std::array<std::uint64_t, 3> core{};  // chip, x, y
  std::size_t risc = 0;
  Stamp stamp;
};

// Reads a line from left to right; blanks around fields do not count. A log has millions of lines.
class Fields {
 public:
  explicit Fields(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  // False where no number of at most `most` begins.
  bool number(std::uint64_t& out, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    skip_blanks();
    const auto [stop, error] = std::from_chars(at_, end_, out);
    at_ = stop;
    return error == std::errc{} && out <= most;
  }
  std::string_view word() {
    skip_blanks();
    const char* begin = at_;
    while (at_ != end_ && *at_ != ',' && !is_blank(*at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  bool comma() {
    skip_blanks();
    return at_ != end_ && *at_++ == ',';
  }
  bool done() {
    skip_blanks();
    return at_ == end_;
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }
  const char* at_;
  const char* end_;
};

std::optional<Line> parse_line(std::string_view text) {
  Line out;
  Fields fields(text);
  for (std::uint64_t& number : out.core)
    if (!fields.number(number) || !fields.comma()) return std::nullopt;
  const auto risc = std::find(kRiscs.begin(), kRiscs.end(), fields.word());
  std::uint64_t marker = 0;
  if (risc == kRiscs.end() || !fields.comma()) return std::nullopt;
  if (!fields.number(marker, std::numeric_limits<std::uint32_t>::max()) || !fields.comma()) return std::nullopt;
  if (!fields.number(out.stamp.cycle) || !fields.done()) return std::nullopt;
  out.risc = static_cast<std::size_t>(risc - kRiscs.begin());
  out.stamp.marker = static_cast<std::uint32_t>(marker);
  return out;
}

// "Chip clock is at 1 GHz".
std::optional<double> parse_clock(std::string_view text) {
  constexpr std::string_view kBegin = "Chip clock is at ", kEnd = " GHz";
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd)) return std::nullopt;
  text.remove_prefix(kBegin.size());
  text.remove_suffix(std::min(kEnd.size(), text.size()));
  const auto ghz = parse_double(text);
  if (!ghz || !(*ghz >= 0 && *ghz < 1e6)) return std::nullopt;
  return *ghz * 1e9;
}

// Kernels mark what they like as often as they like within a run.
bool begins_run(const RiscLog& log, std::uint32_t marker) {
  if (marker > kFirmwareEnd) return false;
  const auto before = std::find_if(log.stamps.rbegin(), log.stamps.rend(), [](const Stamp& s) { return s.marker <= kFirmwareEnd; });
  return before != log.stamps.rend() && marker <= before->marker;
}

bool is_heading(std::string_view text) { return text.starts_with("PCIe slot") || text.starts_with("ARCH"); }

class Parser {
 public:
  explicit Parser(const std::string& path) : path_(path) {}

  Result<void> add(std::string_view text, std::uint32_t number) {
    const auto line = parse_line(text);
    if (!line) return add_other(trim(text), number);
    RiscLog& log = riscs_of(*line)[line->risc];
    if (!log.stamps.empty() && line->stamp.cycle < log.stamps.back().cycle)
      return input_error("PF002", {path_, number, 1},
                         cat("cycle ", line->stamp.cycle, " is before cycle ", log.stamps.back().cycle, " of the same RISC above"));
    if (log.stamps.empty() || begins_run(log, line->stamp.marker)) log.starts.push_back(log.stamps.size());
    log.stamps.push_back(line->stamp);
    return success();
  }

  Result<DeviceLog> done() {
    if (cores_.empty()) return input_error("PF003", {path_}, "the device log has no times");
    DeviceLog out{.clock_hz = clock_hz_, .cores = {}};
    for (auto& [key, riscs] : cores_) {
      const auto& [chip, y, x] = key;
      out.cores.push_back({.chip = chip, .x = x, .y = y, .riscs = std::move(riscs)});
    }
    return out;
  }

 private:
  using Riscs = std::array<RiscLog, kRiscs.size()>;
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // chip, y, x

  // What is no time of a marker.
  Result<void> add_other(std::string_view text, std::uint32_t number) {
    if (text.empty() || is_heading(text)) return success();
    if (const auto clock = parse_clock(text)) {
      clock_hz_ = *clock;
      return success();
    }
    Diagnostic d = input_error("PF001", {path_, number, 1}, "is not a line of a device log");
    d.hint = "lines are 'chip, x, y, RISC, marker, cycle', with a RISC of " + join(kRiscs, ", ");
    return d;
  }

  // Lines of a core follow one another.
  Riscs& riscs_of(const Line& line) {
    const Key key{line.core[0], line.core[2], line.core[1]};
    if (last_ == nullptr || key != last_key_) {
      last_ = &cores_[key];
      last_key_ = key;
    }
    return *last_;
  }

  const std::string& path_;
  double clock_hz_ = 0;
  std::map<Key, Riscs> cores_;
  Key last_key_;
  Riscs* last_ = nullptr;
};

}  // namespace

std::span<const Stamp> RiscLog::run(std::size_t number) const {
  const std::size_t end = number + 1 < starts.size() ? starts[number + 1] : stamps.size();
  return std::span(stamps).subspan(starts[number], end - starts[number]);
}

const Stamp* find_marker(std::span<const Stamp> run, std::uint32_t marker) {
  const auto found = std::find_if(run.begin(), run.end(), [&](const Stamp& s) { return s.marker == marker; });
  return found == run.end() ? nullptr : &*found;
}

Result<DeviceLog> parse_device_log(std::string_view text, const std::string& path) {
  Parser parser(path);
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    BUDA_TRY(parser.add(text.substr(at, end - at), ++number));
    at = end + 1;
  }
  return parser.done();
}

}  // namespace buda::profiler
