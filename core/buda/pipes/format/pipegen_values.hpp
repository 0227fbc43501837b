// Sets buffers and pipes from keys and values, however those were found in a file. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>
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

// Builds the graph of one file. Errors are collected, up to twenty; after one the rest is still looked at.
class PipegenValues {
 public:
  // What several buffers or pipes of a file have in common.
  template <class T>
  struct Kind {
    T common;
    SeenKeys seen;
  };

  explicit PipegenValues(const std::string& file) : file_(file) {}

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

  void error(std::string code, FilePlace at, std::string message, std::string hint = "");
  void error(Diagnostic d);
  bool failed() const { return !failure_.empty(); }
  bool full() const { return failure_.diagnostics().size() >= kMostErrors; }

  // The whole graph, when it is consistent.
  Result<PlacedGraph> finish() &&;

 private:
  static constexpr std::size_t kMostErrors = 20;
  enum class What : std::uint8_t { none, buffer, pipe };

  template <class T>
  std::pair<std::vector<T>&, std::vector<FilePlace>&> list_of();
  void set_buffer(std::string_view key, std::string_view value);
  void set_special(SpecialKey key, std::string_view name, std::string_view value, Buffer& b);
  void set_pipe(std::string_view key, std::string_view value);
  // Its index, when there is such a key and it is set for the first time.
  std::optional<std::size_t> new_key(std::string_view key);
  void unknown_key(std::string_view key);
  // JSON and YAML, in which names are written again, have no others.
  bool check_name(std::string_view name, FilePlace at);
  bool first_time(std::size_t bit, std::string_view key);
  void bad_value(std::string_view key, std::string_view value, std::string_view expected);
  template <class T>
  void number(std::string_view key, std::string_view value, T& out);
  template <class T>
  void list(std::string_view key, std::string_view value, std::vector<T>& out);
  void groups(std::string_view key, std::string_view value, std::vector<std::vector<Id>>& out);
  void cores(std::string_view key, std::string_view value, std::vector<CoreCoord>& out);
  void check_buffers(const BufferIndex& index);
  void check_pipes(const BufferIndex& index);
  void check_buffer(const Buffer& b, FilePlace at);

  std::string file_;
  PipeGraph graph_;
  std::vector<FilePlace> buffer_places_, pipe_places_;
  Failure failure_;
  What what_ = What::none;
  std::string header_id_;  // "" when there is no header
  SeenKeys seen_;
  FilePlace key_place_, value_place_;
};

}  // namespace buda::pipes
