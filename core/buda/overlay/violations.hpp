// SPDX-License-Identifier: Apache-2.0
// What is wrong with the pipes of an epoch, and what does not fit its cores, collected while the stream programs are made. Internal to the
// module.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::overlay {

// More of `resource` is needed on a core than it has.
struct Shortage {
  std::string code;      // OV01x
  std::string resource;  // "phases"; amounts of what ends in "bytes" are printed as sizes, too
  std::uint64_t needed = 0, available = 0;
  std::string what;  // needs it
  std::string hint;
  std::vector<Note> notes;
};

// At most twenty are kept: the others are consequences, or the same once more.
class Violations {
 public:
  // `name_chips`: there is more than one chip, so messages say on which one a core is.
  explicit Violations(bool name_chips) : name_chips_(name_chips) {}

  // The pipe and the buffer that are wrong, as far as there are any, go into the message and the data.
  void error(std::string code, const pipes::Pipe* pipe, const pipes::Buffer* buffer, std::string message, std::string hint = "");
  // OV001
  void unsupported(const pipes::Pipe* pipe, const pipes::Buffer* buffer, const std::string& feature);
  void shortage(const Core& core, Shortage shortage);

  bool empty() const { return failure_.empty(); }
  Failure take() && { return std::move(failure_); }

 private:
  bool is_full() const;
  std::string core_text(const Core& core) const;

  bool name_chips_;
  Failure failure_;
};

}  // namespace buda::overlay
