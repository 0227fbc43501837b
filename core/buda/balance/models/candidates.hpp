// What the op classes have in common when they enumerate their models: the steps from a grid to a checked candidate.
#pragma once

#include <buda/balance/models/op_model.hpp>

#include <vector>

namespace buda::balance {

// Collects candidates of one op; an op class adds the blockings that it knows.
class Candidates {
 public:
  Candidates(const OpSpec& spec, const device::DeviceDescriptor& device, const ModelOptions& options, const OpOverride* wish,
             LegalModels& out)
      : spec_(spec), device_(device), options_(options), wish_(wish), out_(out) {}

  const OpSpec& spec() const { return spec_; }
  const device::DeviceDescriptor& device() const { return device_; }

  // Grids of at most `rows` x `cols` parts that divide the output and fit the chip.
  std::vector<GridShape> grids(std::int64_t rows, std::int64_t cols);
  // The blocking of one core's part of the output: the largest ublock of at most `dest` tiles, the wider of two equal ones. Nothing where
  // the user demands another.
  std::optional<netlist::BlockShape> blocking(GridShape grid, std::int64_t dest);
  // Steps of the inner dimension, from large to small, as the user allows.
  std::vector<std::int64_t> inner_steps(std::int64_t inner);

  // Completes a candidate (buffers, residency) and keeps it if it fits. When it does not, returns false, and it is counted.
  bool offer(OpModel model);
  // Calls body(model) for smaller and smaller ublocks until one fits: what a smaller ublock saves are input buffers.
  template <class Body>
  void for_each_grid(std::int64_t rows, std::int64_t cols, Body body) {
    for (GridShape grid : grids(rows, cols)) {
      bool kept = false;
      std::optional<netlist::BlockShape> last;
      for (std::int64_t dest = device_.dest_tiles(spec_.op.acc_format); dest >= 1 && !kept; dest /= 2) {
        auto block = blocking(grid, dest);
        if (!block || (last && *last == *block)) continue;
        last = block;
        OpModel model;
        model.grid = grid;
        model.block = *block;
        kept = body(model);
      }
    }
  }

 private:
  Usage l1_of(const OpModel& model) const;
  void keep_residents(OpModel& model) const;

  const OpSpec& spec_;
  const device::DeviceDescriptor& device_;
  const ModelOptions& options_;
  const OpOverride* wish_;
  LegalModels& out_;
};

// One file per op class.
void matmul_models(Candidates& candidates);
void eltwise_models(Candidates& candidates);  // unary, SFPU, binary, quantization
void reduce_models(Candidates& candidates);

}  // namespace buda::balance
