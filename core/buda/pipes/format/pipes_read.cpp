// SPDX-License-Identifier: Apache-2.0
// Reads pipes files.
#include <buda/pipes/format/pipes_file.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/pipes/format/pipegen_keys.hpp>
#include <buda/pipes/format/pipegen_values.hpp>
#include <buda/schema/record.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace buda::pipes {
namespace {

// A few bytes may encode many numbers, or for many copies of a name, so there is a limit to both together. The largest public model has
// 400,000 numbers in an epoch.
constexpr std::size_t kMaxNumbers = std::size_t{1} << 26;

// What every line of a kind has of that: characters of its name, or numbers of its lists.
std::size_t size_of(const Buffer& b) { return b.op.size(); }
std::size_t size_of(const Pipe& p) {
  std::size_t sum = p.inputs.size() + p.output_padding.size() + p.dram_total_readers.size() + p.dram_reader_index.size() +
                    3 * p.mcast_core.size() + p.outputs.size();
  for (const auto& group : p.outputs) sum += group.size();
  return sum;
}

// The keys of which the value is a name; those of all others are numbers or lists of them.
bool is_name(std::string_view key) { return key == "md_op_name" || key == "buffer_type"; }

const std::vector<std::string>& members() {
  static const std::vector<std::string> names = {"schema", "device", "graphs", "buffer_kinds", "buffers", "pipe_kinds", "pipes"};
  return names;
}

FilePlace place(const io::Node& node) { return {node.line(), node.column()}; }

class PipesReader {
 public:
  explicit PipesReader(const std::string& file) : errors_(file), values_(errors_) {}

  Result<PlacedGraph> run(const io::Node& top) && {
    BUDA_TRY(schema::check_header(top, {"buda.pipes", 1}));
    schema::Reader keys;
    schema::detail::check_keys(top, "pipes", members(), keys);
    for (const std::string& name : members())
      if (name != "device" && top.find(name) == nullptr) schema::detail::missing_key(top, "pipes", name, keys);
    if (keys.failed()) return std::move(keys).failure();
    const io::Node* device = top.find("device");
    if (device != nullptr && !device->is_string()) error("PG007", *device, cat("'device': expected a name, found ", device->describe()));
    for (const io::Node& graph : items(top, "graphs")) {
      if (!graph.is_string()) error("PG007", graph, cat("expected the name of a graph, found ", graph.describe()));
      values_.begin_graph(graph.text(), place(graph));
    }
    read<Buffer>(items(top, "buffer_kinds"), items(top, "buffers"));
    read<Pipe>(items(top, "pipe_kinds"), items(top, "pipes"));
    BUDA_ASSIGN(PlacedGraph placed, std::move(values_).finish());
    if (device != nullptr) placed.graph.device = device->text();
    return placed;
  }

 private:
  template <class T>
  struct Kind {
    PipegenValues::Kind<T> values;
    std::vector<std::string_view> each;  // keys whose values are in the lines
    std::size_t size = 0;                // of `values`
  };

  std::span<const io::Node> items(const io::Node& top, std::string_view name) {
    const io::Node& node = *top.find(name);
    if (node.is_list()) return node.items();
    error("PG007", node, cat("'", name, "': expected a list, found ", node.describe()));
    return {};
  }

  void error(std::string code, const io::Node& node, std::string message) { errors_.add(std::move(code), place(node), std::move(message)); }

  template <class T>
  void read(std::span<const io::Node> kind_nodes, std::span<const io::Node> lines) {
    std::vector<Kind<T>> kinds;
    for (const io::Node& node : kind_nodes) {
      Kind<T>& kind = kinds.emplace_back();
      values_.begin(PipegenValues::Kind<T>{}, place(node));
      read_kind<T>(node);
      kind.values = values_.take_kind<T>();
      kind.size = size_of(kind.values.common);
      values_.begin(kind.values, place(node));
      if (const io::Node* each = node.is_map() ? node.find("each") : nullptr) read_each(*each, kind.each);
      values_.take_kind<T>();
    }
    if (errors_.any()) return;  // each line would say the same again
    for (const io::Node& node : lines) {
      if (errors_.full()) return;
      read_line(node, kinds);
    }
  }

  template <class T>
  void read_kind(const io::Node& node) {
    if (!node.is_map()) return error("PG007", node, cat("expected what buffers or pipes have in common (a map), found ", node.describe()));
    for (std::size_t i = 0; i < node.size(); ++i)
      if (node.keys()[i] != "each") set<T>(node.keys()[i], node.items()[i]);
  }

  void read_each(const io::Node& list, std::vector<std::string_view>& each) {
    if (!list.is_list()) return error("PG007", list, cat("'each': expected a list of keys, found ", list.describe()));
    for (const io::Node& key : list.items()) {
      if (!key.is_string()) return error("PG007", key, cat("'each': expected a key, found ", key.describe()));
      values_.expect(key.text(), place(key));
      each.push_back(key.text());
    }
  }

  template <class T>
  void read_line(const io::Node& node, const std::vector<Kind<T>>& kinds) {
    if (!node.is_list() || node.size() == 0) return error("PG007", node, cat("expected [kind, value, …], found ", node.describe()));
    auto number = node.items().front().as_int();
    if (!number || *number < 0 || static_cast<std::size_t>(*number) >= kinds.size())
      return error("PG011", node.items().front(),
                   cat("there are kinds 0 to ", kinds.size(), " - 1 here, not ", node.items().front().text()));
    const Kind<T>& kind = kinds[static_cast<std::size_t>(*number)];
    if (node.size() != kind.each.size() + 1)
      return error("PG011", node,
                   cat("kind ", *number, " has ", kind.each.size(), " keys in 'each', and here are ", node.size() - 1, " values"));
    if (!has_room(node, kind.size)) return;
    values_.begin(kind.values, place(node));
    for (std::size_t i = 0; i < kind.each.size(); ++i) set<T>(kind.each[i], node.items()[i + 1]);
    values_.end();
  }

  template <class T>
  void set(std::string_view key, const io::Node& value) {
    const FilePlace at = place(value);
    if (key.starts_with("x-")) return;
    const bool fits = is_name(key) ? value.is_string() : value.is_list() || value.kind() == io::Node::Kind::integer;
    if (!fits)
      return error("PG007", value,
                   cat("'", key, "': expected ", is_name(key) ? "a string" : "a number or a list", ", found ", value.describe()));
    if (value.is_scalar()) return values_.set(key, value.text(), at, at);
    if (std::is_same_v<T, Buffer> || key == "mcast_core_rc") {
      values_.set(key, io::json_line(value), at, at);
    } else if (key == "output_list") {
      std::vector<std::vector<Id>> groups;
      for (const io::Node& item : value.items())
        if (!expand(item, groups.emplace_back())) break;
      values_.set_groups(key, std::move(groups), at);
    } else {
      std::vector<Id> numbers;
      expand(value, numbers);
      values_.set_numbers(key, std::move(numbers), at);
    }
  }

  std::optional<std::int64_t> number(const io::Node& node) {
    auto value = node.as_int();
    if (value) return *value;
    errors_.add(std::move(value.failure().diagnostics().front()));
    return std::nullopt;
  }

  // Ids have all 64 bits.
  std::optional<Id> id(const io::Node& node) {
    Id value = 0;
    const std::string& text = node.text();
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (node.kind() == io::Node::Kind::integer && failure == std::errc{} && end == text.data() + text.size()) return value;
    auto signed_value = number(node);
    if (signed_value) error("PG007", node, cat("it cannot be negative, and is ", *signed_value));
    return std::nullopt;
  }

  // Numbers, and runs: [number, count, step] or [[number or run, …], count, step]. What cannot be expanded is reported; the key counts as
  // set all the same.
  bool expand(const io::Node& list, std::vector<Id>& out) {
    if (!list.is_list()) {
      error("PG007", list, cat("expected a list of numbers, found ", list.describe()));
      return false;
    }
    for (const io::Node& item : list.items())
      if (!(item.is_list() ? expand_run(item, out) : add(item, out))) return false;
    return true;
  }

  bool add(const io::Node& item, std::vector<Id>& out) {
    auto value = id(item);
    if (!value || !has_room(item, 1)) return false;
    out.push_back(*value);
    return true;
  }

  bool expand_run(const io::Node& run, std::vector<Id>& out) {
    if (run.size() != 3) {
      error("PG007", run, cat("a run is [number, count, step] or [[number, …], count, step], not ", run.describe()));
      return false;
    }
    const std::size_t begin = out.size();
    const io::Node& head = run.items()[0];
    if (!(head.is_list() ? expand(head, out) : add(head, out))) return false;
    auto count = number(run.items()[1]), step = number(run.items()[2]);
    if (!count || !step) return false;
    const std::size_t period = out.size() - begin;
    if (period == 0 || *count < 2) {
      error("PG007", run, cat("a run has at least one number, at least twice; here ", period, " stand ", *count, " times"));
      return false;
    }
    const auto more = std::min(static_cast<std::size_t>(*count) - 1, kMaxNumbers + 1);
    if (!has_room(run, more * period)) return false;
    out.reserve(out.size() + more * period);
    for (std::size_t i = 0; i < more * period; ++i) out.push_back(out[out.size() - period] + static_cast<Id>(*step));
    return true;
  }

  bool has_room(const io::Node& node, std::size_t more) {
    if (more <= kMaxNumbers - numbers_) {
      numbers_ += more;
      return true;
    }
    error("PG011", node, cat("the names and lists of this file come to more than ", kMaxNumbers, " characters and numbers"));
    return false;
  }

  FileErrors errors_;
  PipegenValues values_;
  std::size_t numbers_ = 0;
};

}  // namespace

Result<PlacedGraph> parse_pipes(std::string_view text, const std::string& file) {
  BUDA_ASSIGN(io::Node top, io::parse_json(text, file));
  return PipesReader(file).run(top);
}

Result<PlacedGraph> parse_pipe_graph(std::string_view text, const std::string& file) {
  auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' ? parse_pipes(text, file) : parse_pipegen(text, file);
}

}  // namespace buda::pipes
