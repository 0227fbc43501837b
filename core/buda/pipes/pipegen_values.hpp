// Sets buffers and pipes from the keys and values of a pipegen file, however those were found. Internal to the module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/pipe_graph.hpp>

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::pipes {

// Builds the graph of one file. Errors are collected, up to twenty; after one the rest is still looked at.
class PipegenValues {
 public:
  explicit PipegenValues(const std::string& file) : file_(file) {}

  void begin_graph(std::string_view name) { graph_.graphs.emplace_back(name); }
  // `header`: "buffer_…" or "pipe_…"; false when it is neither.
  bool begin(std::string_view header, std::uint32_t line, std::uint32_t column);
  // A key of what was begun last. Values are the text of a scalar without quotes, or of a list in flow style.
  void set(std::string_view key, std::string_view value, std::uint32_t line, std::uint32_t key_column, std::uint32_t value_column);
  void end();
  void error(std::string code, std::uint32_t line, std::uint32_t column, std::string message, std::string hint = "");
  bool full() const { return failure_.diagnostics().size() >= kMostErrors; }

  // The whole graph, when it is consistent.
  Result<PipeGraph> finish() &&;

 private:
  static constexpr std::size_t kMostErrors = 20;
  enum class Kind : std::uint8_t { none, buffer, pipe };

  struct Where {
    std::uint32_t line = 0, column = 0;
  };

  void set_buffer(std::string_view key, std::string_view value);
  void set_pipe(std::string_view key, std::string_view value);
  void unknown_key(std::string_view key, const std::vector<std::string>& known);
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
  void check_buffer(const Buffer& b, Where where);

  std::string file_;
  PipeGraph graph_;
  std::vector<Where> buffer_places_, pipe_places_;
  Failure failure_;
  Kind kind_ = Kind::none;
  std::string header_id_;
  std::bitset<128> seen_;
  Where key_place_, value_place_;
};

}  // namespace buda::pipes
