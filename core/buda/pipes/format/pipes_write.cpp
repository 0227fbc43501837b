// SPDX-License-Identifier: Apache-2.0
// Writes pipes files.
#include <buda/pipes/format/pipes_file.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/pipes/format/number_runs.hpp>
#include <buda/pipes/format/pipegen_keys.hpp>

#include <bitset>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace buda::pipes {
namespace {

constexpr std::size_t kPiece = 1 << 16;

// Values as JSON.

std::string json_string(std::string_view text) { return io::json_line(io::Node::string(std::string(text))); }

template <std::integral T>
void add(std::string& out, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? '1' : '0';
  } else {
    append_text(out, value);
  }
}

template <class T>
void add(std::string& out, const std::optional<T>& value) {
  if (value) append_text(out, *value);
}

template <class T, class Item>
void add_items(std::string& out, const std::vector<T>& list, Item item) {
  out += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    item(list[i]);
  }
  out += ']';
}

// Numbers and runs, one after the other, without brackets around them.
void add_runs(std::string& out, const NumberRuns& runs, std::span<const NumberRuns::Item> items, std::uint64_t offset) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    const std::uint64_t first = items[i].first + offset;
    if (items[i].shape == NumberRuns::kNumber) {
      append_text(out, first);
      continue;
    }
    const NumberRuns::Shape& shape = runs.shape(items[i].shape);
    const bool is_plain = shape.parts.size() == 1 && shape.parts.front().shape == NumberRuns::kNumber;
    out += is_plain ? "[" : "[[";
    add_runs(out, runs, shape.parts, first);
    out += cat(is_plain ? "" : "]", ", ", shape.count, ", ", shape.step, ']');
  }
}

void add(std::string& out, const std::vector<Id>& list) {
  NumberRuns runs(list);
  out += '[';
  add_runs(out, runs, runs.items(), 0);
  out += ']';
}

void add(std::string& out, const std::vector<std::int32_t>& list) { add(out, std::vector<Id>(list.begin(), list.end())); }

void add(std::string& out, const std::vector<std::vector<Id>>& groups) {
  add_items(out, groups, [&](const std::vector<Id>& group) { add(out, group); });
}

void add(std::string& out, const std::vector<CoreCoord>& cores) {
  add_items(out, cores, [&](const CoreCoord& c) { out += cat('[', c.chip, ", ", c.core.row, ", ", c.core.col, ']'); });
}

void add_special_member(std::string& out, const Buffer& b, SpecialKey key) {
  switch (key) {
    case SpecialKey::op:
      out += json_string(b.op);
      return;
    case SpecialKey::type:
      out += json_string(buffer_type_name(b.type));
      return;
    case SpecialKey::chip:
      out += cat('[', b.chip, ']');
      return;
    case SpecialKey::core:
      out += cat('[', b.core.row, ", ", b.core.col, ']');
      return;
    case SpecialKey::prefetch:
      out += cat(static_cast<int>(b.prefetch_type));
      return;
    case SpecialKey::address:
      add(out, b.dram_addr);
      return;
  }
}

bool same_special(const Buffer& a, const Buffer& b, SpecialKey key) {
  switch (key) {
    case SpecialKey::op:
      return a.op == b.op;
    case SpecialKey::type:
      return a.type == b.type;
    case SpecialKey::chip:
      return a.chip == b.chip;
    case SpecialKey::core:
      return a.core == b.core;
    case SpecialKey::prefetch:
      return a.prefetch_type == b.prefetch_type;
    case SpecialKey::address:
      return a.dram_addr == b.dram_addr;
  }
  return true;
}

// What the writer needs to know of buffers and of pipes.

struct BufferTraits {
  using Entity = Buffer;
  using Key = BufferKey;
  static constexpr std::string_view kIdKey = "uniqid", kAlwaysSaid = "buffer_type";
  static auto keys() { return buffer_keys(); }
  static std::size_t id_key() {
    static const std::size_t key = *find_buffer_key(kIdKey);
    return key;
  }
  static void add_value(std::string& out, const Buffer& b, const Key& key) {
    auto put = [&](const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, SpecialKey>) {
        add_special_member(out, b, value);
      } else {
        add(out, value);
      }
    };
    visit_key(key, put, b);
  }
  static bool same(const Buffer& a, const Buffer& b, const Key& key) {
    auto equal = [&](const auto&... values) {
      if constexpr (sizeof...(values) == 1) {
        return same_special(a, b, values...);
      } else {
        return std::equal_to<>()(values...);
      }
    };
    return visit_key(key, equal, a, b);
  }
};

struct PipeTraits {
  using Entity = Pipe;
  using Key = PipeKey;
  static constexpr std::string_view kIdKey = "id", kAlwaysSaid = "input_list";
  static auto keys() { return pipe_keys(); }
  static std::size_t id_key() {
    static const std::size_t key = *find_pipe_key(kIdKey);
    return key;
  }
  static void add_value(std::string& out, const Pipe& p, const Key& key) {
    auto put = [&](const auto& value) {
      if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, MmioFlag>) add(out, value);
    };
    visit_key(key, put, p);
  }
  static bool same(const Pipe& a, const Pipe& b, const Key& key) {
    auto equal = [&](const auto&... values) {
      if constexpr (sizeof...(values) == 1) {
        return true;
      } else {
        return std::equal_to<>()(values...);
      }
    };
    return visit_key(key, equal, a, b);
  }
};

// Buffers or pipes with the same values of most keys.
template <class Traits>
struct Kind {
  const typename Traits::Entity* first = nullptr;
  std::bitset<128> differ;  // by key: it is not the same in all of them
};

// `Group`: what the members of a kind have to have in common, at least. Kinds are numbered as they come.
template <class Traits, class Group>
class Kinds {
 public:
  void put(const typename Traits::Entity& entity, Group group) {
    auto [at, fresh] = numbers_.emplace(std::pair{std::move(group), which_are_there(entity)}, kinds_.size());
    of_.push_back(at->second);
    if (fresh) {
      kinds_.push_back({&entity, {}});
      kinds_.back().differ.set(Traits::id_key());
      return;
    }
    Kind<Traits>& kind = kinds_[at->second];
    const auto keys = Traits::keys();
    for (std::size_t k = 0; k < keys.size(); ++k)
      if (!kind.differ[k] && !Traits::same(*kind.first, entity, keys[k])) kind.differ.set(k);
  }

  std::size_t size() const { return kinds_.size(); }

  // {"key": value, …, "each": ["key", …]}. A key with its default is left out, where it may be.
  std::string kind_line(std::size_t number) const {
    static const typename Traits::Entity kDefaults{};
    const Kind<Traits>& kind = kinds_[number];
    const auto keys = Traits::keys();
    std::string out = "{";
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const bool said = keys[k].name == Traits::kAlwaysSaid || !Traits::same(*kind.first, kDefaults, keys[k]);
      if (kind.differ[k] || !said) continue;
      out += cat('"', keys[k].name, "\": ");
      Traits::add_value(out, *kind.first, keys[k]);
      out += ", ";
    }
    out += cat("\"each\": [\"", Traits::kIdKey, '"');
    for_each_own(kind, [&](const auto& key) { out += cat(", \"", key.name, '"'); });
    return out + "]}";
  }

  // [kind, id, value, …]; `number` counts what was put.
  std::string line(std::size_t number, const typename Traits::Entity& entity) const {
    std::string out = cat('[', of_[number], ", ", entity.id);
    for_each_own(kinds_[of_[number]], [&](const auto& key) {
      out += ", ";
      Traits::add_value(out, entity, key);
    });
    return out + ']';
  }

 private:
  // A bit for each key that may be without a value: lines cannot express that.
  static std::uint64_t which_are_there(const typename Traits::Entity& entity) {
    std::uint64_t bits = 0;
    auto note = [&](const auto& value) {
      if constexpr (requires { value.has_value(); }) bits = bits << 1 | (value ? 1 : 0);
    };
    for (const auto& key : Traits::keys()) visit_key(key, note, entity);
    return bits;
  }

  // The keys, but for the id, whose values each member has.
  template <class F>
  static void for_each_own(const Kind<Traits>& kind, F f) {
    const auto keys = Traits::keys();
    for (std::size_t k = 0; k < keys.size(); ++k)
      if (kind.differ[k] && k != Traits::id_key()) f(keys[k]);
  }

  std::map<std::pair<Group, std::uint64_t>, std::size_t> numbers_;
  std::vector<Kind<Traits>> kinds_;
  std::vector<std::size_t> of_;
};

template <class Flush>
class Writer {
 public:
  Writer(const PipeGraph& graph, Flush flush) : graph_(graph), flush_(std::move(flush)) {}

  Result<void> run() {
    using Operand = std::tuple<std::string_view, BufferType, std::int32_t, bool>;
    Kinds<BufferTraits, Operand> buffer_kinds;
    for (const Buffer& b : graph_.buffers) buffer_kinds.put(b, {b.op, b.type, b.operand, b.is_padding});
    BufferIndex index(graph_.buffers);
    Kinds<PipeTraits, Operand> pipe_kinds;
    for (const Pipe& p : graph_.pipes) {
      const Buffer* target = p.outputs.empty() || p.outputs.front().empty() ? nullptr : index.find(p.outputs.front().front());
      pipe_kinds.put(p, target == nullptr ? Operand{} : Operand{target->op, target->type, target->operand, p.reads_dram()});
    }
    std::string head = cat("{\"schema\": \"", kPipesFormat, "\",\n");
    if (!graph_.device.empty()) head += cat("\"device\": ", json_string(graph_.device), ",\n");
    head += "\"graphs\": [";
    for (std::size_t i = 0; i < graph_.graphs.size(); ++i) head += cat(i > 0 ? ", " : "", json_string(graph_.graphs[i]));
    BUDA_TRY(put(head + ']'));
    BUDA_TRY(list("buffer_kinds", buffer_kinds.size(), [&](std::size_t i) { return buffer_kinds.kind_line(i); }));
    BUDA_TRY(list("buffers", graph_.buffers.size(), [&](std::size_t i) { return buffer_kinds.line(i, graph_.buffers[i]); }));
    BUDA_TRY(list("pipe_kinds", pipe_kinds.size(), [&](std::size_t i) { return pipe_kinds.kind_line(i); }));
    BUDA_TRY(list("pipes", graph_.pipes.size(), [&](std::size_t i) { return pipe_kinds.line(i, graph_.pipes[i]); }));
    text_ += "}\n";
    return flush_(text_);
  }

 private:
  Result<void> put(std::string_view text) {
    text_ += text;
    if (text_.size() < kPiece) return success();
    BUDA_TRY(flush_(text_));
    text_.clear();
    return success();
  }

  template <class Line>
  Result<void> list(std::string_view name, std::size_t size, Line line) {
    BUDA_TRY(put(cat(",\n\"", name, "\": [")));
    for (std::size_t i = 0; i < size; ++i) BUDA_TRY(put(cat(i == 0 ? "\n" : ",\n", line(i))));
    return put("]");
  }

  const PipeGraph& graph_;
  Flush flush_;
  std::string text_;
};

}  // namespace

Result<void> write_pipes(const PipeGraph& graph, io::OutputFile& out) {
  return Writer(graph, [&](std::string_view text) { return out.write(text); }).run();
}

std::string pipes_text(const PipeGraph& graph) {
  std::string all;
  static_cast<void>(Writer(graph, [&](std::string_view text) {
                      all += text;
                      return success();
                    }).run());
  return all;
}

}  // namespace buda::pipes
