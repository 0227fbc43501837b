// Values of pipegen files, and the consistency of the whole.
#include <buda/pipes/pipegen_values.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/pipes/pipegen_keys.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <type_traits>

namespace buda::pipes {
namespace {

constexpr std::array<std::string_view, 21> kPipeKeys = {
    "id",
    "input_list",
    "output_list",
    "pipe_periodic_repeat",
    "pipe_consumer_repeat",
    "incoming_noc_id",
    "outgoing_noc_id",
    "incoming_vc",
    "outgoing_vc",
    "mcast_core_rc",
    "output_padding_list",
    "op_input_dram_io_buf_size_tiles",
    "direct_mcast",
    "ethernet_pipe",
    "ethernet_chan",
    "mmio_pipe",
    "mmio_pipe_downstream",
    "dis_gather_opt",
    "dram_pipe_total_readers",
    "dram_pipe_reader_index",
    "dram_pipe_num_forks",
};
constexpr std::string_view kForkIndex = "dram_pipe_fork_index";
constexpr std::size_t kPipeIdBit = 0, kPipeInputsBit = 1, kPipeOutputsBit = 2;

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

void PipegenValues::error(std::string code, std::uint32_t line, std::uint32_t column, std::string message, std::string hint) {
  if (full()) return;
  Diagnostic d = input_error(std::move(code), {file_, line, column}, std::move(message));
  d.hint = std::move(hint);
  failure_.add(std::move(d));
}

bool PipegenValues::begin(std::string_view header, std::uint32_t line, std::uint32_t column) {
  end();
  if (header.starts_with("buffer_")) {
    kind_ = Kind::buffer;
    header_id_ = header.substr(7);
    graph_.buffers.emplace_back();
    buffer_places_.push_back({line, column});
  } else if (header.starts_with("pipe_")) {
    kind_ = Kind::pipe;
    header_id_ = header.substr(5);
    graph_.pipes.emplace_back();
    pipe_places_.push_back({line, column});
  } else {
    return false;
  }
  seen_.reset();
  return true;
}

void PipegenValues::end() {
  if (kind_ == Kind::none) return;
  bool buffer = kind_ == Kind::buffer;
  Where at = buffer ? buffer_places_.back() : pipe_places_.back();
  std::string what = cat(buffer ? "buffer_" : "pipe_", header_id_);
  auto need = [&](std::size_t bit, std::string_view key) {
    if (!seen_[bit]) error("PG004", at.line, at.column, cat(what, " has no '", key, "'"));
  };
  if (buffer) {
    need(*find_buffer_key("uniqid"), "uniqid");
    need(*find_buffer_key("buffer_type"), "buffer_type");
  } else {
    need(kPipeIdBit, "id");
    need(kPipeInputsBit, "input_list");
    need(kPipeOutputsBit, "output_list");
  }
  Id id = buffer ? graph_.buffers.back().id : graph_.pipes.back().id;
  bool has_id = buffer ? seen_[*find_buffer_key("uniqid")] : seen_[kPipeIdBit];
  Id named = 0;
  if (has_id && (!parse_number(std::string_view(header_id_), named) || named != id))
    error("PG005", at.line, at.column, cat(what, " calls itself ", id, " inside"));
  kind_ = Kind::none;
}

void PipegenValues::set(std::string_view key, std::string_view value, std::uint32_t line, std::uint32_t key_column,
                        std::uint32_t value_column) {
  key_place_ = {line, key_column};
  value_place_ = {line, value_column};
  if (key.starts_with("x-")) return;
  if (kind_ == Kind::buffer) {
    set_buffer(key, value);
  } else if (kind_ == Kind::pipe) {
    set_pipe(key, value);
  }
}

bool PipegenValues::first_time(std::size_t bit, std::string_view key) {
  if (seen_[bit]) {
    error("PG006", key_place_.line, key_place_.column, cat("key '", key, "' stands here a second time"));
    return false;
  }
  seen_.set(bit);
  return true;
}

void PipegenValues::unknown_key(std::string_view key, const std::vector<std::string>& known) {
  auto near = nearest_word(key, known);
  std::string what = kind_ == Kind::buffer ? "a buffer" : "a pipe";
  error("PG003", key_place_.line, key_place_.column, cat("unknown key '", key.substr(0, 80), "' in ", what),
        near ? cat("did you mean '", *near, "'?") : "");
}

void PipegenValues::bad_value(std::string_view key, std::string_view value, std::string_view expected) {
  error("PG007", value_place_.line, value_place_.column,
        cat("'", key, "': expected ", expected, ", found '", value.substr(0, 40), value.size() > 40 ? "…'" : "'"));
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

void PipegenValues::set_buffer(std::string_view key, std::string_view value) {
  Buffer& b = graph_.buffers.back();
  auto found = find_buffer_key(key);
  if (!found) {
    std::vector<std::string> known;
    for (const BufferKey& k : buffer_keys()) known.emplace_back(k.name);
    return unknown_key(key, known);
  }
  if (!first_time(*found, key)) return;
  auto special = [&](SpecialKey s) {
    std::vector<std::int32_t> list_value;
    switch (s) {
      case SpecialKey::op:
        b.op = value;
        break;
      case SpecialKey::type:
        if (auto type = buffer_type_from_name(value)) {
          b.type = *type;
        } else {
          bad_value(key, value,
                    "unpacker, packer, intermediate, gradient_op, dram_io, dram_prolog, dram_epilog, relay, ethernet_relay, prolog_relay "
                    "or unknown");
        }
        break;
      case SpecialKey::chip:
        list(key, value, list_value);
        if (list_value.size() == 1) {
          b.chip = list_value[0];
        } else {
          bad_value(key, value, "a list with one chip");
        }
        break;
      case SpecialKey::core:
        list(key, value, list_value);
        if (list_value.size() == 2) {
          b.core = {list_value[0], list_value[1]};
        } else {
          bad_value(key, value, "[row, column]");
        }
        break;
      case SpecialKey::prefetch: {
        std::int32_t type = 0;
        number(key, value, type);
        if (type < -1 || type > 1) {
          bad_value(key, value, "-1, 0 or 1");
        } else {
          b.prefetch_type = static_cast<PrefetchType>(type);
        }
        break;
      }
      case SpecialKey::address:
        number(key, value, b.dram_addr);
        break;
    }
  };
  std::visit(
      [&](const auto& member) {
        using M = std::decay_t<decltype(member)>;
        if constexpr (std::is_same_v<M, SpecialKey>) {
          special(member);
        } else if constexpr (requires { b.*member; }) {
          if constexpr (requires { (b.*member).emplace(); }) {
            number(key, value, (b.*member).emplace());
          } else {
            number(key, value, b.*member);
          }
        } else if constexpr (requires { b.untilized.*member; }) {
          number(key, value, b.untilized.*member);
        } else {
          number(key, value, b.rows.*member);
        }
      },
      buffer_keys()[*found].member);
}

void PipegenValues::set_pipe(std::string_view key, std::string_view value) {
  Pipe& p = graph_.pipes.back();
  std::size_t k = static_cast<std::size_t>(std::find(kPipeKeys.begin(), kPipeKeys.end(), key) - kPipeKeys.begin());
  if (k == kPipeKeys.size() && key != kForkIndex) {
    std::vector<std::string> known(kPipeKeys.begin(), kPipeKeys.end());
    known.emplace_back(kForkIndex);
    return unknown_key(key, known);
  }
  if (!first_time(k, key)) return;
  bool ignored = false;
  switch (k) {
    case kPipeIdBit:
      return number(key, value, p.id);
    case kPipeInputsBit:
      return list(key, value, p.inputs);
    case kPipeOutputsBit:
      return groups(key, value, p.outputs);
    case 3:
      return number(key, value, p.periodic_repeat);
    case 4:
      return number(key, value, p.consumer_repeat);
    case 5:
      return number(key, value, p.incoming_noc);
    case 6:
      return number(key, value, p.outgoing_noc);
    case 7:
      return number(key, value, p.incoming_vc);
    case 8:
      return number(key, value, p.outgoing_vc);
    case 9:
      return cores(key, value, p.mcast_core);
    case 10:
      return list(key, value, p.output_padding);
    case 11:
      return number(key, value, p.op_input_dram_io_buf_size_tiles);
    case 12:
      return number(key, value, p.direct_mcast);
    case 13:
      return number(key, value, p.ethernet_pipe);
    case 14:
      return number(key, value, p.ethernet_chan.emplace());
    case 15:
      if (!p.mmio_downstream) p.mmio_downstream = 0;
      return number(key, value, ignored);
    case 16:
      return number(key, value, p.mmio_downstream.emplace());
    case 17:
      return number(key, value, p.disable_gather_optimization);
    case 18:
      return list(key, value, p.dram_total_readers);
    case 19:
      return list(key, value, p.dram_reader_index);
    case 20:
      return number(key, value, p.dram_num_forks);
    default:
      return number(key, value, p.dram_fork_index);
  }
}

void PipegenValues::check_buffer(const Buffer& b, Where at) {
  auto bad = [&](std::string_view key, std::int64_t value, std::string_view why) {
    error("PG008", at.line, at.column, cat("buffer_", b.id, ": ", key, " is ", value, "; ", why));
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
      error("PG009", buffer_places_[i].line, buffer_places_[i].column, cat("there are two buffers ", twice->id));
      break;
    }
  }
}

void PipegenValues::check_pipes(const BufferIndex& index) {
  std::vector<Id> ids;
  for (std::size_t i = 0; i < graph_.pipes.size(); ++i) {
    const Pipe& p = graph_.pipes[i];
    Where at = pipe_places_[i];
    auto bad = [&](const std::string& what) { error("PG010", at.line, at.column, cat("pipe_", p.id, ": ", what)); };
    auto exists = [&](Id id, std::string_view list) {
      if (index.find(id) == nullptr) bad(cat(list, " names ", id, ", which is no buffer or block of one"));
    };
    ids.push_back(p.id);
    if (p.inputs.empty()) bad("input_list is empty");
    for (Id id : p.inputs) exists(id, "input_list");
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
  }
  std::sort(ids.begin(), ids.end());
  auto twice = std::adjacent_find(ids.begin(), ids.end());
  for (std::size_t i = graph_.pipes.size(); twice != ids.end() && i-- > 0;) {
    if (graph_.pipes[i].id != *twice) continue;
    error("PG009", pipe_places_[i].line, pipe_places_[i].column, cat("there are two pipes ", *twice));
    break;
  }
}

Result<PipeGraph> PipegenValues::finish() && {
  end();
  if (failure_.empty()) {
    BufferIndex index(graph_.buffers);
    check_buffers(index);
    check_pipes(index);
    if (graph_.buffers.empty() && failure_.empty()) error("PG002", 0, 0, "there are no buffers in this file");
  }
  if (!failure_.empty()) return std::move(failure_);
  return std::move(graph_);
}

}  // namespace buda::pipes
