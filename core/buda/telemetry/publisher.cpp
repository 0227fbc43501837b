// SPDX-License-Identifier: Apache-2.0
// Counters of an execution become its activity.
#include <buda/telemetry/publisher.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/telemetry/sensors.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace buda::telemetry {
namespace {

using perf::Entity;

constexpr std::chrono::milliseconds kBetweenWrites{100};
constexpr std::int32_t kMaxChips = 4096;

// Halves of channels of a cluster are called "DRAM 1.3 upper half", of a single chip "DRAM 3 upper half" (sim/topology.cpp).
std::int32_t chip_of_dram(std::string_view name) {
  constexpr std::string_view kBefore = "DRAM ";
  if (!name.starts_with(kBefore)) return 0;
  name.remove_prefix(kBefore.size());
  std::int32_t chip = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), chip);
  return error == std::errc() && end != name.data() + name.size() && *end == '.' ? chip : 0;
}

}  // namespace

void Publisher::Work::add(const Work& other) {
  busy_ticks.resize(std::max(busy_ticks.size(), other.busy_ticks.size()));
  for (std::size_t i = 0; i < other.busy_ticks.size(); ++i) busy_ticks[i] += other.busy_ticks[i];
  dram_bytes += other.dram_bytes;
  ticks += other.ticks;
}

Publisher::Publisher(Telemetry start, const device::DeviceDescriptor& device, std::string path, Host& host)
    : telemetry_(std::move(start)), device_(device), path_(std::move(path)), host_(host), started_(std::chrono::steady_clock::now()) {
  for (Chip& chip : telemetry_.chips) chip.now.reset();
  if (!telemetry_.chips.empty()) reach(static_cast<std::int32_t>(telemetry_.chips.size()) - 1);
}

Result<std::unique_ptr<Publisher>> Publisher::begin(Telemetry start, const device::DeviceDescriptor& device, std::string path, Host& host) {
  start.state = State::running;
  std::unique_ptr<Publisher> out(new Publisher(std::move(start), device, std::move(path), host));
  BUDA_TRY(out->write());
  return out;
}

Publisher::~Publisher() {
  if (telemetry_.state == State::running) static_cast<void>(end());
}

// Chips of a cluster are known when something happens on them.
void Publisher::reach(std::int32_t chip) {
  if (chip < 0 || chip >= kMaxChips) return;
  for (auto id = static_cast<std::int32_t>(telemetry_.chips.size()); id <= chip; ++id) {
    telemetry_.chips.push_back(idle_chip(device_, id));
    telemetry_.chips.back().now.reset();
  }
  for (auto* works : {&now_, &last_, &total_}) works->resize(telemetry_.chips.size());
}

perf::EntityId Publisher::add(Entity entity) {
  Place place{entity.kind, entity.name, entity.chip, entity.row, entity.col};
  if (entity.kind == Entity::Kind::dram) place.chip = chip_of_dram(entity.name);
  if (entity.kind == Entity::Kind::op || entity.kind == Entity::Kind::dram) reach(place.chip);
  const perf::EntityId id = next_ != nullptr ? next_->add(std::move(entity)) : perf::EntityId(static_cast<std::uint32_t>(places_.size()));
  if (places_.size() <= id.value()) places_.resize(id.value() + 1);
  places_[id.value()] = std::move(place);
  return id;
}

void Publisher::count(perf::EntityId entity, perf::Counter counter, std::uint64_t amount) {
  if (next_ != nullptr) next_->count(entity, counter, amount);
  const Place& place = places_[entity.value()];
  if (place.chip < 0 || static_cast<std::size_t>(place.chip) >= now_.size()) return;
  Work& work = now_[static_cast<std::size_t>(place.chip)];
  if (place.kind == Entity::Kind::dram && counter == perf::Counter::bytes) work.dram_bytes += amount;
  if (place.kind != Entity::Kind::op || counter != perf::Counter::busy_ticks) return;
  const GridShape grid = device_.grid();
  if (place.row < 0 || place.row >= grid.rows || place.col < 0 || place.col >= grid.cols) return;
  work.busy_ticks.resize(static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.cols));
  work.busy_ticks[static_cast<std::size_t>(place.row) * static_cast<std::size_t>(grid.cols) + static_cast<std::size_t>(place.col)] +=
      static_cast<double>(amount);
}

void Publisher::record(const perf::Event& event) {
  if (next_ != nullptr) next_->record(event);
  if (event.kind != perf::EventKind::epoch) return;
  telemetry_.epoch = places_[event.entity.value()].name;
  telemetry_.cycles = event.end;
  complete(event.end.ticks - event.begin.ticks);
}

void Publisher::complete(std::uint64_t ticks) {
  for (std::size_t c = 0; c < now_.size(); ++c) {
    now_[c].ticks = ticks;
    total_[c].add(now_[c]);
    last_[c] = std::exchange(now_[c], {});
  }
  ++telemetry_.executions;
  write_now_and_then();
}

void Publisher::executes(const std::string& graph) {
  telemetry_.epoch = graph;
  ++telemetry_.executions;
  write_now_and_then();
}

Activity Publisher::activity_of(const Work& work) const {
  Activity out;
  const GridShape grid = device_.grid();
  out.utilisation.resize(static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.cols));
  const auto ticks = static_cast<double>(std::max<std::uint64_t>(work.ticks, 1));
  for (std::size_t i = 0; i < work.busy_ticks.size(); ++i) out.utilisation[i] = std::min(1.0, work.busy_ticks[i] / ticks);
  out.dram_gbs = static_cast<double>(work.dram_bytes) / (perf::SimTime{work.ticks}.cycles() / device_.cost.clock_ghz);
  if (work.ticks == 0) out.dram_gbs = 0;
  out.readings = readings_of(device_, out.mean_utilisation(), out.dram_gbs);
  return out;
}

void Publisher::write_now_and_then() {
  if (!failure_ || std::chrono::steady_clock::now() - written_ < kBetweenWrites) return;
  failure_ = write();
}

Result<void> Publisher::write() {
  for (std::size_t c = 0; c < telemetry_.chips.size(); ++c) {
    if (total_[c].ticks == 0) continue;
    Chip& chip = telemetry_.chips[c];
    chip.now = activity_of(last_[c]);
    chip.average = activity_of(total_[c]);
    chip.dram_bytes = total_[c].dram_bytes;
  }
  written_ = std::chrono::steady_clock::now();
  telemetry_.seconds = std::chrono::duration<double>(written_ - started_).count();
  return host_.fs().write(path_, io::json_line(schema::write(telemetry_)) + '\n');
}

Result<void> Publisher::end() {
  telemetry_.state = State::ended;
  BUDA_TRY(std::exchange(failure_, success()));
  return write();
}

}  // namespace buda::telemetry
