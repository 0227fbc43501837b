// SPDX-License-Identifier: Apache-2.0
// The values of an epoch, computed from the tiles that have arrived.
//
// An op is computed once for all its cores: what each has received is put where it belongs in the op's operands. Time is over when this
// happens, so that it cannot change a bit.
#pragma once

#include <buda/timed/device.hpp>
#include <buda/timed/queue_table.hpp>

#include <buda/arith/graph_plan.hpp>
#include <buda/arith/queue_memory.hpp>
#include <buda/arith/value.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/tensor_maps.hpp>
#include <buda/netlist/program/program_vm.hpp>
#include <buda/sim/tiles/arrivals.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::timed {

// What is in the queues, by their number in the netlist.
using QueueValues = std::vector<arith::QueueMemory>;

class EpochValues {
 public:
  // The pointers of queues are where the epoch begins. All but these, the executions and the table, must outlive it.
  EpochValues(const netlist::Netlist& netlist, const arith::Plans& plans, const Computing& computing, QueueValues& queues, Host& host,
              const std::vector<netlist::Execution>& executions, const QueueTable& pointers);

  // What arrives. It may still grow.
  void watch(std::shared_ptr<const sim::Arrivals> arrivals);
  // An entry that the host has pushed since the epoch began.
  void pushed(std::size_t queue, std::int64_t pointer, arith::ValuePtr entry);
  // Computes all for which everything has come. SM018: an op's data are wrong.
  Result<void> compute();
  // When the epoch has ended: the rest, and the sums of gradient ops.
  Result<void> finish();

 private:
  // Where a graph reads a queue.
  struct Reader {
    std::int64_t pointer = 0, step = 1;
    std::int64_t there = 0;               // entries from the pointer on, when the epoch began
    bool always = false;                  // rams, and queues that are read again and again
    std::vector<arith::ValuePtr> loaded;  // of a prologue
    std::vector<arith::ValuePtr> pushed;  // since the epoch began
  };
  // How far the arrivals at a core or in a buffer have been used.
  struct Cursor {
    const sim::ArrivedTiles* tiles = nullptr;
    bool kept = false;
    std::size_t run = 0;
    std::int64_t within = 0;
  };
  // A tile that has come, and where it belongs.
  struct Placed {
    sim::TileSource source = sim::kUnknown;
    std::int64_t number = 0;
    netlist::TileIndex tile;
  };
  struct OpState {
    std::size_t graph = 0;
    const arith::OpPlan* plan = nullptr;
    std::vector<std::vector<Cursor>> operands;  // by core; none where rows arrive
    std::int64_t inputs = 1, next = 0;
    std::map<std::int64_t, arith::ValuePtr> values;  // by input, as long as somebody may need them
    arith::ValuePtr sum;                             // of gradient ops
  };
  struct Writer {
    std::size_t op = 0;  // in ops_
    const arith::WritePlan* plan = nullptr;
    std::vector<Cursor> buffers;  // none where rows, or sums, are written
    std::int64_t pointer = 0, step = 1, next = 0;
  };

  void add_op(const netlist::Execution& execution, const arith::OpPlan& plan, const QueueTable& pointers);
  void add_reader(const netlist::Execution& execution, std::size_t queue, const QueueTable& pointers);
  void add_writer(const netlist::Execution& execution, std::size_t op, const arith::WritePlan& plan, const QueueTable& pointers);
  bool is_there(const OpState& op, std::size_t operand) const;
  Result<void> run(OpState& op);
  Result<void> write(Writer& writer);
  Result<arith::ValuePtr> operand_value(OpState& op, std::size_t operand);
  // What has come, as a tensor with the shape, tile size and format of `to`. Tiles from queues are those that `graph` reads from `queue`.
  struct Assembly {
    std::string where;
    const netlist::EdgeMaps& maps;
    netlist::TileShape from;
    std::size_t graph = 0;
    std::optional<std::size_t> queue;
  };
  Result<void> assemble(const Assembly& assembly, const std::vector<Placed>& tiles, arith::Value& to) const;
  arith::ValuePtr entry(std::size_t graph, std::size_t queue, std::int64_t number) const;
  void store(const Writer& writer, std::int64_t input, arith::ValuePtr value);
  void forget();

  const netlist::Netlist& netlist_;
  const Computing& computing_;
  QueueValues& queues_;
  Host& host_;
  std::map<std::string, std::size_t> queue_index_;
  std::map<std::pair<std::size_t, std::size_t>, Reader> readers_;  // by graph and queue
  std::vector<OpState> ops_;                                       // producers first
  std::map<std::string, std::size_t> op_index_;
  std::vector<Writer> writers_;
  std::vector<std::tuple<std::size_t, std::int64_t, arith::ValuePtr>> late_;  // pushed: queue, pointer, entry
  std::shared_ptr<const sim::Arrivals> arrivals_;
  bool over_ = false;
};

}  // namespace buda::timed
