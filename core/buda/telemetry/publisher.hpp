// SPDX-License-Identifier: Apache-2.0
// Writes the telemetry of a run into a file while it goes on.
//
//   BUDA_ASSIGN(auto publisher, telemetry::Publisher::begin(start, device, "telemetry.json", host));
//   device->record(*publisher, perf::Level::counters);        // or publisher->executes("fwd_0") of a device without time
//   … run …
//   BUDA_TRY(publisher->end());
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/io/host.hpp>
#include <buda/perf/sink.hpp>
#include <buda/telemetry/telemetry.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace buda::telemetry {

// The file is replaced as a whole, ten times a second at most, after executions of epochs; so it is never half of one state. What it says
// depends on simulated time alone, but for `process` and `seconds`.
class Publisher final : public perf::Sink {
 public:
  // `start`: what is known of the run. Writes the first state. The host outlives the publisher.
  static Result<std::unique_ptr<Publisher>> begin(Telemetry start, const device::DeviceDescriptor& device, std::string path, Host& host);
  // The run has ended, if nobody has said so: it failed.
  ~Publisher() override;
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // Who hears everything, too.
  void pass_on_to(perf::Sink* next) { next_ = next; }

  perf::EntityId add(perf::Entity entity) override;
  // An event of an epoch is told when all counters of its execution are.
  void record(const perf::Event& event) override;
  void count(perf::EntityId entity, perf::Counter counter, std::uint64_t amount) override;

  // A device without time executes a graph.
  void executes(const std::string& graph);

  // Writes the last state. IO…: some state could not be written.
  Result<void> end();

 private:
  struct Work {
    std::vector<double> busy_ticks;  // by core
    std::uint64_t dram_bytes = 0;
    std::uint64_t ticks = 0;
    void add(const Work& other);
  };
  struct Place {
    perf::Entity::Kind kind = perf::Entity::Kind::core;
    std::string name;
    std::int32_t chip = 0, row = 0, col = 0;
  };

  Publisher(Telemetry start, const device::DeviceDescriptor& device, std::string path, Host& host);
  void reach(std::int32_t chip);
  Activity activity_of(const Work& work) const;
  void complete(std::uint64_t ticks);
  void write_now_and_then();
  Result<void> write();

  Telemetry telemetry_;
  device::DeviceDescriptor device_;
  std::string path_;
  Host& host_;
  perf::Sink* next_ = nullptr;
  std::vector<Place> places_;             // by entity
  std::vector<Work> now_, last_, total_;  // by chip
  std::chrono::steady_clock::time_point started_, written_;
  Result<void> failure_ = success();
};

}  // namespace buda::telemetry
