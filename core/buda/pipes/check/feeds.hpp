// SPDX-License-Identifier: Apache-2.0
// Which pipes lead to which buffers. Internal to the checker.
#pragma once

#include <buda/pipes/check/checked_epoch.hpp>
#include <buda/pipes/check/findings.hpp>
#include <buda/pipes/check/owners.hpp>

#include <map>
#include <vector>

namespace buda::pipes {

// An output group of a pipe.
struct Feed {
  std::size_t pipe = 0;  // in PipeGraph::pipes
  std::size_t group = 0;
};

// By buffer; the groups of a pipe are consecutive.
using Feeds = std::map<Id, std::vector<Feed>>;

// PC007 where a pipe leads to no buffer, or to one that receives nothing.
Feeds find_feeds(const CheckedEpoch& epoch, const Owners& owners, Findings& findings);

}  // namespace buda::pipes
