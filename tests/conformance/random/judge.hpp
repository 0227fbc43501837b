// SPDX-License-Identifier: Apache-2.0
// One seed: drawn, compiled, run and compared on each device and in each mode.
#pragma once

#include "chip.hpp"
#include "compare.hpp"
#include "verdict.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace buda::trial {

struct JudgeOptions {
  Suite suite = Suite::integers;
  std::vector<std::string> devices = {"n150", "e150"};
  std::vector<std::string> modes = {"exact", "bits"};  // of golden; of tensix "tensix"
  std::string target = "golden";
  schema::OptionValues target_options;
  std::vector<std::string> ops;  // only recipes with one of these; empty: all
  compiler::CompileOptions compile;
  int host_bits = -1;  // counts of ops of integers that run on the host say why, up to that many bits
  bool reduce = true;
  bool disturbed = false;  // changes a number of each output before it is compared, to see whether that is noticed
};

Recipe recipe_of(Suite suite, std::uint64_t seed);

class Judge {
 public:
  static Result<Judge> make(JudgeOptions options, Toolchain& toolchain);
  Verdict judge(std::uint64_t seed);

 private:
  struct Mode {
    std::string name;
    std::shared_ptr<runtime::Target> target;
  };
  struct Chip {
    std::string name;
    device::DeviceDescriptor descriptor;
  };
  // What a run of a recipe on one device comes to; nothing to tell where outputs are as expected.
  struct Outcome {
    std::string what;  // empty: as expected
    std::string message;
    Port port;
    NamedTensors outputs;
  };

  Judge(JudgeOptions options, Toolchain& toolchain) : options_(std::move(options)), toolchain_(&toolchain) {}
  Outcome outcome(const Recipe& recipe, const Compiled& model, const Chip& chip, const Mode& mode);
  Outcome compiled_and_run(const Recipe& recipe, const Chip& chip, const Mode& mode);
  void judge_on(const Recipe& recipe, const Chip& chip, Verdict& verdict);
  Finding fault(const Recipe& recipe, const Chip& chip, const Mode& mode, const Outcome& found);
  void count_places(const Recipe& recipe, const Compiled& model, const Chip& chip, Verdict& verdict) const;

  JudgeOptions options_;
  Toolchain* toolchain_;
  std::vector<Chip> chips_;
  std::vector<Mode> modes_;
};

}  // namespace buda::trial
