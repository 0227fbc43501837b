// SPDX-License-Identifier: Apache-2.0
// How far the work of a tool is, and how long the rest will take: from what a tool tells to what is shown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace buda::cli {

// Times are seconds since the tool began.
class Work {
 public:
  // So many of `total` (0: nobody knows) are done of a stage. One whose all are done has ended.
  void at(std::string_view stage, std::size_t done, std::size_t total, double now);

  bool is_going_on() const { return going_on_; }
  // Whether the last call began or ended a stage.
  bool turned() const { return turned_; }
  // At the pace of those that are counted together: stages with one total, such as the passes of a pipeline.
  std::optional<double> seconds_left(double now) const;

  // "decompose [=====     ] 3/24, 2 s left", at most so many columns.
  std::string bar(double now, std::size_t columns) const;
  // {"progress": {"tool": …, "stage": …, "done": …, "total": …, "seconds_left": …}}, with a new line.
  std::string json(const std::string& tool, double now) const;

 private:
  std::string stage_;
  std::size_t done_ = 0, total_ = 0;
  double stage_began_ = 0;
  std::size_t first_done_ = 0;
  double first_time_ = 0;
  bool going_on_ = false, turned_ = false;
};

}  // namespace buda::cli
