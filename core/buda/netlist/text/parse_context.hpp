// SPDX-License-Identifier: Apache-2.0
// What the parts of the netlist reader share: readers of single values, and of elements field by field. Internal to this module.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/io/node.hpp>
#include <buda/netlist/model/block_shape.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/netlist/model/op_types.hpp>
#include <buda/netlist/model/source_location.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/parse_errors.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::netlist {

// Errors, and readers of single values that report them.
class ParseContext : public ParseErrors {
 public:
  using ParseErrors::ParseErrors;

  // Each reads `node` into `out`, or reports what is wrong with `field` and leaves `out` alone.
  bool integer(const io::Node& node, std::string_view field, std::int32_t& out, std::int64_t least = 0,
               std::int64_t most = std::numeric_limits<std::int32_t>::max());
  bool dimension(const io::Node& node, std::string_view field, std::int32_t& out);
  bool pair(const io::Node& node, std::string_view field, std::int32_t& first, std::int32_t& second, std::int64_t least, std::int64_t most);
  bool integers(const io::Node& node, std::string_view field, std::vector<std::int32_t>& out, std::int64_t least = 0);
  bool boolean(const io::Node& node, std::string_view field, bool& out);
  bool real(const io::Node& node, std::string_view field, double& out);
  bool name(const io::Node& node, std::string_view field, std::string& out);
  // Names are keys in netlists, and YAML's keys are short.
  void check_length(const io::Node& at, const std::string& name);
  bool names(const io::Node& node, std::string_view field, std::vector<std::string>& out);
  bool format(const io::Node& node, std::string_view field, DataFormat& out);
  bool list(const io::Node& node, std::string_view field);
  bool map(const io::Node& node, std::string_view field);
  template <class E>
  bool word(const io::Node& node, std::string_view field, E& out) {
    std::string text;
    if (!name(node, field, text)) return false;
    if (auto value = from_name<E>(text)) {
      out = *value;
      return true;
    }
    unknown("NL003", node, field, text, names_of<E>());
    return false;
  }
};

// A field of an element: its key, the place it is remembered under, and its reader. Elements are read table row by table row, so that
// the order of keys in the file is of no importance.
template <class T>
struct FieldRow {
  std::string_view key;
  std::optional<Field> field;
  bool required;
  void (*read)(ParseContext&, const io::Node&, T&);
};

// Reads the rows' fields. A key that occurs twice is read twice, as in the original: the later value wins, lists grow. `also` accepts
// further keys (input_N_tms, …); the rest is reported.
template <class T, class Also>
void read_fields(ParseContext& ctx, const io::Node& node, const std::vector<FieldRow<T>>& rows, T& out, SourceLocations& places,
                 Also also) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> row_of(node.size(), kNone);
  std::vector<std::uint16_t> times(rows.size(), 0);
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::string& key = node.keys()[i];
    std::size_t row = 0;
    while (row < rows.size() && rows[row].key != key) ++row;
    if (row < rows.size()) {
      row_of[i] = row;
      if (times[row]++ == 1) ctx.repeated(node.items()[i], key);
    } else if (!also(key, node.items()[i])) {
      std::vector<std::string> known;
      for (const auto& r : rows) known.emplace_back(r.key);
      ctx.unknown("NL001", node.items()[i], "key", key, known);
    }
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (times[row] == 0 && rows[row].required) ctx.error("NL002", node, cat("'", rows[row].key, "' is missing"));
    for (std::size_t i = 0; times[row] > 0 && i < node.size(); ++i) {
      if (row_of[i] != row) continue;
      if (rows[row].field && times[row] == 1) places.set(*rows[row].field, location_of(node.items()[i]));
      rows[row].read(ctx, node.items()[i], out);
    }
  }
}

// Reports names that are too long, or occur twice among the keys of a map of named elements.
void check_unique_keys(ParseContext& ctx, const io::Node& node, std::string_view what);

// An int or a list of ints: the chips of a queue or graph.
bool read_devices(ParseContext& ctx, const io::Node& node, std::vector<std::int32_t>& out);

// ---- the parts

struct QueueDraft {
  Queue queue;
  std::vector<std::int32_t> devices;
  bool listed = false;  // one instance for each device, rather than one element
};
struct GraphDraft {
  Graph graph;
  std::vector<std::int32_t> devices;
  bool listed = false;
};

QueueDraft parse_queue(ParseContext& ctx, const std::string& name, const io::Node& node);
GraphDraft parse_graph(ParseContext& ctx, const std::string& name, const io::Node& node);
Op parse_op(ParseContext& ctx, const std::string& name, const io::Node& node);
// The attributes of an op or sub-op. Whether its type has them is asked of known types only. `inputs` receives what belongs to single
// inputs; null for sub-ops.
void parse_attributes(ParseContext& ctx, const io::Node& node, OpType type, OpAttributes& out, std::vector<OpInput>* inputs,
                      SourceLocations& places, bool known_type = true);
void parse_tms(ParseContext& ctx, const io::Node& node, std::string_view name, std::vector<Tm>& out);
FusedOp parse_fused_op(ParseContext& ctx, const std::string& id, const io::Node& node);
Program parse_program(ParseContext& ctx, const std::string& name, const io::Node& node);

// "input_12_tms": the 12 and the "tms".
struct InputKey {
  std::size_t index = 0;
  std::string_view what;
};
std::optional<InputKey> split_input_key(std::string_view key);

// Replaces queues and graphs that are placed on several chips by one instance per chip; programs are in the netlist already.
void expand_instances(ParseContext& ctx, std::vector<QueueDraft> queues, std::vector<GraphDraft> graphs, Netlist& netlist);
// Leaves them as they are, with the chips in `instances`.
void keep_instances(std::vector<QueueDraft> queues, std::vector<GraphDraft> graphs, Netlist& netlist);

}  // namespace buda::netlist
