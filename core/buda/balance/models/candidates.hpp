// SPDX-License-Identifier: Apache-2.0
// What the op classes have in common when they enumerate their models: the steps from a grid to a checked candidate.
#pragma once

#include <buda/balance/models/op_model.hpp>

#include <cstdint>
#include <vector>

namespace buda::balance {

// What the stream programs of an op's neighbours may add to its own in L1, which only they know.
inline constexpr std::uint64_t kRoomForNeighbours = 96 << 10;

// How candidates use L1.
struct RoomInL1 {
  bool shallow = false;       // output buffers need not hold what readers in the same epoch need at once
  std::uint64_t reserve = 0;  // bytes that stay free
  bool holds(const Usage& l1) const { return l1.used + reserve <= l1.available; }
};

// Collects candidates of one op; an op class adds the blockings that it knows.
class Candidates {
 public:
  Candidates(const OpSpec& spec, const device::DeviceDescriptor& device, const ModelOptions& options, const OpOverride* overrides,
             RoomInL1 room, LegalModels& out)
      : spec_(spec),
        device_(device),
        options_(options),
        overrides_(overrides),
        room_(room),
        inputs_(spec.once_per_step ? 1 : options.inputs_per_epoch),
        out_(out) {}

  const OpSpec& spec() const { return spec_; }
  const device::DeviceDescriptor& device() const { return device_; }
  // Whether the user leaves it open to cut the rows of a sparse matmul into so many bands.
  bool may_have_bands(std::int32_t bands) const { return overrides_ == nullptr || !overrides_->bands || *overrides_->bands == bands; }

  // The ways of streaming that the op's class, its neighbours in the graph and the user leave open; not to stream comes first.
  std::vector<Stream> streams() const;
  // Grids of at most `rows` x `cols` parts that fit the chip.
  std::vector<GridShape> grids(std::int64_t rows, std::int64_t cols);
  // The blocking of one core's part of a result of this shape: the largest ublock of at most `dest` tiles, the wider of two equal ones.
  // Nothing where the user overrides it.
  std::optional<netlist::BlockShape> blocking(const netlist::TileShape& held, GridShape grid, std::int64_t dest);
  // Steps of the inner dimension, from large to small, as the user and the exactness of its sums allow.
  std::vector<std::int64_t> inner_steps(std::int64_t inner);

  // Completes a candidate (buffers, residency) and keeps it if it fits. When it does not, returns false, and it is counted.
  bool offer(OpModel model);
  // Whether a sparse matmul fits if its encoding takes no more than `model.sparse` says; otherwise it is counted, and need not be encoded.
  bool could_fit(OpModel model);
  // A candidate that a rule of its class forbids.
  void reject() { out_.rejections.count(Rejection::other); }
  // For each way of streaming and each grid, calls body(model) for smaller and smaller ublocks until one fits: what a smaller ublock saves
  // are input buffers. Along a dimension that the op takes together there is one core.
  template <class Body>
  void for_each_grid(Body body) {
    for (const Stream& stream : streams()) {
      const netlist::TileShape held = held_shape(spec_.out, held_result(spec_, stream));
      const netlist::Dim dim = undivided(spec_);
      for (GridShape grid : grids(dim == netlist::Dim::r ? 1 : held.rt, dim == netlist::Dim::c ? 1 : held.ct)) {
        bool kept = false;
        std::optional<netlist::BlockShape> last;
        for (std::int64_t dest = device_.dest_tiles(spec_.op.acc_format); dest >= 1 && !kept; dest /= 2) {
          auto block = blocking(held, grid, dest);
          if (!block || (last && *last == *block)) continue;
          last = block;
          OpModel model;
          model.grid = grid;
          model.stream = stream;
          model.block = *block;
          kept = body(model);
        }
      }
    }
  }

 private:
  Usage l1_of(const OpModel& model) const;
  void keep_residents(OpModel& model) const;
  void set_cycles(OpModel& model, const netlist::Op& op) const;
  bool fits_with(OpModel& model, std::int64_t mblocks, Usage& l1) const;
  bool leaves_room(const OpModel& model, Usage& l1) const;
  void deepen(OpModel& model, Usage& l1) const;
  bool offer_lean(OpModel model);
  bool keep(OpModel model, const Usage& l1);
  bool could_be_fed(const OpModel& model, const netlist::Op& op) const;

  const OpSpec& spec_;
  const device::DeviceDescriptor& device_;
  const ModelOptions& options_;
  const OpOverride* overrides_;
  RoomInL1 room_;
  std::int64_t inputs_;  // of an execution of the op's epoch
  LegalModels& out_;
};

// As an operand comes that no op streams.
inline HeldResult held_by_source(const OpSpec& spec, std::size_t input) { return {{}, spec.operands[input].shape.t, false}; }

// One file per op class.
void matmul_models(Candidates& candidates);
void sparse_models(Candidates& candidates);
void depthwise_models(Candidates& candidates);
void eltwise_models(Candidates& candidates);  // unary, SFPU, binary, quantization
void reduce_models(Candidates& candidates);
void splice_models(Candidates& candidates);

}  // namespace buda::balance
