// SPDX-License-Identifier: Apache-2.0
// One OpenMP thread around calls of oneDNN.
#pragma once

namespace buda::ops {

// oneDNN would split its work by OpenMP's number of threads, and where it splits a sum, results would differ with it. So work is cut here,
// into pieces that depend on shapes alone, and OpenMP is held to one thread of the calling thread's while an object of this class lives.
class OneOpenMpThread {
 public:
  OneOpenMpThread();
  ~OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_;
};

}  // namespace buda::ops
