// SPDX-License-Identifier: Apache-2.0
// What all checks of a graph share. Internal to the checker.
#pragma once

#include <buda/pipes/check/checked_epoch.hpp>
#include <buda/pipes/check/feeds.hpp>
#include <buda/pipes/check/owners.hpp>
#include <buda/pipes/check/trace.hpp>

namespace buda::pipes {

struct Checked {
  const CheckedEpoch& epoch;
  const Owners& owners;
  const Feeds& feeds;
  Trace& trace;

  // The first pipe that leads to a buffer, or null.
  const Pipe* feeding(const Buffer& b) const {
    auto it = feeds.find(b.id);
    return it == feeds.end() ? nullptr : &epoch.graph.pipes[it->second.front().pipe];
  }
};

}  // namespace buda::pipes
