// Values of pipegen files, and the consistency of the whole.
#include <buda/pipes/format/pipegen_values.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/pipes/format/pipegen_keys.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <type_traits>
#include <utility>

namespace buda::pipes {
namespace {

// Decimal or 0x…; whole text; in range.
template <class T>
bool parse_number(std::string_view text, T& out) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return false;
  out = value;
  return true;
}

template <class T>
std::string range_text() {
  return cat("an integer from ", std::numeric_limits<T>::min(), " to ", std::numeric_limits<T>::max());
}

// Calls item(text) for the elements of "[a, b]"; false when it is not such a list. Elements may be lists themselves.
template <class Item>
bool for_each_item(std::string_view text, Item item) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
  text = trim(text.substr(1, text.size() - 2));
  if (text.empty()) return true;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    char c = i == text.size() ? ',' : text[i];
    if (c == '[') ++depth;
    if (c == ']' && --depth < 0) return false;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    if (!item(trim(text.substr(start, i - start)))) return false;
    start = i + 1;
  }
  return depth == 0;
}

}  // namespace

void PipegenValues::error(Diagnostic d) {
  if (!full()) failure_.add(std::move(d));
}

void PipegenValues::error(std::string code, FilePlace at, std::string message, std::string hint) {
  Diagnostic d = input_error(std::move(code), {file_, at.line, at.column}, std::move(message));
  d.hint = std::move(hint);
  error(std::move(d));
}

bool PipegenValues::check_name(std::string_view name, FilePlace at) {
  if (is_valid_utf8(name)) return true;
  error("PG007", at, "a name that is not UTF-8");
  return false;
}

void PipegenValues::begin_graph(std::string_view name, FilePlace at) {
  if (check_name(name, at)) graph_.graphs.emplace_back(name);
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
    return {graph_.buffers, buffer_places_};
  } else {
    return {graph_.pipes, pipe_places_};
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
  FilePlace at = buffer ? buffer_places_.back() : pipe_places_.back();
  Id id = buffer ? graph_.buffers.back().id : graph_.pipes.back().id;
  auto need = [&](std::size_t bit, std::string_view key) {
    if (seen_[bit]) return;
    std::string who = cat(buffer ? "buffer" : "pipe", header_id_.empty() ? "" : "_", header_id_);
    error("PG004", at, cat(header_id_.empty() ? cat("this ", who) : who, " has no '", key, "'"));
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
  if (!header_id_.empty() && seen_[buffer ? kBufferId : kPipeId] && (!parse_number(std::string_view(header_id_), named) || named != id))
    error("PG005", at, cat(buffer ? "buffer_" : "pipe_", header_id_, " calls itself ", id, " inside"));
  what_ = What::none;
}

void PipegenValues::set(std::string_view key, std::string_view value, FilePlace key_place, FilePlace value_place) {
  key_place_ = key_place;
  value_place_ = value_place;
  if (key.starts_with("x-")) return;
  if (what_ == What::buffer) {
    set_buffer(key, value);
  } else if (what_ == What::pipe) {
    set_pipe(key, value);
  }
}

void PipegenValues::expect(std::string_view key, FilePlace at) {
  key_place_ = at;
  if (key.starts_with("x-")) return;
  static_cast<void>(new_key(key));
}

bool PipegenValues::first_time(std::size_t bit, std::string_view key) {
  if (seen_[bit]) {
    error("PG006", key_place_, cat("key '", key, "' stands here a second time"));
    return false;
  }
  seen_.set(bit);
  return true;
}

void PipegenValues::unknown_key(std::string_view key) {
  std::vector<std::string> known;
  if (what_ == What::buffer) {
    for (const BufferKey& k : buffer_keys()) known.emplace_back(k.name);
  } else {
    for (const PipeKey& k : pipe_keys()) known.emplace_back(k.name);
  }
  auto near = nearest_word(key, known);
  error("PG003", key_place_, cat("unknown key '", key.substr(0, 80), "' in a ", what_ == What::buffer ? "buffer" : "pipe"),
        near ? cat("did you mean '", *near, "'?") : "");
}

void PipegenValues::bad_value(std::string_view key, std::string_view value, std::string_view expected) {
  error("PG007", value_place_, cat("'", key, "': expected ", expected, ", found '", value.substr(0, 40), value.size() > 40 ? "…'" : "'"));
}

template <class T>
void PipegenValues::number(std::string_view key, std::string_view value, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (value == "0" || value == "1") {
      out = value == "1";
    } else {
      bad_value(key, value, "0 or 1");
    }
  } else {
    if (!parse_number(value, out)) bad_value(key, value, range_text<T>());
  }
}

template <class T>
void PipegenValues::list(std::string_view key, std::string_view value, std::vector<T>& out) {
  bool good = for_each_item(value, [&](std::string_view item) {
    T v{};
    if (!parse_number(item, v)) return false;
    out.push_back(v);
    return true;
  });
  if (!good)
    bad_value(key, value, cat("a list [a, b, …] of integers from ", std::numeric_limits<T>::min(), " to ", std::numeric_limits<T>::max()));
}

void PipegenValues::groups(std::string_view key, std::string_view value, std::vector<std::vector<Id>>& out) {
  auto ids = [](std::string_view text, std::vector<Id>& group) {
    return for_each_item(text, [&](std::string_view item) {
      Id id = 0;
      if (!parse_number(item, id)) return false;
      group.push_back(id);
      return true;
    });
  };
  bool good = true;
  if (value.starts_with("[[")) {
    good = for_each_item(value, [&](std::string_view item) {
      out.emplace_back();
      return ids(item, out.back());
    });
  } else {
    out.emplace_back();
    good = ids(value, out.back());
  }
  if (!good) bad_value(key, value, "a list of ids, or a list of such lists");
}

void PipegenValues::cores(std::string_view key, std::string_view value, std::vector<CoreCoord>& out) {
  auto one = [&](std::string_view text) {
    std::array<std::int32_t, 3> v{};
    std::size_t n = 0;
    bool good = for_each_item(text, [&](std::string_view item) { return n < 3 && parse_number(item, v[n++]); });
    if (!good || n != 3) return false;
    out.push_back({v[0], {v[1], v[2]}});
    return true;
  };
  bool good = value.starts_with("[[") ? for_each_item(value, one) : one(value);
  if (!good) bad_value(key, value, "[chip, row, column], or a list of these");
}

void PipegenValues::set_special(SpecialKey key, std::string_view name, std::string_view value, Buffer& b) {
  std::vector<std::int32_t> list_value;
  switch (key) {
    case SpecialKey::op:
      if (check_name(value, value_place_)) b.op = value;
      return;
    case SpecialKey::type:
      if (auto type = buffer_type_from_name(value)) {
        b.type = *type;
      } else {
        bad_value(name, value,
                  "unpacker, packer, intermediate, gradient_op, dram_io, dram_prolog, dram_epilog, relay, ethernet_relay, prolog_relay "
                  "or unknown");
      }
      return;
    case SpecialKey::chip:
      list(name, value, list_value);
      if (list_value.size() == 1) {
        b.chip = list_value[0];
      } else {
        bad_value(name, value, "a list with one chip");
      }
      return;
    case SpecialKey::core:
      list(name, value, list_value);
      if (list_value.size() == 2) {
        b.core = {list_value[0], list_value[1]};
      } else {
        bad_value(name, value, "[row, column]");
      }
      return;
    case SpecialKey::prefetch: {
      std::int32_t type = 0;
      number(name, value, type);
      if (type < -1 || type > 1) {
        bad_value(name, value, "-1, 0 or 1");
      } else {
        b.prefetch_type = static_cast<PrefetchType>(type);
      }
      return;
    }
    case SpecialKey::address:
      number(name, value, b.dram_addr);
      return;
  }
}

std::optional<std::size_t> PipegenValues::new_key(std::string_view key) {
  auto found = what_ == What::buffer ? find_buffer_key(key) : find_pipe_key(key);
  if (!found) {
    unknown_key(key);
  } else if (!first_time(*found, key)) {
    return std::nullopt;
  }
  return found;
}

void PipegenValues::set_buffer(std::string_view key, std::string_view value) {
  Buffer& b = graph_.buffers.back();
  auto found = new_key(key);
  if (!found) return;
  auto put = [&](auto&& member) {
    using M = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<M, SpecialKey>) {
      set_special(member, key, value, b);
    } else if constexpr (requires { member.emplace(); }) {
      number(key, value, member.emplace());
    } else {
      number(key, value, member);
    }
  };
  visit_key(buffer_keys()[*found], put, b);
}

void PipegenValues::set_pipe(std::string_view key, std::string_view value) {
  Pipe& p = graph_.pipes.back();
  auto found = new_key(key);
  if (!found) return;
  auto put = [&](auto&& member) {
    using M = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<M, MmioFlag>) {
      bool flag = false;
      number(key, value, flag);
      if (flag && !p.mmio_downstream) p.mmio_downstream = 0;
    } else if constexpr (std::is_same_v<M, std::vector<std::vector<Id>>>) {
      groups(key, value, member);
    } else if constexpr (std::is_same_v<M, std::vector<CoreCoord>>) {
      cores(key, value, member);
    } else if constexpr (requires { member.begin(); }) {
      list(key, value, member);
    } else if constexpr (requires { member.emplace(); }) {
      number(key, value, member.emplace());
    } else {
      number(key, value, member);
    }
  };
  visit_key(pipe_keys()[*found], put, p);
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
        if (!std::in_range<std::int32_t>(n)) return bad_value(key, cat(n), range_text<std::int32_t>());
        member.push_back(static_cast<std::int32_t>(n));
      }
    } else {
      bad_value(key, "[…]", "no list of numbers");
    }
  };
  visit_key(pipe_keys()[*found], put, graph_.pipes.back());
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
  visit_key(pipe_keys()[*found], put, graph_.pipes.back());
}

void PipegenValues::check_buffer(const Buffer& b, FilePlace at) {
  auto bad = [&](std::string_view key, std::int64_t value, std::string_view why) {
    error("PG008", at, cat("buffer_", b.id, ": ", key, " is ", value, "; ", why));
  };
  auto least = [&](std::string_view key, std::int64_t value, std::int64_t minimum) {
    if (value < minimum) bad(key, value, minimum == 0 ? "it cannot be negative" : "it must be at least 1");
  };
  least("epoch_tiles", b.epoch_tiles, 0);
  least("tiles_per_input", b.tiles_per_input, 0);
  least("size_tiles", b.size_tiles, 0);
  least("tile_size", b.tile_size, 0);
  least("q_slots", b.q_slots, 0);
  least("id", b.operand, 0);
  least("tile_clear_granularity", b.tile_clear_granularity, 0);
  least("scatter_gather_num_tiles", b.scatter_gather_num_tiles, b.is_scatter ? 1 : 0);
  least("replicate", b.replicate, b.is_scatter ? 1 : 0);
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  for (std::int64_t v : {b.epoch_tiles, b.size_tiles, b.scatter_gather_num_tiles, b.replicate, b.tiles_per_input, b.q_slots})
    if (v > kMost) bad("a number of tiles", v, "that is more than any device holds");
  if (b.is_scatter && b.replicate > 0 && b.scatter_gather_num_tiles > kMost / b.replicate)
    bad("replicate", b.replicate, "that is too much");
}

void PipegenValues::check_buffers(const BufferIndex& index) {
  for (std::size_t i = 0; i < graph_.buffers.size(); ++i) check_buffer(graph_.buffers[i], buffer_places_[i]);
  if (const Buffer* twice = index.duplicate()) {
    for (std::size_t i = graph_.buffers.size(); i-- > 0;) {
      if (graph_.buffers[i].id != twice->id) continue;
      error("PG009", buffer_places_[i], cat("there are two buffers ", twice->id));
      break;
    }
  }
}

void PipegenValues::check_pipes(const BufferIndex& index) {
  std::vector<Id> ids;
  for (std::size_t i = 0; i < graph_.pipes.size(); ++i) {
    const Pipe& p = graph_.pipes[i];
    FilePlace at = pipe_places_[i];
    auto bad = [&](const std::string& what) { error("PG010", at, cat("pipe_", p.id, ": ", what)); };
    auto exists = [&](Id id, std::string_view list) {
      if (index.find(id) == nullptr) bad(cat(list, " names ", id, ", which is no buffer or block of one"));
    };
    ids.push_back(p.id);
    if (p.inputs.empty()) bad("input_list is empty");
    for (Id id : p.inputs) exists(id, "input_list");
    if (p.outputs.empty()) bad("output_list is empty");
    for (const auto& group : p.outputs) {
      if (group.empty()) bad("output_list has an empty list");
      for (Id id : group) exists(id, "output_list");
    }
    for (Id id : p.output_padding)
      if (id != 0) exists(id, "output_padding_list");
    if (p.mcast_core.size() != p.outputs.size())
      bad(cat("mcast_core_rc has ", p.mcast_core.size(), " cores for ", p.outputs.size(), " lists of outputs"));
    if (!p.output_padding.empty() && p.output_padding.size() != p.outputs.size())
      bad("output_padding_list and output_list differ in length");
    if (p.periodic_repeat < 0 || p.periodic_repeat > (1 << 30)) bad(cat("pipe_periodic_repeat is ", p.periodic_repeat));
    if (p.dram_total_readers.size() != p.dram_reader_index.size())
      bad("dram_pipe_total_readers and dram_pipe_reader_index differ in length");
    for (const auto* list : {&p.dram_total_readers, &p.dram_reader_index})
      if (std::any_of(list->begin(), list->end(), [](std::int32_t n) { return n < 0; }))
        bad(cat(list == &p.dram_reader_index ? "dram_pipe_reader_index" : "dram_pipe_total_readers", " has a number below 0"));
  }
  std::sort(ids.begin(), ids.end());
  auto twice = std::adjacent_find(ids.begin(), ids.end());
  for (std::size_t i = graph_.pipes.size(); twice != ids.end() && i-- > 0;) {
    if (graph_.pipes[i].id != *twice) continue;
    error("PG009", pipe_places_[i], cat("there are two pipes ", *twice));
    break;
  }
}

Result<PlacedGraph> PipegenValues::finish() && {
  end();
  if (failure_.empty()) {
    BufferIndex index(graph_.buffers);
    check_buffers(index);
    check_pipes(index);
    if (graph_.buffers.empty() && failure_.empty()) error("PG002", {}, "there are no buffers in this file");
  }
  if (!failure_.empty()) return std::move(failure_);
  return PlacedGraph{std::move(graph_), std::move(buffer_places_), std::move(pipe_places_)};
}

}  // namespace buda::pipes
