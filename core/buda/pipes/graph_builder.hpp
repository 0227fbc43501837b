// Writes a planned epoch down as buffers and pipes. Internal to the module.
#pragma once

#include <buda/pipes/build.hpp>
#include <buda/pipes/epoch_plan.hpp>
#include <buda/pipes/noc.hpp>

#include <map>
#include <tuple>

namespace buda::pipes {

class GraphBuilder {
 public:
  GraphBuilder(EpochPlan& plan, const PaddingTable& padding) : plan_(plan), padding_(padding), next_(plan.index->first_free_id()) {}
  Result<PipeGraph> run();

 private:
  // Where a queue's buffer is, as the chip of the epoch sees it.
  struct Place {
    std::int32_t channel = 0;
    std::uint64_t address = 0;
  };
  using PaddingKey = std::tuple<std::size_t, std::size_t, std::int32_t, std::int32_t>;  // op, input, row, column

  Id new_id() {
    Id id = next_;
    next_ += kIdStep;
    return id;
  }
  const netlist::Netlist& netlist() const { return plan_.netlist(); }
  const device::DeviceDescriptor& device() const { return *plan_.device; }

  // build_buffers.cpp
  void number_prologues();
  Result<void> add_op(std::size_t op);
  void add_relays(const OpPlan& p, std::size_t input);
  void add_input(const OpPlan& p, std::size_t core, std::size_t input);
  void add_output(const OpPlan& p, std::size_t core, Id intermediate);
  Result<void> add_intermediate(const OpPlan& p, std::size_t core, const IntermediateSizes& sizes, Id id);
  Result<void> add_queue(QueuePlan& q);
  void add_queue_buffer(const QueuePlan& q, std::size_t buffer, std::size_t reader, Place place);
  GridCoord prologue_worker(const QueuePlan& q, std::size_t buffer, std::size_t reader) const;
  Result<Place> place_of(const netlist::Queue& queue, std::size_t buffer) const;
  std::int32_t sub_channel(const QueuePlan& q, const netlist::Queue& queue, std::size_t buffer, Place place) const;

  // build_pipes.cpp
  Result<void> add_pipes(std::size_t op);
  Result<void> add_input_pipes(std::size_t op, std::size_t input);
  void add_gather_pipes(const OpPlan& p, const InputPlan& input, const Multicast& multicast);
  void add_queue_pipes(const OpPlan& p, const QueuePlan& q);
  void add_untilized_pipe(const OpPlan& p, const QueuePlan& q);
  std::vector<Id> blocks_of(const PipeRoute& route, std::int64_t granularity, const std::vector<Id>& buffers, Id padding) const;
  Id padding_buffer(std::size_t op, std::size_t input, GridCoord worker);
  std::vector<Id> source_buffers(std::size_t op, const InputPlan& input) const;
  std::int64_t source_granularity(const InputPlan& input) const;
  void place_input_pipe(const OpPlan& p, const InputPlan& input, const PipeRoute& route, const Multicast& multicast, Pipe& pipe) const;
  void choose_nocs(const OpPlan& p, const InputPlan& input, std::size_t number, const Multicast& multicast, Pipe& pipe) const;
  void shorten_periodic(const InputPlan& input, std::int64_t granularity, Pipe& pipe) const;
  void note_readers();

  EpochPlan& plan_;
  const PaddingTable& padding_;
  Id next_;
  PipeGraph graph_;
  std::map<std::size_t, bool> queue_added_;
  std::map<PaddingKey, std::size_t> padding_index_;  // in padding_buffers_
  std::vector<Buffer> padding_buffers_;
};

}  // namespace buda::pipes
