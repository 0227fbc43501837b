// Lists of numbers as runs, which is how long lists of blocks are made: a few numbers, then the same ones again, each a step further.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace buda::pipes {

// `count` times the `period` numbers that begin the rest of the list, with `step` added each time.
struct NumberRun {
  std::size_t period = 1;
  std::size_t count = 1;
  std::int64_t step = 0;
  std::size_t length() const { return period * count; }
};

// The run with which `rest` begins that covers most of it, among those of up to 16 numbers; one number by itself when no run covers at
// least three. `rest` has at least one number. Time: 16 times the length of what is returned, at most.
NumberRun first_run(std::span<const std::uint64_t> rest);

}  // namespace buda::pipes
