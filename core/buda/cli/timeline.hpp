// SPDX-License-Identifier: Apache-2.0
// When tools did what, as Chrome's trace events (docs/formats/timeline.md). Times are microseconds of the machine's monotonic clock, which
// all processes share, so that events of several tools go together.
#pragma once

#include <buda/io/node.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace buda::cli {

class Timeline {
 public:
  // Begins now. Events of other processes may be added beside those of `process`.
  Timeline(const std::string& tool, std::int64_t process);

  using Clock = std::chrono::steady_clock;
  static double microseconds(Clock::time_point time);
  static double now() { return microseconds(Clock::now()); }

  // The tool begins a stage of its work, which ends the one before. May be called from any thread, and often with the same name.
  void stage(std::string_view name);
  void end_stage();

  // Something that took from `begin` to `end`, on a track of that name. Those of a track lie within or beside one another.
  void add(const std::string& track, const std::string& name, double begin, double end, io::Node arguments = io::Node::map());
  // Events that are complete, each with a comma and a new line behind it.
  void append(std::string_view events);

  std::int64_t process() const { return process_; }
  // The file, with the stage that has begun and the whole time of the tool.
  std::string text() const;

 private:
  struct Stage {
    std::string name;
    double begin = 0;
  };
  void close_stage(double end);
  std::int64_t track(const std::string& name);

  std::string tool_;
  std::int64_t process_;
  double begin_;
  std::optional<Stage> stage_;
  std::map<std::string, std::int64_t> tracks_;
  std::string events_;
  mutable std::mutex mutex_;
};

}  // namespace buda::cli
