// SPDX-License-Identifier: Apache-2.0
// The keys of buffers and pipes in files: what each sets, and, in YAML, which of them a buffer type has. Internal to the module.
#pragma once

#include <buda/pipes/graph/pipe_graph.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace buda::pipes {

// Keys of buffers that are not just a number.
enum class SpecialKey : std::uint8_t { op, type, chip, core, prefetch, address };

struct BufferKey {
  using Member = std::variant<SpecialKey, std::int32_t Buffer::*, std::int64_t Buffer::*, Id Buffer::*, bool Buffer::*,
                              std::optional<Id> Buffer::*, std::optional<std::int32_t> Buffer::*, std::int32_t UntilizedOutput::*,
                              bool UntilizedOutput::*, std::int32_t RowAccess::*, bool RowAccess::*>;
  std::string_view name;
  Member member;
};

// `mmio_pipe` only repeats that `mmio_pipe_downstream` is there.
struct MmioFlag {};

struct PipeKey {
  using Member = std::variant<MmioFlag, Id Pipe::*, std::int64_t Pipe::*, std::int32_t Pipe::*, bool Pipe::*,
                              std::optional<std::int32_t> Pipe::*, std::vector<Id> Pipe::*, std::vector<std::int32_t> Pipe::*,
                              std::vector<std::vector<Id>> Pipe::*, std::vector<CoreCoord> Pipe::*>;
  std::string_view name;
  Member member;
};

// Sorted by name.
std::span<const BufferKey> buffer_keys();
std::span<const PipeKey> pipe_keys();
// Index into buffer_keys() or pipe_keys(). O(log keys).
std::optional<std::size_t> find_buffer_key(std::string_view name);
std::optional<std::size_t> find_pipe_key(std::string_view name);

template <class T, class C>
C class_of(T C::*);  // the class that has the member; declared only

// Calls visitor(SpecialKey), or visitor(values...) with the value of a key in each of the (const) buffers.
template <class Visitor, class... B>
decltype(auto) visit_key(const BufferKey& key, Visitor&& visitor, B&... buffers) {
  return std::visit(
      [&](const auto& member) {
        if constexpr (std::is_same_v<std::decay_t<decltype(member)>, SpecialKey>) {
          return visitor(member);
        } else if constexpr (std::is_same_v<decltype(class_of(member)), Buffer>) {
          return visitor(buffers.*member...);
        } else if constexpr (std::is_same_v<decltype(class_of(member)), UntilizedOutput>) {
          return visitor(buffers.untilized.*member...);
        } else {
          return visitor(buffers.rows.*member...);
        }
      },
      key.member);
}

// Calls visitor(MmioFlag), or visitor(values...).
template <class Visitor, class... P>
decltype(auto) visit_key(const PipeKey& key, Visitor&& visitor, P&... pipes) {
  return std::visit(
      [&](const auto& member) {
        if constexpr (std::is_same_v<std::decay_t<decltype(member)>, MmioFlag>) {
          return visitor(member);
        } else {
          return visitor(pipes.*member...);
        }
      },
      key.member);
}

// The keys that the YAML form has for a buffer type, in order; `optional` ones only when they have a value other than none, 0 or false.
struct WrittenKey {
  std::size_t key = 0;
  bool optional = false;
};
const std::vector<WrittenKey>& written_keys(BufferType type, bool padding);

}  // namespace buda::pipes
