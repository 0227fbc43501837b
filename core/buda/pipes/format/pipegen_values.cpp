// SPDX-License-Identifier: Apache-2.0
// Puts values into buffers and pipes.
#include <buda/pipes/format/pipegen_values.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/pipes/format/consistency.hpp>
#include <buda/pipes/format/pipegen_keys.hpp>
#include <buda/pipes/format/value_text.hpp>

#include <type_traits>
#include <utility>

namespace buda::pipes {

bool PipegenValues::check_name(std::string_view name, FilePlace at) {
  if (is_valid_utf8(name)) return true;
  errors_.add("PG007", at, "a name that is not UTF-8");
  return false;
}

void PipegenValues::begin_graph(std::string_view name, FilePlace at) {
  if (check_name(name, at)) placed_.graph.graphs.emplace_back(name);
}

bool PipegenValues::begin(std::string_view header, FilePlace at) {
  end();
  const bool buffer = header.starts_with("buffer_");
  if (!buffer && !header.starts_with("pipe_")) return false;
  if (buffer) {
    begin(Kind<Buffer>{}, at);
  } else {
    begin(Kind<Pipe>{}, at);
  }
  header_id_ = header.substr(header.find('_') + 1);
  return true;
}

template <class T>
std::pair<std::vector<T>&, std::vector<FilePlace>&> PipegenValues::list_of() {
  if constexpr (std::is_same_v<T, Buffer>) {
    return {placed_.graph.buffers, placed_.buffers};
  } else {
    return {placed_.graph.pipes, placed_.pipes};
  }
}

template <class T>
void PipegenValues::begin(const Kind<T>& kind, FilePlace at) {
  end();
  auto [list, places] = list_of<T>();
  list.push_back(kind.common);
  places.push_back(at);
  what_ = std::is_same_v<T, Buffer> ? What::buffer : What::pipe;
  seen_ = kind.seen;
  header_id_.clear();
}
template void PipegenValues::begin(const Kind<Buffer>& kind, FilePlace at);
template void PipegenValues::begin(const Kind<Pipe>& kind, FilePlace at);

template <class T>
PipegenValues::Kind<T> PipegenValues::take_kind() {
  auto [list, places] = list_of<T>();
  Kind<T> kind{std::move(list.back()), seen_};
  list.pop_back();
  places.pop_back();
  what_ = What::none;
  return kind;
}
template PipegenValues::Kind<Buffer> PipegenValues::take_kind<Buffer>();
template PipegenValues::Kind<Pipe> PipegenValues::take_kind<Pipe>();

void PipegenValues::end() {
  if (what_ == What::none) return;
  static const std::size_t kBufferId = *find_buffer_key("uniqid"), kBufferType = *find_buffer_key("buffer_type");
  static const std::size_t kPipeId = *find_pipe_key("id"), kInputs = *find_pipe_key("input_list"), kOutputs = *find_pipe_key("output_list");
  const bool buffer = what_ == What::buffer;
  FilePlace at = buffer ? placed_.buffers.back() : placed_.pipes.back();
  Id id = buffer ? placed_.graph.buffers.back().id : placed_.graph.pipes.back().id;
  auto need = [&](std::size_t bit, std::string_view key) {
    if (seen_[bit]) return;
    std::string who = cat(buffer ? "buffer" : "pipe", header_id_.empty() ? "" : "_", header_id_);
    errors_.add("PG004", at, cat(header_id_.empty() ? cat("this ", who) : who, " has no '", key, "'"));
  };
  if (buffer) {
    need(kBufferId, "uniqid");
    need(kBufferType, "buffer_type");
  } else {
    need(kPipeId, "id");
    need(kInputs, "input_list");
    need(kOutputs, "output_list");
  }
  Id named = 0;
  if (!header_id_.empty() && seen_[buffer ? kBufferId : kPipeId] && (parse_value(header_id_, named) || named != id))
    errors_.add("PG005", at, cat(buffer ? "buffer_" : "pipe_", header_id_, " calls itself ", id, " inside"));
  what_ = What::none;
}

template <class T>
void PipegenValues::assign(std::string_view key, std::string_view value, T& out) {
  if (auto expected = parse_value(value, out)) bad_value(key, value, *expected);
}

void PipegenValues::set(std::string_view key, std::string_view value, FilePlace key_place, FilePlace value_place) {
  key_place_ = key_place;
  value_place_ = value_place;
  if (key.starts_with("x-") || what_ == What::none) return;
  auto found = new_key(key);
  if (!found) return;
  auto put = [&](auto&& member) {
    using M = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<M, SpecialKey>) {
      set_special(member, key, value);
    } else if constexpr (std::is_same_v<M, MmioFlag>) {
      Pipe& p = placed_.graph.pipes.back();
      bool flag = false;
      assign(key, value, flag);
      if (flag && !p.mmio_downstream) p.mmio_downstream = 0;
    } else if constexpr (requires { *member; }) {
      assign(key, value, member.emplace());
    } else {
      assign(key, value, member);
    }
  };
  if (what_ == What::buffer) {
    visit_key(buffer_keys()[*found], put, placed_.graph.buffers.back());
  } else {
    visit_key(pipe_keys()[*found], put, placed_.graph.pipes.back());
  }
}

void PipegenValues::expect(std::string_view key, FilePlace at) {
  key_place_ = at;
  if (key.starts_with("x-")) return;
  static_cast<void>(new_key(key));
}

void PipegenValues::unknown_key(std::string_view key) {
  std::vector<std::string> known;
  if (what_ == What::buffer) {
    for (const BufferKey& k : buffer_keys()) known.emplace_back(k.name);
  } else {
    for (const PipeKey& k : pipe_keys()) known.emplace_back(k.name);
  }
  auto near = nearest_word(key, known);
  errors_.add("PG003", key_place_, cat("unknown key '", key.substr(0, 80), "' in a ", what_ == What::buffer ? "buffer" : "pipe"),
              near ? cat("did you mean '", *near, "'?") : "");
}

void PipegenValues::bad_value(std::string_view key, std::string_view value, std::string_view expected) {
  errors_.add("PG007", value_place_,
              cat("'", key, "': expected ", expected, ", found '", value.substr(0, 40), value.size() > 40 ? "…'" : "'"));
}

std::optional<std::size_t> PipegenValues::new_key(std::string_view key) {
  auto found = what_ == What::buffer ? find_buffer_key(key) : find_pipe_key(key);
  if (!found) {
    unknown_key(key);
    return std::nullopt;
  }
  if (seen_[*found]) {
    errors_.add("PG006", key_place_, cat("duplicate key '", key, "'"));
    return std::nullopt;
  }
  seen_.set(*found);
  return found;
}

void PipegenValues::set_special(SpecialKey key, std::string_view name, std::string_view value) {
  Buffer& b = placed_.graph.buffers.back();
  std::vector<std::int32_t> list;
  switch (key) {
    case SpecialKey::op:
      if (check_name(value, value_place_)) b.op = value;
      return;
    case SpecialKey::type:
      return assign(name, value, b.type);
    case SpecialKey::chip:
      if (parse_value(value, list) || list.size() != 1) return bad_value(name, value, "a list with one chip");
      b.chip = list[0];
      return;
    case SpecialKey::core:
      if (parse_value(value, list) || list.size() != 2) return bad_value(name, value, "[row, column]");
      b.core = {list[0], list[1]};
      return;
    case SpecialKey::prefetch:
      return assign(name, value, b.prefetch_type);
    case SpecialKey::address:
      return assign(name, value, b.dram_addr);
  }
}

void PipegenValues::set_numbers(std::string_view key, std::vector<Id> numbers, FilePlace at) {
  key_place_ = value_place_ = at;
  auto found = new_key(key);
  if (!found) return;
  auto put = [&](auto&& member) {
    using M = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<M, std::vector<Id>>) {
      member = std::move(numbers);
    } else if constexpr (std::is_same_v<M, std::vector<std::int32_t>>) {
      for (Id n : numbers) {
        if (!std::in_range<std::int32_t>(n)) return assign(key, cat(n), member.emplace_back());
        member.push_back(static_cast<std::int32_t>(n));
      }
    } else {
      bad_value(key, "[…]", "no list of numbers");
    }
  };
  visit_key(pipe_keys()[*found], put, placed_.graph.pipes.back());
}

void PipegenValues::set_groups(std::string_view key, std::vector<std::vector<Id>> groups, FilePlace at) {
  key_place_ = value_place_ = at;
  auto found = new_key(key);
  if (!found) return;
  auto put = [&](auto&& member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::vector<std::vector<Id>>>) {
      member = std::move(groups);
    } else {
      bad_value(key, "[[…]]", "no list of lists");
    }
  };
  visit_key(pipe_keys()[*found], put, placed_.graph.pipes.back());
}

Result<PlacedGraph> PipegenValues::finish() && {
  end();
  if (!errors_.any()) check_consistency(placed_, errors_);
  if (errors_.any()) return errors_.take();
  return std::move(placed_);
}

}  // namespace buda::pipes
