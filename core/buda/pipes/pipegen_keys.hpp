// The keys of buffers in pipegen files: what each sets, and which of them a buffer type has. Internal to the module.
#pragma once

#include <buda/pipes/pipe_graph.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace buda::pipes {

// Keys that are not just a number.
enum class SpecialKey : std::uint8_t { op, type, chip, core, prefetch, address };

struct BufferKey {
  using Member = std::variant<SpecialKey, std::int32_t Buffer::*, std::int64_t Buffer::*, Id Buffer::*, bool Buffer::*,
                              std::optional<Id> Buffer::*, std::optional<std::int32_t> Buffer::*, std::int32_t UntilizedOutput::*,
                              bool UntilizedOutput::*, std::int32_t RowAccess::*, bool RowAccess::*>;
  std::string_view name;
  Member member;
};

std::span<const BufferKey> buffer_keys();
// Index into buffer_keys(). O(log keys).
std::optional<std::size_t> find_buffer_key(std::string_view name);

// The keys that are written for a buffer type, in order; `optional` ones only when they have a value other than none, 0 or false.
struct WrittenKey {
  std::size_t key = 0;
  bool optional = false;
};
const std::vector<WrittenKey>& written_keys(BufferType type, bool padding);

}  // namespace buda::pipes
