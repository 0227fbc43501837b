// SPDX-License-Identifier: Apache-2.0
// The untimed run of an epoch: tokens go wherever there is room, until nothing goes on. Internal to the module.
//
// Kernels take and give fixed granules in a fixed order, streams send in the order of their phases, and whoever finds no tiles or no room
// waits. Such a network is determinate: in whatever order its parts go on, each of them does the same things, and as many of them
// (Kahn's argument, with room as tokens that go backwards). Whether the epoch deadlocks is therefore seen in one run, whatever the timing.
// The order here is that of the inputs of the graph: no kernel begins input k + 1 before nothing more can be done for input k. Where the
// network is then in the state in which it was after an earlier input, everything repeats, and the epoch is live for any number of inputs.
#pragma once

#include <buda/liveness/network.hpp>

#include <cstdint>
#include <vector>

namespace buda::liveness {

class TokenRun {
 public:
  // The network must outlive the run, which changes it.
  explicit TokenRun(Network& network);

  // Goes on until all kernels have done `inputs` inputs, or nothing goes on.
  void advance(std::int64_t inputs);
  // All kernels have done as much.
  bool has_done(std::int64_t inputs) const;
  // Everything has arrived and is written.
  bool is_complete() const;
  // Relative to the inputs that are done: equal after two inputs if everything repeats between them.
  std::vector<std::int64_t> state() const;
  // Some queue gives, or takes, only so many entries in the epoch, so that no state repeats.
  bool is_bounded_by_queues() const;

 private:
  void wake(Node node);
  void wake_kernel(KernelId kernel) { wake(n_.node_of(kernel)); }
  void wake_users(StreamId id);
  void wake_filler(StreamId id);
  void go_on(StreamId id);
  void read(StreamId id);
  void send(StreamId id);
  void write(StreamId id);
  void step(KernelId id);
  bool can_step(const Kernel& k) const;
  void next_phase(StreamId id);
  std::int64_t accepted(StreamId sender, const Stream& s, const Stream& r) const;
  void leaves(StreamId id, std::int64_t tiles);
  void free_up_to(StreamId owner, std::int64_t taken);

  Network& n_;
  std::int64_t limit_ = 0;  // inputs
  std::vector<Node> work_;
  std::vector<bool> woken_;
};

// What a stream waits for. Also for the explanation of a deadlock.
//
// Tiles that it could send or write now.
std::int64_t available(const Network& n, const Stream& s);
// Tiles of its buffer that a user needs no longer, from the first of the epoch on.
std::int64_t done_with(const Stream& user);
std::int64_t readable_entries(const Network& n, const QueueBuffer& q);
std::int64_t writable_entries(const Network& n, const QueueBuffer& q);
// Whether the messages of the sender's phase belong to the phase that the receiver is in.
bool meet(StreamId sender, const Stream& s, const Stream& r);

// What keeps a kernel from its next step.
struct KernelWait {
  enum class For : std::uint8_t { nothing, tiles, room };
  For what = For::nothing;
  std::uint32_t operand = 0;
  std::int64_t needed = 0;  // tiles since the epoch began
};
KernelWait wait_of(const Network& n, const Kernel& k);

}  // namespace buda::liveness
