// SPDX-License-Identifier: Apache-2.0
// Reading of overrides, and explanations of those that cannot be.
#include <buda/balance/legalize/overrides.hpp>

#include <buda/balance/problem/names.hpp>
#include <buda/balance/problem/selection.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/output_buffer.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

namespace buda::balance {
namespace {

constexpr std::array<std::string_view, 16> kKeys = {"grid",     "mblock",       "ublock",          "u_kt",
                                                    "t-stream", "t-stream-dir", "buf_size_mb",     "input-buffer-multiplier",
                                                    "place",    "transpose",    "dram-parameters", "resident-inputs",
                                                    "bands",    "wide-sums",    "epoch-break",     "chip"};

// Fields of PyBuda's OpOverride that have other names here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kPybudaKeys = {
    {{"grid_shape", "grid"},
     {"t_stream_shape", "t-stream"},
     {"t_stream_dir", "t-stream-dir"},
     {"force_dram_parameters", "dram-parameters"},
     {"input_buffer_multiplier", "input-buffer-multiplier"},
     {"output_buffer_multiplier", "buf_size_mb"},
     {"start", "place"},
     {"chip_id", "chip"},
     {"transpose_op", "transpose"}}};

std::string_view own_key(std::string_view key) {
  for (const auto& [theirs, ours] : kPybudaKeys)
    if (key == theirs) return ours;
  return key;
}

std::optional<std::int32_t> positive(std::string_view text) {
  auto value = parse_int(trim(text));
  if (!value || *value < 1 || *value > 1 << 20) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

std::optional<std::int32_t> natural(std::string_view text) { return trim(text) == "0" ? std::optional(0) : positive(text); }

std::string_view without_brackets(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && ((text.front() == '[' && text.back() == ']') || (text.front() == '(' && text.back() == ')') ||
                           (text.front() == '{' && text.back() == '}')))
    text = text.substr(1, text.size() - 2);
  return text;
}

// "[2, 4]", "(2, 4)", "2,4" or "2x4".
template <class Number>
std::optional<std::array<std::int32_t, 2>> pair(std::string_view text, Number&& number) {
  text = without_brackets(text);
  auto parts = split(text, text.find(',') != std::string_view::npos ? ',' : 'x');
  if (parts.size() != 2) return std::nullopt;
  auto a = number(parts[0]), b = number(parts[1]);
  if (!a || !b) return std::nullopt;
  return std::array{*a, *b};
}
std::optional<std::array<std::int32_t, 2>> pair(std::string_view text) { return pair(text, positive); }

// "0:4", "0:4,1:2" or "{0: 4, 1: 2}": numbers of operands, and of the inputs that their buffers hold.
std::optional<std::vector<std::pair<std::size_t, std::int32_t>>> by_operand(std::string_view text) {
  std::vector<std::pair<std::size_t, std::int32_t>> out;
  for (const auto& one : split(without_brackets(text), ',')) {
    auto parts = split(one, ':');
    if (parts.size() != 2) return std::nullopt;
    auto operand = natural(parts[0]), count = positive(parts[1]);
    if (!operand || !count) return std::nullopt;
    out.emplace_back(static_cast<std::size_t>(*operand), *count);
  }
  return out;
}

// "[0,2]" or "[]": numbers of operands, as bits.
std::optional<std::uint32_t> operand_bits(std::string_view text) {
  std::uint32_t out = 0;
  text = trim(without_brackets(text));
  if (text.empty()) return out;
  for (const auto& one : split(text, ',')) {
    const auto operand = natural(one);
    if (!operand || *operand >= 32) return std::nullopt;
    out |= std::uint32_t{1} << *operand;
  }
  return out;
}

std::optional<bool> boolean(std::string_view text) {
  if (text == "true" || text == "1" || text == "on" || text == "yes") return true;
  if (text == "false" || text == "0" || text == "off" || text == "no") return false;
  return std::nullopt;
}

Stream stream_of(std::int32_t rows, std::int32_t columns) {
  if (rows > 1) return {StreamDirection::r, rows};
  if (columns > 1) return {StreamDirection::c, columns};
  return {};
}

// What is wrong with the value; empty if nothing.
std::string store(std::string_view key, const std::string& value, OpOverride& out) {
  auto want = [&](const char* form) { return cat("'", value, "' is not ", form); };
  if (key == "grid" || key == "mblock" || key == "ublock") {
    auto p = pair(value);
    if (!p) return want("two positive integers, as in [2,4]");
    if (key == "grid") out.grid = GridShape{(*p)[0], (*p)[1]};
    if (key == "mblock") out.mblock = *p;
    if (key == "ublock") out.ublock = *p;
    return "";
  }
  if (key == "u_kt") {
    auto n = positive(value);
    if (!n) return want("a positive integer");
    out.u_kt = *n;
    return "";
  }
  if (key == "buf_size_mb") {
    auto n = positive(value);
    if (!n) return want("a positive integer");
    if (auto why = netlist::output_buffer_fault(*n, 1, 1)) return *why;
    out.buf_size_mb = *n;
    return "";
  }
  if (key == "input-buffer-multiplier") {
    auto buffers = by_operand(value);
    if (!buffers) return want("numbers of operands and of inputs, as in 0:4");
    out.buffered_inputs = std::move(*buffers);
    return "";
  }
  if (key == "resident-inputs") {
    out.resident = operand_bits(value);
    return out.resident ? "" : want("numbers of operands, as in [1,2]");
  }
  if (key == "bands") {
    out.bands = positive(value);
    return out.bands ? "" : want("a positive integer");
  }
  if (key == "wide-sums") {
    out.wide_sums = value == "none"   ? std::optional(WideSums::none)
                    : value == "sums" ? std::optional(WideSums::sums)
                    : value == "all"  ? std::optional(WideSums::all)
                                      : std::nullopt;
    return out.wide_sums ? "" : want("none, sums or all");
  }
  if (key == "place") {
    auto p = pair(value, natural);
    if (!p) return want("row and column of the first core, as in [0,3]");
    out.place = GridCoord{(*p)[0], (*p)[1]};
    return "";
  }
  if (key == "chip") {
    out.chip = natural(value);
    return out.chip ? "" : want("the number of a chip");
  }
  if (key == "t-stream") {
    auto p = pair(value);
    if (!p || ((*p)[0] > 1 && (*p)[1] > 1)) return want("parts along r or along c, as in [4,1] or [1,4]");
    out.stream = stream_of((*p)[0], (*p)[1]);
    return "";
  }
  if (key == "t-stream-dir") {
    out.stream_direction = direction_from_name(value);
    return out.stream_direction ? "" : want("a direction: n, r, c, rz or cz");
  }
  auto b = boolean(value);
  if (!b) return want("true or false");
  if (key == "transpose") out.transposed = *b;
  if (key == "dram-parameters") out.dram_parameters = *b;
  if (key == "epoch-break") out.epoch_break = *b;
  return "";
}

// "operands 1 and 2 may be kept".
std::string constants_of(const OpSpec& spec) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < spec.operands.size(); ++i)
    if (spec.operands[i].constant) out.push_back(cat(i));
  if (out.empty()) return "the op has none that could be kept";
  return cat(out.size() == 1 ? "operand " : "operands ", join(out, ", "), " can be kept");
}

// Why it cannot go through an inner dimension in such steps; empty if nothing is known of that.
std::string broken_steps(const OpSpec& spec, std::int32_t u_kt) {
  const bool is_product = ops::multiplies_matrices(spec.op.type);
  if (!is_product && ops::sums_products(spec.op.type))
    return u_kt == 1 ? "" : "a depthwise op goes through its inner dimension tile by tile: 1 is legal";
  const netlist::Dim dim = spec.op.attributes.reduce_dim;
  const bool reduces = spec.op.type == netlist::OpType::reduce && (dim == netlist::Dim::r || dim == netlist::Dim::c);
  return is_product || reduces ? "" : "the op has no inner dimension, through which it would go in steps";
}

// What an override names that the op does not have; empty if nothing.
std::string missing_part(const OpSpec& spec, const OpOverride& overrides) {
  if (overrides.bands && !(spec.selection && spec.selection->slices > 1))
    return "only sparse matmuls with several slices have bands of rows";
  if (overrides.u_kt)
    if (std::string why = broken_steps(spec, *overrides.u_kt); !why.empty()) return why;
  if (overrides.wide_sums && *overrides.wide_sums != WideSums::none && spec.sum_roundings == 0)
    return "the op has no sums in 16 bits that may have more, or accumulate_df of mixed precision says how many they have";
  for (const auto& [operand, count] : overrides.buffered_inputs)
    if (operand >= spec.operands.size())
      return cat("there is no operand ", operand, "; the op has ", spec.operands.size(), ", numbered from 0");
  for (std::size_t i = 0; overrides.resident && i < 32; ++i) {
    if ((*overrides.resident >> i & 1) == 0) continue;
    if (i >= spec.operands.size()) return cat("there is no operand ", i, "; the op has ", spec.operands.size(), ", numbered from 0");
    if (!spec.operands[i].constant)
      return cat("operand ", i, " is no parameter or constant, and differs for each input; ", constants_of(spec));
  }
  return "";
}

// Whether an op does the work of a node of the model, which its label names; nodes that became several ops have names with further parts.
bool works_for(const OpSpec& op, std::string_view node) {
  constexpr std::string_view kBetween = " + ";
  std::string_view rest = op.label;
  while (true) {
    const auto end = rest.find(kBetween);
    for (const std::string& part : {std::string(rest.substr(0, end)), netlist_name(rest.substr(0, end))})
      if (part == node || part.starts_with(cat(node, '.'))) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + kBetween.size());
  }
}

Diagnostic unknown_op(const Problem& problem, const std::string& name, const std::string& key) {
  std::vector<std::string> names, workers;
  for (const auto& op : problem.ops) {
    names.push_back(op.node_name);
    if (works_for(op, name)) workers.push_back(op.node_name);
  }
  Diagnostic d = usage_error("BL020", cat("op.", key, ": there is no op '", name, "' in the graph"));
  if (!workers.empty()) {
    d.hint = cat("the model's node of this name is computed by ", workers.size() == 1 ? "the op " : "the ops ", join(workers, ", "));
  } else if (auto near = nearest_word(name, names)) {
    d.hint = cat("did you mean '", *near, "'?");
  } else {
    constexpr std::size_t kMaxNames = 12;
    bool more = names.size() > kMaxNames;
    if (more) names.resize(kMaxNames);
    d.hint = cat("its ops are ", join(names, ", "), more ? ", …" : "");
  }
  return d;
}

Diagnostic unknown_key(const std::string& word, const std::string& key) {
  std::vector<std::string> known(kKeys.begin(), kKeys.end());
  Diagnostic d = usage_error("BL021", cat("op.", key, ": ops have no '", word, "'; they have ", join(known, ", ")));
  if (auto near = nearest_word(word, known)) d.hint = cat("did you mean '", *near, "'?");
  return d;
}

// Why the result cannot be cut so; empty where it can.
std::string broken_stream(const OpSpec& spec, const OpOverride& overrides) {
  const Stream& stream = *overrides.stream;
  if (stream.parts == 1) return "";
  const bool by_rows = cuts_rows(stream.direction);
  const std::string_view direction = direction_name(overrides.stream_direction.value_or(stream.direction));
  if (overrides.stream_direction &&
      (*overrides.stream_direction == StreamDirection::none || cuts_rows(*overrides.stream_direction) != by_rows))
    return cat("t-stream cuts along ", by_rows ? 'r' : 'c', ", and t-stream-dir is ", direction);
  const auto open = streams_of(spec);
  if (std::any_of(open.begin(), open.end(), [&](const Stream& s) { return overrides.allows(s, spec.out.t); })) return "";
  OpOverride any_number = overrides;
  auto same = [&](const Stream& s) {
    any_number.stream->parts = s.parts;
    return any_number.allows(s, spec.out.t);
  };
  if (!std::any_of(open.begin(), open.end(), same)) return cat("its result cannot be cut into parts along ", direction);
  return cat(stream.parts, " parts along ", by_rows ? 'r' : 'c', " do not divide the result's ", by_rows ? spec.out.rt : spec.out.ct,
             by_rows ? " tile rows" : " tile columns");
}

// The first rule that the override breaks, in words; empty when it is about memory.
std::string broken_rule(const OpSpec& spec, const OpOverride& overrides, const device::DeviceDescriptor& device) {
  GridShape chip = device.grid();
  auto divides = [](std::int64_t d, std::int64_t n) { return n % d == 0; };
  if (overrides.stream)
    if (std::string why = broken_stream(spec, overrides); !why.empty()) return why;
  const netlist::TileShape out = held_shape(spec.out, held_result(spec, overrides.stream.value_or(Stream{})));
  const char* whole = overrides.stream && overrides.stream->parts > 1 ? "a part's " : "the result's ";
  if (overrides.place && (overrides.place->row >= chip.rows || overrides.place->col >= chip.cols))
    return cat("place [", overrides.place->row, ',', overrides.place->col, "] is outside ", device.name, " (", chip.rows, 'x', chip.cols,
               " workers)");
  if (overrides.place && overrides.grid && !overrides.place_rule(false).fits(*overrides.grid, chip))
    return cat("grid ", overrides.grid->rows, 'x', overrides.grid->cols, " at place [", overrides.place->row, ',', overrides.place->col,
               "] exceeds ", device.name, " (", chip.rows, 'x', chip.cols, " workers)");
  if (overrides.grid) {
    if (overrides.grid->rows > chip.rows || overrides.grid->cols > chip.cols)
      return cat("grid ", overrides.grid->rows, 'x', overrides.grid->cols, " does not fit ", device.name, " (", chip.rows, 'x', chip.cols,
                 " workers)");
    if (!divides(overrides.grid->rows, out.rt) || !divides(overrides.grid->cols, out.ct))
      return cat("grid ", overrides.grid->rows, 'x', overrides.grid->cols, " does not divide ", whole, out.rt, 'x', out.ct, " tiles");
  }
  std::int64_t rows = out.rt / (overrides.grid ? overrides.grid->rows : 1), cols = out.ct / (overrides.grid ? overrides.grid->cols : 1);
  if (overrides.ublock) {
    std::int64_t tiles = std::int64_t{(*overrides.ublock)[0]} * (*overrides.ublock)[1];
    std::int32_t dest = device.dest_tiles(spec.op.acc_format);
    if (tiles > dest)
      return cat("a ublock of ", tiles, " tiles does not fit the destination register, which holds ", dest, " of ",
                 format_name(spec.op.acc_format));
    if (!divides((*overrides.ublock)[0], rows) || !divides((*overrides.ublock)[1], cols))
      return cat("ublock ", (*overrides.ublock)[0], 'x', (*overrides.ublock)[1], " does not divide ", overrides.grid ? "a core's " : whole,
                 rows, 'x', cols, " tiles");
  }
  if (overrides.mblock && (!divides((*overrides.mblock)[0], rows) || !divides((*overrides.mblock)[1], cols)))
    return cat("mblock ", (*overrides.mblock)[0], 'x', (*overrides.mblock)[1], " does not divide ", overrides.grid ? "a core's " : whole,
               rows, 'x', cols, " tiles");
  if (overrides.u_kt && !divides(*overrides.u_kt, spec.inner))
    return cat("u_kt ", *overrides.u_kt, " does not divide the inner dimension of ", spec.inner, " tiles");
  if (overrides.bands && overrides.grid && *overrides.bands != 1 && *overrides.bands != overrides.grid->rows)
    return cat(*overrides.bands, " bands are neither 1 nor the grid's ", overrides.grid->rows, " rows");
  if (overrides.ublock && overrides.mblock && overrides.grid) return "grid, mblock and ublock together do not make up the result";
  return "";
}

// "fc1.grid" as the name of an op and the word for what is overridden.
struct Key {
  std::string name, word;
};

Result<Key> parse_key(const std::string& key) {
  const auto dot = key.rfind('.');
  if (dot == std::string::npos) return usage_error("BL021", cat("op.", key, ": expected one of ", kOverrideForms));
  Key out{key.substr(0, dot), std::string(own_key(std::string_view(key).substr(dot + 1)))};
  if (std::find(kKeys.begin(), kKeys.end(), out.word) == kKeys.end()) return unknown_key(out.word, key);
  return out;
}

}  // namespace

Result<void> check_override_forms(const std::map<std::string, std::string>& given) {
  Failure failure;
  for (const auto& [key, value] : given) {
    OpOverride of_no_op;
    if (auto parsed = parse_key(key); !parsed) {
      failure.add(std::move(parsed).failure());
    } else if (std::string why = store(parsed->word, value, of_no_op); !why.empty()) {
      failure.add(usage_error("BL022", cat("op.", key, ": ", why)));
    }
  }
  if (!failure.empty()) return failure;
  return success();
}

Result<std::vector<OpOverride>> parse_overrides(const Problem& problem, const std::map<std::string, std::string>& given) {
  std::vector<OpOverride> out(problem.ops.size());
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) by_name.emplace(problem.ops[i].op.name, i);
  // Labels win where a netlist name happens to be another node's.
  for (std::size_t i = 0; i < problem.ops.size(); ++i) by_name[problem.ops[i].node_name] = i;
  Failure failure;
  for (const auto& [key, value] : given) {
    const auto parsed = parse_key(key);
    if (!parsed) {
      failure.add(parsed.failure());
      continue;
    }
    const auto& [name, word] = *parsed;
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      failure.add(unknown_op(problem, name, key));
    } else if (std::string why = store(word, value, out[found->second]); !why.empty()) {
      failure.add(usage_error("BL022", cat("op.", key, ": ", why)));
    } else if (std::string missing = missing_part(problem.ops[found->second], out[found->second]); !missing.empty()) {
      failure.add(usage_error("BL022", cat("op.", key, ": ", missing)));
    } else {
      out[found->second].given.push_back(cat("op.", key, '=', value));
      out[found->second].asked_as = name;
    }
  }
  if (!failure.empty()) return failure;
  return out;
}

Diagnostic illegal_override(const OpSpec& spec, const OpOverride& overrides, const std::vector<std::string>& nearest,
                            const device::DeviceDescriptor& device) {
  std::string why = broken_rule(spec, overrides, device);
  if (why.empty())
    why = overrides.buf_size_mb ? "it needs more than a core has, or not all inputs of an epoch fill its halves"
                                : "it needs more than a core has";
  Diagnostic d = usage_error("BL023", cat(join(overrides.given, ", "), " is illegal for op '", spec.label, "': ", why));
  d.node = spec.node_name;
  // Each can be pasted as a whole.
  if (!nearest.empty()) d.hint = cat("nearest legal: ", nearest.front());
  for (std::size_t i = 1; i < nearest.size(); ++i) d.notes.push_back({{}, cat("further away, also legal: ", nearest[i])});
  return d;
}

}  // namespace buda::balance
