// SPDX-License-Identifier: Apache-2.0
// An image in one process, its inputs and outputs in others, over shared memory: the guide's <runtime process> and <io process>.
//
//   // the process that runs the image
//   BUDA_TRY(runtime::serve_io(*backend, backend->models().front(), "camera"));
//
//   // one that pushes                                                  // one that pops
//   BUDA_ASSIGN(auto io, SharedIo::attach("camera", IoRole::push));     BUDA_ASSIGN(auto io, SharedIo::attach("camera", IoRole::pop));
//   BUDA_TRY(io->push({{"x", image}}));                                 BUDA_ASSIGN(std::optional<NamedTensors> y, io->pop());
//   io->close();
//
// A bounded number of batches is in flight: a push waits until there is room. When a process dies, the others notice it within a few
// hundredths of a second, and fail with an error that says which; batches that were complete by then can still be popped.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/backend.hpp>
#include <buda/runtime/pipeline_device.hpp>
#include <buda/runtime/timeout.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

class SharedChannel;

struct ServeOptions {
  std::size_t entries = 4;  // batches that wait in shared memory, of inputs and of outputs
  Timeout idle = {};        // nothing pushed, or no result popped, for so long: serving ends with RT084; absent: it goes on
  std::function<bool()> cancelled = nullptr;  // asked every few hundredths of a second; true ends serving with RT083
};

// Runs the model on the batches that other processes push, until the one that pushes has closed and all results are popped, or in the
// shared memory of a process that pops. The name is the system's, without a slash. A turn of the model begins with its first batch, or,
// where the host has segments, when its batches are there and the results before it have left. States begin with zeros and stay here.
// RT081: another process has ended without closing. IO040: the shared memory cannot be had, or the name is in use. What the device fails
// with.
Result<void> serve_io(Backend& backend, const LoadedModel& model, const std::string& name, const ServeOptions& options = {});

enum class IoRole : std::uint8_t { push, pop, both };

class SharedIo {
 public:
  // Waits until the name is served (RT080: it was not in time; another process has this role). Without a time-out kPatience.
  static Result<std::unique_ptr<SharedIo>> attach(const std::string& name, IoRole role, Timeout timeout = {});
  // A process that pushes, or pops before the end, and goes without close() counts as dead.
  ~SharedIo();

  const std::vector<TensorType>& inputs() const;
  const std::vector<TensorType>& outputs() const;

  // A batch of all inputs. RT050: no room in time, without a time-out kPatience. RT081: the process that runs the image is gone. RT082: the
  // process that runs the image has failed; its error. RT020 to RT022: names, shapes, types.
  Result<void> push(const NamedTensors& batch, Timeout timeout = {});
  // The outputs of the next batch, in the order of pushing; nothing when there are no more, since the process that pushes has closed.
  // RT051, RT081, RT082: likewise, behind all complete batches.
  Result<std::optional<NamedTensors>> pop(Timeout timeout = {});
  // Pushes no more, and pops no more: results that come are dropped.
  void close();

 private:
  SharedIo(std::unique_ptr<SharedChannel> channel, IoRole role);
  Result<void> check_others() const;

  std::unique_ptr<SharedChannel> channel_;
  IoRole role_;
  bool closed_ = false;
};

}  // namespace buda::runtime

#pragma GCC visibility pop
