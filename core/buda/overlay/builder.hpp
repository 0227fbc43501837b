// The state in which stream programs are made. Internal to the module.
#pragma once

#include <buda/overlay/build.hpp>
#include <buda/overlay/pipe_plan.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::overlay {

class Builder {
 public:
  Builder(const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, const device::Cluster& cluster)
      : graph_(graph), device_(device), eth_core_(cluster.eth_core), peers_(cluster.peers), index_(graph.buffers) {}
  // Without `sharing`, each pipe reads for itself.
  Result<Blob> run(bool sharing);
  bool shares_reads() const { return !served_.empty(); }

 private:
  // plan.cpp: what each pipe does.
  void check_device_description();
  void collect_cores();
  void collect_link_cores();
  void plan_pipes();
  void plan_pipe(const Pipe& pipe);
  bool resolve_outputs(const Pipe& pipe, PipePlan& plan);
  bool resolve_group(const Pipe& pipe, const std::vector<Id>& ids, std::vector<const Buffer*>& group);
  // chains.cpp: pipes that meet at relay buffers.
  static bool is_relay(const Buffer& b) { return b.type == BufferType::relay || b.type == BufferType::ethernet_relay; }
  void index_relays();
  bool starts_at_relay(const Pipe& pipe) const;
  bool follow_relays(PipePlan& plan);
  struct Trail;
  bool branch(PipePlan& plan, const Trail& trail, std::vector<Trail>& open);
  bool check_firmware(const Pipe& reader, const Buffer& from, const Buffer& to);
  bool follow_reader(PipePlan& plan, const Trail& trail, const Pipe& reader, std::vector<Trail>& open);
  bool end(PipePlan& plan, const Trail& trail, std::vector<const Buffer*> group, const Pipe& last, std::size_t number);
  bool check_parts(PipePlan& plan);
  void check_relays();
  bool resolve_inputs(const Pipe& pipe, PipePlan& plan);
  bool resolve_padding_of(PipePlan& plan, const Part& part, std::size_t group, Id id, Padding& out);
  bool resolve_padding(PipePlan& plan);
  // rows.cpp
  bool place_rows(PipePlan& plan);
  void index_row_numbers();
  std::optional<RowLookup> lookup_of(const PipePlan& plan);
  // What may be asked for at once: a multiple of `least` tiles that divides `all`.
  struct ReadSteps {
    std::int64_t least = 1, all = 1;
  };
  ReadSteps read_steps(const PipePlan& plan, const DramRead& read, std::int64_t room) const;
  bool classify(PipePlan& plan);
  bool make_blocks(PipePlan& plan);
  bool count_passes(PipePlan& plan);
  std::optional<std::int64_t> passes_of(const Buffer& b) const;
  void refuse_buffers();

  // sharing.cpp: reads that several pipes share.
  void share_reads();
  bool may_share_reads(const PipePlan& plan) const;
  std::vector<std::vector<std::size_t>> groups_that_could_share() const;
  std::int32_t reading_core(const PipePlan& plan) const;

  // streams.cpp: numbers and connections.
  void make_kernel_streams();
  void make_kernel_stream(const Buffer& b);
  void connect(PipePlan& plan);
  void connect_dram(PipePlan& plan);
  void level_inputs();
  void make_lines(PipePlan& plan);
  std::optional<StreamRef> make_hop(const PipePlan& plan, const Way& way, std::size_t hop);
  std::optional<std::int32_t> multicast_core(const PipePlan& plan, std::size_t target);
  std::optional<StreamRef> make_multicast(PipePlan& plan, std::size_t target);
  std::optional<StreamRef> make_passing_on(const PipePlan& plan);
  std::int64_t staged_tiles(const PipePlan& plan, const Buffer& target, const Pipe& last) const;
  std::optional<StreamRef> take_link_stream(std::int32_t core, const std::string& what_for);
  std::optional<StreamRef> take_ethernet_stream(std::int32_t core, const std::string& what_for);
  void link_line(PipePlan& plan, std::size_t target);
  void make_senders(PipePlan& plan);
  Stream* add_stream(StreamRef ref);
  std::optional<StreamRef> take_extra(const PipePlan& plan, std::int32_t core, StreamKind kind);
  void link(StreamRef sender, const std::vector<StreamRef>& receivers);
  std::int64_t destination_index(StreamRef sender, StreamRef receiver) const;
  bool is_line(const std::vector<const Buffer*>& target) const;
  void check_fed_inputs();
  void check_taken_outputs();

  // dram.cpp: queues.
  std::int32_t dram_index(const Buffer& b);
  void number_readers();
  void make_read(const PipePlan& plan, Stream& stream, const Buffer& target, std::int64_t room);
  void make_stored_read(const Buffer& b, Stream& stream);
  void make_write(const PipePlan& plan, Stream& stream, std::size_t source, const Buffer& queue);
  void make_gradient(const Buffer& b, Stream& stream);
  void settle_writes();
  std::optional<RowWrite> rows_of(const PipePlan& plan, std::size_t source);

  // l1.cpp: addresses.
  void assign_addresses();
  void assign_core(std::int32_t number, const std::vector<std::int32_t>& sizes);
  void make_room_for_phases(std::int32_t number);
  std::uint64_t tracking_bytes(std::int32_t number) const;
  std::uint64_t needed_bytes(std::int32_t number, std::size_t sizes) const;
  void shrink_multicasts(std::int32_t number, std::uint64_t excess);
  const Stream* shares_with(std::int32_t number, const Stream& s) const;
  void check_multicast_addresses();

  // pcie.cpp: chips without ethernet.
  bool check_over_pcie(const PipePlan& plan);
  bool make_pcie_ends(const PipePlan& plan, std::size_t target, const std::map<Id, int>& reached, std::vector<StreamRef>& line);
  std::optional<StreamRef> make_pcie_relay(const PipePlan& plan, std::size_t target, std::int32_t core);
  std::int64_t pcie_tiles(const PipePlan& plan) const;
  void mark_pcie(PipePlan& plan);
  bool reads_pcie(const Stream& stream) const;
  void settle_pcie(Stream& sender);

  // phases.cpp
  void find_flows();
  void make_phases();
  void make_intermediate_phases();
  void too_many_phases(const PipePlan& plan, std::int64_t phases, const std::string& what_for);
  void make_ring_phases(const PipePlan& plan);
  void make_turn_phases(const std::vector<const PipePlan*>& plans);
  std::vector<StreamRef> receivers_of(const PipePlan& plan, std::size_t target) const;
  std::int64_t halves(const Buffer& b) const;

  // limits.cpp
  void check_limits();
  void check_core(const Core& core);

  // Errors know the place in the file by their data: the pipe or the buffer.
  void error(std::string code, const Pipe* pipe, const Buffer* buffer, std::string message, std::string hint = "");
  void unsupported(const Pipe* pipe, const Buffer* buffer, const std::string& feature);
  void misfit(std::string code, const Core& core, std::string resource, std::uint64_t needed, std::uint64_t available, std::string what,
              std::string hint, std::vector<Note> notes = {});
  std::string place_text(const Core& core) const;

  std::int32_t core_at(std::int32_t chip, GridCoord core) const;  // -1: not a core of this epoch
  std::int32_t core_of_buffer(const Buffer& b) const;             // of a buffer in L1; -1: in no core of this epoch
  static bool is_on_ethernet(const Buffer& b) {
    return b.type == BufferType::ethernet_relay || (b.ethernet_chan && (b.type == BufferType::unpacker || b.type == BufferType::packer));
  }
  Core& core_of(StreamRef r) { return blob_.cores[static_cast<std::size_t>(r.core)]; }
  Stream& stream_of(StreamRef r) { return streams_[static_cast<std::size_t>(r.core)].at(r.stream); }
  const Stream& stream_of(StreamRef r) const { return streams_[static_cast<std::size_t>(r.core)].at(r.stream); }
  std::int64_t total_tiles(const Buffer& b) const { return b.epoch_tiles * (b.is_scatter ? b.replicate : 1); }
  std::int64_t buffer_tiles(const Buffer& b) const;

  const pipes::PipeGraph& graph_;
  const device::DeviceDescriptor& device_;
  const device::EthCore& eth_core_;
  const std::optional<device::PeerAccess>& peers_;
  pipes::BufferIndex index_;
  Blob blob_;
  Failure failure_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::int32_t> core_index_;  // chip, row, column
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> link_core_;                  // of chip and ethernet channel
  std::map<Id, std::vector<const Pipe*>> relay_readers_;
  std::int64_t blocks_ = 0;  // of all plans so far
  std::map<Id, StreamRef> relay_streams_;
  std::vector<std::map<std::int32_t, Stream>> streams_;  // per core, by number; into blob_ at the end
  std::vector<PipePlan> plans_;
  std::vector<std::vector<const PipePlan*>> components_;  // pipes that lead to a common input
  std::map<Id, std::vector<std::size_t>> feeds_;          // plans that lead to a buffer
  std::map<Id, StreamRef> kernel_streams_;                // of inputs, outputs, intermediates
  std::set<Id> taken_;                                    // outputs whose own stream is in use
  std::map<Id, StreamRef> stores_;                        // the first stream of a buffer that was read before the epoch
  std::map<Id, std::int32_t> dram_index_;
  std::map<std::pair<Id, Id>, std::int32_t> own_readers_;  // number of a pipe among the readers of a buffer, if not that of the file
  std::map<Id, std::int32_t> own_reader_count_;
  std::optional<std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, RowLookup>> row_numbers_;  // of chip, row, column
  std::set<Id> served_;                                                                                   // pipes that others read for
  std::set<std::int32_t> asked_blobs_;  // cores whose op says how large its stream program may be
};

// A stream between sender and receiver: by which pipe, for which buffer at the end of the way, with room for how many of its tiles.
void set_passing(Stream& stream, const Buffer& target, const Pipe& pipe, std::int64_t tiles);

// The largest divisor of n that is at most `most`; 1 at least. O(sqrt n).
std::int64_t divisor_up_to(std::int64_t n, std::int64_t most);

// Streams whose buffers only transport can be a little smaller.
inline bool is_on_the_way(const Stream& s) { return s.kind == StreamKind::relay || s.kind == StreamKind::multicast; }
inline std::int64_t room_of(const Stream& s) { return static_cast<std::int64_t>(s.bytes) / s.message_bytes; }
// Makes the buffer hold a whole number of chunks, which it has room for.
void hold_whole(Stream& stream, std::int64_t chunk_tiles);

}  // namespace buda::overlay
