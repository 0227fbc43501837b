// Writes a planned epoch down as buffers and pipes. Internal to the module.
#pragma once

#include <buda/pipes/build/build.hpp>
#include <buda/pipes/interchip/chip_routes.hpp>
#include <buda/pipes/noc/noc.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace buda::pipes {

class GraphBuilder {
 public:
  GraphBuilder(EpochPlan& plan, const PaddingTable& padding)
      : plan_(plan), padding_(padding), next_(plan.index->first_free_id()), chips_(*plan.device, *plan.cluster) {}
  Result<PipeGraph> run();

 private:
  // Where a queue's buffer is, as the chip of the epoch sees it.
  struct Place {
    std::int32_t channel = 0;
    std::uint64_t address = 0;
  };
  // Of pieces of rows: where the receiver's part of the buffer begins, in bytes; what has room for whole tiles of them.
  struct RowsOnTheWay {
    std::int64_t offset = 0, room = 0;
  };
  // What a pipe carries, and from which chip to which.
  struct Freight {
    const netlist::Op* op = nullptr;  // that the pipe is for, to name it
    std::int32_t from = 0, to = 0;
    bool from_queue = false, to_queue = false;
    std::optional<GridCoord> source_worker;  // where a relay may gather; none: wherever there is room
    std::int32_t tile_bytes = 0;
    std::int64_t pass_tiles = 0, passes = 1, input_count = 1;
    std::size_t edge = 0;        // the pipes of an edge have the same number, and may share a way
    bool from_ethernet = false;  // from the output of an ethernet core
    std::optional<RowsOnTheWay> rows;
    const ChipWay* given_way = nullptr;  // to the input of an ethernet core, at the end of its last cable
  };
  // A pipe that cannot be as it is, because it leads to another chip.
  struct Crossing {
    Pipe pipe;
    Freight freight;
  };
  // One of those that take turns.
  struct Taker {
    std::vector<std::size_t> groups;  // of the pipe, all alike
    std::int64_t turns = 0;           // in the epoch
  };
  // All crossings of an edge: some of `crossings_`, and the ways that they share.
  struct Ferry {
    std::size_t first = 0, count = 0;
    std::vector<ChipWay> ways;  // at least one, at most one for each crossing
  };
  // Pipes from one queue that may share their reads: those of the op that reads, and those of ops that name it in forked_dram_inputs.
  struct Sharing {
    std::size_t queue = 0, reader = 0;
    bool reads = false;  // the pipe is one of the reader's own
    friend auto operator<=>(const Sharing&, const Sharing&) = default;
  };
  // The workers of a chip by how much they have to do besides: least first.
  using RelayWorkers = std::set<std::pair<std::int32_t, std::int32_t>>;
  using PaddingKey = std::tuple<std::size_t, std::size_t, std::int32_t, std::int32_t, std::int32_t>;  // op, input, chip, row, column

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
  Result<void> add_intermediate(const OpPlan& p, std::size_t core, const IntermediateBuffer& sizes, Id id);
  Result<void> add_queue(QueuePlan& q);
  void add_queue_buffer(const QueuePlan& q, std::size_t buffer, std::size_t reader, Place place);
  void set_rows(Buffer& buffer, const QueuePlan& q) const;
  GridCoord prologue_worker(const QueuePlan& q, std::size_t buffer, std::size_t reader) const;
  bool is_on_peer(const QueuePlan& q) const;
  Result<Place> place_of(const netlist::Queue& queue, std::size_t buffer) const;
  std::int32_t sub_channel(const QueuePlan& q, const netlist::Queue& queue, std::size_t buffer, Place place) const;

  // place_ethernet.cpp: ops on ethernet cores
  Result<void> place_ethernet_ops();
  Result<ChipWay> way_of_ethernet_core(const OpPlan& p, std::size_t core);
  // Whether a core takes turns, with others or with several pipes.
  static bool takes_turns(const OpPlan& p, const InputPlan& input);
  Result<void> lay_copy_turns(const OpPlan& p, const InputPlan& input, std::vector<Crossing> crossings);
  Diagnostic no_way(const netlist::Op& op, std::int32_t from, std::int32_t to);
  GridCoord place_of_core(const OpPlan& p, std::size_t core) const;
  device::NocCoord noc_of_core(const OpPlan& p, std::size_t core) const;
  GridCoord ethernet_core(std::int32_t channel) const;
  void put_on_ethernet(const OpPlan& p, std::size_t core, Buffer& b);

  // build_crossings.cpp
  GridCoord relay_worker(std::int32_t chip);
  Id add_relay(BufferType type, std::int32_t chip, GridCoord core, const Freight& freight);
  Pipe relay_pipe(std::vector<Id> inputs, Id output, std::int32_t chip, GridCoord core);
  GridCoord gathering_worker(const Freight& freight);
  void finish_pipe(Pipe pipe, const Freight& freight);
  Result<void> lay_crossings();
  Result<std::vector<Ferry>> share_cables();
  bool share_receivers(const Ferry& ferry) const;
  static std::vector<std::int64_t> turns_in(const Pipe& pipe, std::int64_t passes);
  static std::vector<Taker> takers_of(const Crossing& crossing);
  static bool can_part(const Crossing& crossing);
  std::vector<ChipWay> ways_of_turns(const Crossing& crossing);
  void lay_turns(Crossing& crossing, const std::vector<ChipWay>& ways);
  void lay(std::size_t first, std::size_t count, const ChipWay& way);
  Id lay_cables(std::vector<Id> from, const ChipWay& way, const Freight& freight);
  void land(Crossing& crossing, std::vector<Id> from, const ChipWay& way);

  // build_pipes.cpp
  Result<void> add_pipes(std::size_t op);
  Result<void> add_input_pipes(std::size_t op, std::size_t input);
  void add_gather_pipes(const OpPlan& p, const InputPlan& input, const Multicast& multicast);
  Result<void> add_queue_pipes(const OpPlan& p, const QueuePlan& q);
  Result<void> add_untilized_pipe(const OpPlan& p, const QueuePlan& q);
  Freight freight_into(const OpPlan& p, const InputPlan& input, const PipeRoute& route) const;
  Freight freight_out(const OpPlan& p, const QueuePlan& q) const;
  std::vector<Id> blocks_of(const PipeRoute& route, std::int64_t granularity, const std::vector<Id>& buffers, Id padding) const;
  void mark_over_pcie(const OpPlan& p, const InputPlan& input, Pipe& pipe) const;
  GridCoord padding_worker(const OpPlan& p, const InputPlan& input, const Pipe& pipe) const;
  Id padding_buffer(std::size_t op, std::size_t input, const CoreCoord& at, std::int64_t times);
  std::vector<Id> source_buffers(std::size_t op, const InputPlan& input) const;
  std::int64_t source_granularity(const InputPlan& input) const;
  void place_input_pipe(const OpPlan& p, const InputPlan& input, const PipeRoute& route, const Multicast& multicast, Pipe& pipe) const;
  void choose_nocs(const OpPlan& p, const InputPlan& input, std::size_t number, const Multicast& multicast, Pipe& pipe) const;
  void shorten_periodic(const InputPlan& input, std::int64_t granularity, Pipe& pipe) const;
  // build_readers.cpp
  void note_sharing(std::size_t op, std::size_t input, Id pipe);
  std::vector<std::size_t> share_reads();
  void note_readers();

  EpochPlan& plan_;
  const PaddingTable& padding_;
  Id next_;
  PipeGraph graph_;
  std::map<std::size_t, bool> queue_added_;
  std::map<PaddingKey, std::size_t> padding_index_;  // in padding_buffers_
  std::vector<Buffer> padding_buffers_;
  std::map<Id, Sharing> sharing_;                         // by pipe
  std::set<std::pair<std::size_t, std::size_t>> shared_;  // queue and reader, where somebody does share
  ChipRoutes chips_;
  std::map<const OpPlan*, std::vector<ChipWay>> ethernet_ways_;                    // of ops on ethernet cores, per core
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> ethernet_ops_at_;  // how many inputs or outputs, by chip and channel
  std::vector<Crossing> crossings_;
  std::size_t edges_ = 0;
  std::map<std::int32_t, RelayWorkers> relay_workers_;                                                  // by chip
  std::map<std::tuple<BufferType, std::int32_t, std::int32_t, std::int32_t>, std::int32_t> relays_at_;  // how many, by core
};

}  // namespace buda::pipes
