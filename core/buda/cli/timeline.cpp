// SPDX-License-Identifier: Apache-2.0
// Complete events ("X") and the names of their tracks ("M").
#include <buda/cli/timeline.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <algorithm>
#include <cstdio>

namespace buda::cli {
namespace {

constexpr std::int64_t kMainTrack = 1;

std::string json(const std::string& text) { return io::json_line(io::Node::string(text)); }

std::string decimals(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

std::string event(const std::string& name, std::int64_t process, std::int64_t track, double begin, double end, const io::Node& arguments) {
  return cat("{\"ph\": \"X\", \"name\": ", json(name), ", \"pid\": ", process, ", \"tid\": ", track, ", \"ts\": ", decimals(begin),
             ", \"dur\": ", decimals(std::max(end - begin, 0.0)), ", \"args\": ", io::json_line(arguments), "},\n");
}

std::string name_of(const char* what, std::int64_t process, std::int64_t track, const std::string& name) {
  return cat("{\"ph\": \"M\", \"name\": \"", what, "\", \"pid\": ", process, ", \"tid\": ", track, ", \"args\": {\"name\": ", json(name),
             "}},\n");
}

}  // namespace

Timeline::Timeline(const std::string& tool, std::int64_t process) : tool_(tool), process_(process), begin_(now()) {
  events_ = name_of("process_name", process_, kMainTrack, tool) + name_of("thread_name", process_, kMainTrack, "stages");
}

double Timeline::microseconds(Clock::time_point time) { return std::chrono::duration<double, std::micro>(time.time_since_epoch()).count(); }

void Timeline::close_stage(double end) {
  if (stage_) events_ += event(stage_->name, process_, kMainTrack, stage_->begin, end, io::Node::map());
  stage_.reset();
}

void Timeline::stage(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (stage_ && stage_->name == name) return;
  const double time = now();
  close_stage(time);
  stage_ = Stage{std::string(name), time};
}

void Timeline::end_stage() {
  const std::lock_guard lock(mutex_);
  close_stage(now());
}

std::int64_t Timeline::track(const std::string& name) {
  const auto [it, fresh] = tracks_.try_emplace(name, static_cast<std::int64_t>(tracks_.size()) + kMainTrack + 1);
  if (fresh) events_ += name_of("thread_name", process_, it->second, name);
  return it->second;
}

void Timeline::add(const std::string& on, const std::string& name, double begin, double end, io::Node arguments) {
  const std::lock_guard lock(mutex_);
  const std::int64_t number = track(on);
  events_ += event(name, process_, number, begin, end, arguments);
}

void Timeline::append(std::string_view events) {
  const std::lock_guard lock(mutex_);
  events_ += events;
}

std::string Timeline::text() const {
  const std::lock_guard lock(mutex_);
  const double end = now();
  std::string out = cat("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n", events_);
  if (stage_) out += event(stage_->name, process_, kMainTrack, stage_->begin, end, io::Node::map());
  out += event(tool_, process_, kMainTrack, begin_, end, io::Node::map());
  out.resize(out.size() - 2);
  return out + "\n]}\n";
}

}  // namespace buda::cli
