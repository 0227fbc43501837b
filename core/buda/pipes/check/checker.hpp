// The checker's state and steps. Internal to it.
#pragma once

#include <buda/pipes/check/check.hpp>
#include <buda/pipes/check/check_tiles.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::pipes {

// Whose buffer it is.
struct Owner {
  enum class Kind : std::uint8_t { none, op, queue, prologue, relay, padding };
  Kind kind = Kind::none;
  const netlist::Op* op = nullptr;
  std::size_t queue = NetlistIndex::kNone;
  std::int64_t core = 0;  // or buffer of the queue
};

// A tile on its way.
struct Atom {
  Owner::Kind kind = Owner::Kind::none;
  const netlist::Op* op = nullptr;
  std::size_t queue = NetlistIndex::kNone;
  std::int64_t core = 0;
  std::int64_t number = 0;    // among all tiles that core or buffer hands out in the epoch; of a prologue: of one input
  std::uint64_t address = 0;  // of padding
  Id block = 0;
  friend bool operator==(const Atom& a, const Atom& b) {
    return a.kind == b.kind && a.op == b.op && a.queue == b.queue && a.core == b.core && a.number == b.number && a.address == b.address;
  }
};

struct Feed {
  std::size_t pipe = 0;
  std::size_t group = 0;
};

class Checker {
 public:
  Checker(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch, const PaddingTable& padding,
          const PipeGraph& graph, const device::Cluster& cluster)
      : index_(index), device_(device), cluster_(cluster), epoch_(epoch), padding_(padding), graph_(graph), buffers_(graph.buffers) {}

  Result<CheckCounts> run();

 private:
  const netlist::Netlist& netlist() const { return index_.netlist(); }
  static constexpr std::size_t kMostErrors = 20;
  void error(std::string code, std::string node, std::string message) {
    if (failure_.diagnostics().size() >= kMostErrors) return;
    Diagnostic d = input_error(std::move(code), {}, std::move(message));
    d.node = std::move(node);
    failure_.add(std::move(d));
  }

  void find_owners();
  void own_op_buffer(const Buffer& b);
  void own_ethernet_buffer(const Buffer& b, const netlist::Op& op);
  void own_queue_buffer(const Buffer& b);
  void collect_feeds();
  void check_op(const netlist::Op& op, const netlist::Graph& graph);
  void check_output(const netlist::Op& op, const netlist::Graph& graph, std::int64_t core);
  void check_input(const netlist::Op& op, const netlist::Graph& graph, std::size_t input);
  void check_kernel_buffer(const netlist::Op& op, const netlist::Graph& graph, std::size_t input, const Buffer& b, std::int64_t delivered);
  const Pipe* reading_pipe(const Buffer& target, const std::string& what);
  void check_rows(const netlist::Op& op, const netlist::Graph& graph, const netlist::Queue& queue);
  void check_queue(std::size_t queue);
  void check_untilized(std::size_t queue, const netlist::Op& op);
  void check_gradient(const netlist::Op& op);
  void check_shared_reads();
  void check_readers();
  void check_pipe_cores(const Pipe& pipe);
  // check_relays.cpp
  void check_relays();
  void check_over_pcie(const Pipe& pipe);
  void check_cable(const Pipe& pipe, const Buffer& from, const Buffer& to);
  void check_chips(const Pipe& pipe);
  void check_taken_once(const Buffer& relay, const std::vector<const Pipe*>& readers);
  void check_ethernet_op(const netlist::Op& op, std::int64_t core);

  struct Expected {
    std::vector<Atom> tiles;                // of one input
    std::vector<netlist::TileIndex> where;  // in the consumer's tensor
    std::int64_t inputs = 1;                // after so many everything repeats, as far as the producer's buffer goes
    std::int64_t passes = 1;                // in that time
    std::int64_t per_input = 0;             // added to numbers from input to input; 0 for prologues
  };
  bool compare(const std::string& what, const std::string& node, const Buffer& target, const Expected& expected, std::int64_t input_count);
  bool add_pass(const Buffer& target, std::int64_t pass, std::vector<Atom>& out, int depth);
  bool add_padding(const Pipe& pipe, Id padding, std::vector<Atom>& out);
  bool add_block(const Pipe& pipe, Id block, std::int64_t pass, std::vector<Atom>& out, int depth);
  bool add_relayed(const Buffer& relay, std::int64_t offset, std::int64_t pass, std::vector<Atom>& out, int depth);
  std::int64_t groups_of(const Buffer& target, int depth) const;

  Atom expected_atom(const netlist::Op* op, std::size_t queue, bool prologue, TilePlace place) const;
  bool broadcast(const netlist::Op& op, std::size_t input, std::int64_t ts, Expected& e, const std::string& what);
  std::uint64_t address_of(const netlist::Queue& queue, std::size_t buffer) const;
  std::string text(const Atom& atom) const;
  static std::int64_t window_of(const netlist::Op& op, std::int64_t input_count) {
    std::int64_t half = op.buf_size_mb > 1 ? op.buf_size_mb / 2 : 1;
    return std::min(half, input_count * op.block.t) * op.block.mblock_tiles();
  }

  const NetlistIndex& index_;
  const device::DeviceDescriptor& device_;
  const device::Cluster& cluster_;
  const Epoch& epoch_;
  const PaddingTable& padding_;
  const PipeGraph& graph_;
  BufferIndex buffers_;
  std::map<Id, Owner> owners_;
  std::map<std::tuple<const netlist::Op*, std::int64_t, std::int32_t>, const Buffer*> kernel_;  // inputs by operand; looked up only
  std::map<std::pair<const netlist::Op*, std::int64_t>, const Buffer*> packers_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::pair<const netlist::Op*, std::int64_t>> core_at_;
  std::map<std::string_view, std::int32_t> user_chip_;  // of queues: where they are read or written
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> queue_buffers_seen_;
  std::map<std::pair<const netlist::Op*, BufferType>, std::int64_t> ethernet_buffers_seen_;
  std::map<Id, std::vector<Feed>> feeds_;
  std::set<device::EthLink> cables_;  // in both directions
  // What passes of the relay brought of which several pipes took their parts last.
  Id parted_ = 0;
  std::map<std::int64_t, std::vector<Atom>> parted_passes_;
  Failure failure_;
  CheckCounts counts_;
};

// The worker on which an op's core stands.
inline GridCoord worker_at(const netlist::Op& op, std::int64_t core) {
  auto r = static_cast<std::int32_t>(core / op.grid.cols), c = static_cast<std::int32_t>(core % op.grid.cols);
  return op.grid_transpose ? GridCoord{op.grid_loc.row + c, op.grid_loc.col + r} : GridCoord{op.grid_loc.row + r, op.grid_loc.col + c};
}

}  // namespace buda::pipes
