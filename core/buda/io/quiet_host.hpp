// SPDX-License-Identifier: Apache-2.0
// The host for what is only tried: it works as another one, and nobody hears its warnings.
#pragma once

#include <buda/io/host.hpp>

namespace buda {

// `heard`: whose files, threads, seed and folder it has.
class QuietHost final : public Host {
 public:
  explicit QuietHost(Host& heard) : Host(heard.fs(), swallowed_) {
    threads = heard.threads;
    seed = heard.seed;
    share_dir = heard.share_dir;
  }

 private:
  CollectingSink swallowed_;
};

}  // namespace buda
