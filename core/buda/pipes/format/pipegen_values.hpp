// SPDX-License-Identifier: Apache-2.0
// Sets buffers and pipes from keys and values, however those were found in a file. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/format/file_errors.hpp>
#include <buda/pipes/format/pipegen_file.hpp>
#include <buda/pipes/format/pipegen_keys.hpp>

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::pipes {

// Which of buffer_keys() or pipe_keys() were set.
using SeenKeys = std::bitset<128>;

// Builds the graph of one file. After an error the rest is still read.
class PipegenValues {
 public:
  // What several buffers or pipes of a file have in common.
  template <class T>
  struct Kind {
    T common;
    SeenKeys seen;
  };

  // `errors` must outlive it.
  explicit PipegenValues(FileErrors& errors) : errors_(errors) {}

  void begin_graph(std::string_view name, FilePlace at);
  // `header`: "buffer_…" or "pipe_…"; false when it is neither.
  bool begin(std::string_view header, FilePlace at);
  // T: Buffer or Pipe.
  template <class T>
  void begin(const Kind<T>& kind, FilePlace at);
  // A key of what was begun last. Values are the text of a scalar without quotes, or of a list in flow style.
  void set(std::string_view key, std::string_view value, FilePlace key_place, FilePlace value_place);
  // A list of numbers that is a pipe's, or of groups of them.
  void set_numbers(std::string_view key, std::vector<Id> numbers, FilePlace at);
  void set_groups(std::string_view key, std::vector<std::vector<Id>> groups, FilePlace at);
  // A key whose value comes later: one that there is, and that was not set yet.
  void expect(std::string_view key, FilePlace at);
  void end();
  // What was begun last was no buffer or pipe, but what some have in common.
  template <class T>
  Kind<T> take_kind();

  // The whole graph, if it is consistent; otherwise the errors.
  Result<PlacedGraph> finish() &&;

 private:
  enum class What : std::uint8_t { none, buffer, pipe };

  template <class T>
  std::pair<std::vector<T>&, std::vector<FilePlace>&> list_of();
  void set_special(SpecialKey key, std::string_view name, std::string_view value);
  template <class T>
  void assign(std::string_view key, std::string_view value, T& out);
  // Its index, if there is such a key and it is set for the first time.
  std::optional<std::size_t> new_key(std::string_view key);
  void unknown_key(std::string_view key);
  // JSON and YAML, in which names are written again, have no others.
  bool check_name(std::string_view name, FilePlace at);
  void bad_value(std::string_view key, std::string_view value, std::string_view expected);

  FileErrors& errors_;
  PlacedGraph placed_;
  What what_ = What::none;
  std::string header_id_;  // "" when there is no header
  SeenKeys seen_;
  FilePlace key_place_, value_place_;
};

}  // namespace buda::pipes
