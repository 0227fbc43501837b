// SPDX-License-Identifier: Apache-2.0
// A route to a place that is not on the grid would have no end, and a buffer of any size would take in tiles without one.
#include <buda/overlay/blob/blob_places.hpp>

#include <buda/base/text.hpp>

namespace buda::overlay {
namespace {

constexpr std::int32_t kNetworks = 2;

class PlaceCheck {
 public:
  PlaceCheck(const device::DeviceDescriptor& device, const std::string& file) : device_(device), file_(file) {}

  Result<void> run(const Blob& blob) {
    for (const DramBuffer& d : blob.dram) {
      on_grid(d.port, cat("the port of queue '", d.queue, '\''));
      on_chip(d.chip, cat("queue '", d.queue, '\''));
    }
    for (std::size_t c = 0; c < blob.cores.size(); ++c) {
      const Core& core = blob.cores[c];
      on_grid(core.noc, cat("core ", c));
      on_chip(core.chip, cat("core ", c));
      for (const Stream& s : core.streams) {
        const std::string what = cat("stream ", s.number, " of core ", c);
        for (std::int32_t noc : {s.noc_in, s.noc_out})
          if (noc < 0 || noc >= kNetworks) wrong(cat(what, " uses network ", noc, "; there are 0 and 1"));
        in_l1(s, core.ethernet ? device_.eth_l1_bytes : device_.l1.size, what);
        if (s.pcie) on_grid(s.pcie->port, cat("the port of ", what));
      }
    }
    if (!failure_.empty()) return std::move(failure_);
    return success();
  }

 private:
  void on_grid(device::NocCoord at, const std::string& what) {
    if (!device_.noc.contains(at))
      wrong(cat(what, " is at ", at.text(), ", outside the network of ", device_.name, ", which has ", device_.noc.x, " columns and ",
                device_.noc.y, " rows"));
  }
  void on_chip(std::int32_t chip, const std::string& what) {
    if (chip < 0) wrong(cat(what, " is on chip ", chip));
  }
  void in_l1(const Stream& s, std::uint64_t l1_bytes, const std::string& what) {
    if (s.address > l1_bytes || s.bytes > l1_bytes - s.address)
      wrong(cat("the buffer of ", what, ", ", s.bytes, " bytes at ", s.address, ", ends beyond L1, which has ", l1_bytes, " bytes"));
  }
  void wrong(std::string message) { failure_.add(input_error("BB008", {file_}, std::move(message))); }

  const device::DeviceDescriptor& device_;
  const std::string& file_;
  Failure failure_;
};

}  // namespace

Result<void> check_places(const Blob& blob, const device::DeviceDescriptor& device, const std::string& file) {
  return PlaceCheck(device, file).run(blob);
}

}  // namespace buda::overlay
