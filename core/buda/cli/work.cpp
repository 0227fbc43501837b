// SPDX-License-Identifier: Apache-2.0
// Bars, counts and estimates.
#include <buda/cli/work.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <algorithm>
#include <cmath>

namespace buda::cli {
namespace {

constexpr std::size_t kBarWidth = 30, kMinBar = 5;
// A pace that was measured for a shorter time would jump.
constexpr double kMinSeconds = 0.5;

// "45 s", "2 min 05 s", "3 h 20 min".
std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 0.0, 1e9)));
  if (whole < 60) return cat(whole, " s");
  const auto two = [](std::int64_t n) { return cat(n < 10 ? "0" : "", n); };
  return whole < 3600 ? cat(whole / 60, " min ", two(whole % 60), " s") : cat(whole / 3600, " h ", two(whole % 3600 / 60), " min");
}

}  // namespace

void Work::at(std::string_view stage, std::size_t done, std::size_t total, double now) {
  const bool fresh = stage != stage_ || !going_on_;
  // Another list of things, or the same from its beginning.
  if (total != total_ || done < done_ || (!going_on_ && stage != stage_)) {
    first_done_ = done;
    first_time_ = now;
  }
  if (fresh) stage_began_ = now;
  stage_ = stage;
  done_ = done;
  total_ = total;
  const bool ends = total > 0 && done >= total;
  turned_ = fresh || ends;
  going_on_ = !ends;
}

std::optional<double> Work::seconds_left(double now) const {
  if (total_ == 0 || done_ <= first_done_ || now - first_time_ < kMinSeconds) return std::nullopt;
  return (now - first_time_) / static_cast<double>(done_ - first_done_) * static_cast<double>(total_ - std::min(done_, total_));
}

std::string Work::bar(double now, std::size_t columns) const {
  std::string count;
  if (total_ > 0) {
    count = cat(done_, '/', total_);
    if (const auto left = seconds_left(now)) count += cat(", ", duration_text(*left), " left");
  } else {
    count = done_ > 0 ? cat(done_, ", ", duration_text(now - stage_began_)) : duration_text(now - stage_began_);
  }
  const std::size_t rest = stage_.size() + count.size() + 4;
  const std::size_t width = columns > rest ? std::min(columns - rest, kBarWidth) : 0;
  std::string out = stage_ + ' ';
  if (total_ > 0 && width >= kMinBar) {
    const std::size_t full = width * std::min(done_, total_) / total_;
    out += cat('[', std::string(full, '='), std::string(width - full, ' '), "] ");
  }
  out += count;
  if (out.size() > columns) out.resize(columns);
  return out;
}

std::string Work::json(const std::string& tool, double now) const {
  using io::Node;
  Node out =
      Node::map({{"tool", Node::string(tool)}, {"stage", Node::string(stage_)}, {"done", Node::integer(static_cast<std::int64_t>(done_))}});
  if (total_ > 0) out.add("total", Node::integer(static_cast<std::int64_t>(total_)));
  if (const auto left = seconds_left(now)) out.add("seconds_left", Node::real(std::round(*left * 10) / 10));
  return io::json_line(Node::map({{"progress", std::move(out)}})) + '\n';
}

}  // namespace buda::cli
