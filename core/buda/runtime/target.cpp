// SPDX-License-Identifier: Apache-2.0
// What devices have in common.
#include <buda/runtime/target.hpp>

namespace buda::runtime {

std::optional<std::int64_t> Device::room(const std::string& queue) {
  static_cast<void>(queue);
  return std::nullopt;
}

Result<Progress> Device::advance(const Until& until) {
  static_cast<void>(until);
  return Progress{};
}

Result<void> Device::run(const std::string& program, const Parameters& parameters) {
  BUDA_TRY(start(program, parameters));
  BUDA_ASSIGN(Progress progress, advance(Until::idle()));
  if (progress.state == State::idle) return success();
  Failure failure;
  for (Wait& wait : progress.waits) failure.add(std::move(wait.reason));
  if (failure.empty()) return internal_error("the device stopped in the middle of a program, without giving a reason");
  return failure;
}

bool Device::observe(Observer& observer) {
  static_cast<void>(observer);
  return false;
}

bool Device::record(perf::Sink& sink, perf::Level level) {
  static_cast<void>(sink);
  static_cast<void>(level);
  return false;
}

}  // namespace buda::runtime
