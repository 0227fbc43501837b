// Elements that lie unaligned in a file, copied to where they can be read as numbers once somebody wants that.
#pragma once

#include <buda/io/bytes.hpp>

#include <memory>
#include <mutex>

#pragma GCC visibility push(default)

namespace buda::detail {

class AlignedCopy {
 public:
  explicit AlignedCopy(io::Bytes from) : from_(std::move(from)) {}

  // The same bytes, aligned for every element type. Thread-safe; std::bad_alloc when memory is short.
  const char* data();

 private:
  io::Bytes from_;
  std::once_flag made_;
  std::shared_ptr<char> memory_;
};

}  // namespace buda::detail

#pragma GCC visibility pop
