// SPDX-License-Identifier: Apache-2.0
// A flat table of nodes by name.
#include <buda/graph/name_index.hpp>

#include <buda/base/keyed_hash.hpp>

#include <unordered_map>
#include <utility>

namespace buda::graph {

namespace {
constexpr std::size_t kFewest = 16;
}

std::uint32_t NameIndex::hash_of(std::string_view name) { return static_cast<std::uint32_t>(KeyedHash()(name)); }

std::size_t NameIndex::probe(const NodePool& nodes, std::string_view name, std::uint32_t hash) const {
  std::size_t place = home({hash, NodeId()});
  while (slots_[place].id.valid() && (slots_[place].hash != hash || nodes[slots_[place].id.index()]->name() != name)) place = after(place);
  return place;
}

NodeId NameIndex::find(const NodePool& nodes, std::string_view name) const {
  return slots_.empty() ? NodeId() : slots_[probe(nodes, name, hash_of(name))].id;
}

bool NameIndex::insert(const NodePool& nodes, NodeId id) {
  if (2 * (taken_ + 1) > slots_.size()) resize(slots_.empty() ? kFewest : 2 * slots_.size());
  std::string_view name = nodes[id.index()]->name();
  std::uint32_t hash = hash_of(name);
  Slot& slot = slots_[probe(nodes, name, hash)];
  if (slot.id.valid()) return false;
  slot = {hash, id};
  ++taken_;
  return true;
}

void NameIndex::erase(const NodePool& nodes, NodeId id) {
  std::size_t hole = home({hash_of(nodes[id.index()]->name()), id});
  while (slots_[hole].id != id) hole = after(hole);
  // What follows without a gap moves up, unless it would come before its home: a search ends at the first free slot.
  for (std::size_t place = after(hole); slots_[place].id.valid(); place = after(place)) {
    std::size_t from_home = (place - home(slots_[place])) & (slots_.size() - 1);
    std::size_t from_hole = (place - hole) & (slots_.size() - 1);
    if (from_home < from_hole) continue;
    slots_[hole] = slots_[place];
    hole = place;
  }
  slots_[hole] = Slot();
  --taken_;
}

void NameIndex::resize(std::size_t slots) {
  std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : old) {
    if (!slot.id.valid()) continue;
    std::size_t place = home(slot);
    while (slots_[place].id.valid()) place = after(place);
    slots_[place] = slot;
  }
}

struct Suffixes::Table {
  std::unordered_map<std::string, std::uint32_t, KeyedHash> numbers;
};

Suffixes::Suffixes() = default;
Suffixes::Suffixes(const Suffixes& other) : table_(other.table_ ? std::make_unique<Table>(*other.table_) : nullptr) {}
Suffixes::Suffixes(Suffixes&&) noexcept = default;
Suffixes& Suffixes::operator=(const Suffixes& other) { return *this = Suffixes(other); }
Suffixes& Suffixes::operator=(Suffixes&&) noexcept = default;
Suffixes::~Suffixes() = default;

std::uint32_t& Suffixes::of(const std::string& base) {
  if (!table_) table_ = std::make_unique<Table>();
  return table_->numbers[base];
}

}  // namespace buda::graph
