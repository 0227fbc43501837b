// Where a stream is in its phases, in a form that repeats where the phases do. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace buda::liveness {

class Phases {
 public:
  Phases() = default;
  // The program must outlive the phases.
  explicit Phases(const overlay::Stream& program);

  // Makes all phases one. Between two streams that know only each other their borders mean nothing, and without them the state of the
  // streams repeats with the tiles that each input of the graph has.
  void merge();

  bool done() const { return iteration_ >= iterations_; }
  const overlay::Phase& now() const { return now_; }
  std::int64_t iteration() const { return iteration_; }
  // The id of the phase that follows in this iteration; kLast when this is the last one.
  static constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  std::int64_t next_id() const;
  void next();

  bool merged() const { return merged_; }
  std::int64_t iterations() const { return iterations_; }
  // The place within an iteration.
  std::size_t run() const { return run_; }
  std::int64_t in_run() const { return at_; }

 private:
  const std::vector<overlay::PhaseRun>* runs_ = nullptr;
  std::int64_t iterations_ = 0, iteration_ = 0, messages_ = 0;
  std::size_t run_ = 0;
  std::int64_t at_ = 0;
  bool merged_ = false;
  overlay::Phase now_;
};

}  // namespace buda::liveness
