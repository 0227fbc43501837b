// SPDX-License-Identifier: Apache-2.0
// A core of the vendor's simulator, as those who run ops see it.
#pragma once

#include "library.hpp"

#include <buda/kernels/run/op_run.hpp>

#include <string>

namespace buda::ttsim {

class VendorCore final : public kernels::Core {
 public:
  explicit VendorCore(Library& library) : library_(library) { library_.look_at(1, 1); }

  void write(std::uint32_t address, std::string_view bytes) override;
  void read(std::uint32_t address, char* to, std::size_t count) override { library_.read(address, to, static_cast<std::uint32_t>(count)); }
  std::uint32_t counter(std::uint32_t stream, Counter counter) override;
  void set_counter(std::uint32_t stream, Counter counter, std::uint32_t value) override;
  void start(const std::array<std::uint32_t, 3>& entries) override;
  Turn advance() override;
  std::string state(const StreamName&) const override { return "the library does not tell what its threads wait for"; }
  int patience() const override { return 20000; }
  // What the destination register holds, as the chip's debugger reads it: 1024 rows of 16 words of 16 bits, low byte first. A
  // number of 32 bits takes a row and the one 8 rows behind it, which the library shows only where a number of 16 bits was before.
  std::string destination();

 private:
  Library& library_;
};

}  // namespace buda::ttsim
