// SPDX-License-Identifier: Apache-2.0
// The side of processes that push and pop.
#include <buda/runtime/shared_io.hpp>

#include <buda/base/text.hpp>
#include <buda/runtime/shared/shared_channel.hpp>
#include <buda/runtime/shared/typed_tensors.hpp>

#include <thread>
#include <utility>

namespace buda::runtime {

using std::chrono::steady_clock;

namespace {

steady_clock::time_point end_of(Timeout timeout) {
  return steady_clock::now() + std::min<std::chrono::milliseconds>(timeout.value_or(kPatience), std::chrono::hours(24 * 365));
}

Diagnostic unattached(const std::string& why) { return input_error("RT080", {}, why); }

bool takes(IoRole role, Party party) { return role == IoRole::both || (role == IoRole::push) == (party == Party::pusher); }

}  // namespace

SharedIo::SharedIo(std::unique_ptr<SharedChannel> channel, IoRole role) : channel_(std::move(channel)), role_(role) {}
SharedIo::~SharedIo() = default;

Result<std::unique_ptr<SharedIo>> SharedIo::attach(const std::string& name, IoRole role, Timeout timeout) {
  const auto end = end_of(timeout);
  std::unique_ptr<SharedChannel> channel;
  while (true) {
    BUDA_ASSIGN(channel, SharedChannel::open(name));
    if (channel) break;
    if (steady_clock::now() >= end) return unattached(cat("no process serves '", name, "'"));
    std::this_thread::sleep_for(kGlance);
  }
  for (Party party : {Party::pusher, Party::popper})
    if (takes(role, party) && (channel->presence(party) != Presence::absent || !channel->enter(party)))
      return unattached(cat("another process ", party == Party::pusher ? "pushes to '" : "pops from '", name, '\''));
  return std::unique_ptr<SharedIo>(new SharedIo(std::move(channel), role));
}

const std::vector<TensorType>& SharedIo::inputs() const { return channel_->types(Way::in); }
const std::vector<TensorType>& SharedIo::outputs() const { return channel_->types(Way::out); }

Result<void> SharedIo::check_others() const {
  if (channel_->state() == ChannelState::failed)
    return input_error("RT082", {}, cat("the process that runs the image has failed: ", channel_->failure()));
  if (channel_->has_died(Party::runtime)) return input_error("RT081", {}, "the process that runs the image has ended");
  return success();
}

Result<void> SharedIo::push(const NamedTensors& batch, Timeout timeout) {
  if (closed_ || !takes(role_, Party::pusher)) return unattached("this process does not push, or has closed");
  BUDA_ASSIGN(NamedTensors typed, typed_tensors(inputs(), batch));
  auto is_over = [&] { return channel_->state() != ChannelState::running || channel_->has_died(Party::runtime); };
  channel_->wait(end_of(timeout), [&] { return is_over() || channel_->has_room(Way::in); });
  BUDA_TRY(check_others());
  if (!channel_->has_room(Way::in)) {
    Diagnostic d = input_error("RT050", {}, "the shared memory has no room for a batch, and none became free in time");
    d.hint = "it becomes free when results are popped";
    return d;
  }
  channel_->write(Way::in, typed);
  return success();
}

Result<std::optional<NamedTensors>> SharedIo::pop(Timeout timeout) {
  if (closed_ || !takes(role_, Party::popper)) return unattached("this process does not pop, or has closed");
  auto is_over = [&] { return channel_->state() != ChannelState::running || channel_->has_died(Party::runtime); };
  // What was written before the end comes before the end.
  const bool came = channel_->wait(end_of(timeout), [&] { return is_over() || channel_->has_batch(Way::out); });
  if (channel_->has_batch(Way::out)) {
    BUDA_ASSIGN(NamedTensors batch, channel_->read(Way::out));
    return std::optional(std::move(batch));
  }
  if (channel_->state() == ChannelState::finished) return std::optional<NamedTensors>();
  BUDA_TRY(check_others());
  Diagnostic d = input_error("RT051", {}, came ? "no batch came" : "no batch came in time");
  d.hint = "a batch comes for each that is pushed";
  return d;
}

void SharedIo::close() {
  if (std::exchange(closed_, true)) return;
  for (Party party : {Party::pusher, Party::popper})
    if (takes(role_, party)) channel_->close(party);
}

}  // namespace buda::runtime
