// SPDX-License-Identifier: Apache-2.0
// Mappings of files, and a list of them: pages may be taken from those alone, since what is taken from other memory is lost.
#include <buda/io/mapped_memory.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace buda::io {
namespace {

// A model in many files must leave descriptors for what else is opened.
constexpr std::size_t kMaxDescriptors = 32;
constexpr std::size_t kPart = std::size_t{128} << 10;
// Below this the page faults cost less than the calls.
constexpr std::size_t kCopyFrom = std::size_t{16} << 10;

struct Mapping {
  std::size_t size = 0;
  int descriptor = -1;  // of the file; -1 where none was kept
};

// Where in a mapped file bytes are.
struct Place {
  int descriptor = -1;
  std::size_t offset = 0;
};

class Mappings {
 public:
  void add(std::uintptr_t begin, std::size_t size, int descriptor) {
    std::lock_guard lock(mutex_);
    Mapping& mapping = mappings_[begin];
    mapping.size = size;
    if (descriptors_ < kMaxDescriptors) mapping.descriptor = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (mapping.descriptor >= 0) ++descriptors_;
  }
  void remove(std::uintptr_t begin) {
    std::lock_guard lock(mutex_);
    auto at = mappings_.find(begin);
    if (at->second.descriptor >= 0) {
      ::close(at->second.descriptor);
      --descriptors_;
    }
    mappings_.erase(at);
  }
  // Nothing for bytes that are not in one mapped file.
  std::optional<Place> find(std::uintptr_t begin, std::uintptr_t end) {
    std::lock_guard lock(mutex_);
    auto after = mappings_.upper_bound(begin);
    if (after == mappings_.begin()) return std::nullopt;
    auto at = std::prev(after);
    if (end > at->first + at->second.size) return std::nullopt;
    return Place{at->second.descriptor, begin - at->first};
  }

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, Mapping> mappings_;  // by address
  std::size_t descriptors_ = 0;
};

// Never destroyed: bytes may outlive every static object.
Mappings& mappings() {
  static auto* all = new Mappings;
  return *all;
}

}  // namespace

std::optional<Bytes> map_file(int descriptor, std::size_t size) {
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) return std::nullopt;
  mappings().add(reinterpret_cast<std::uintptr_t>(address), size, descriptor);
  std::shared_ptr<const void> owner(address, [size](const void* p) {
    mappings().remove(reinterpret_cast<std::uintptr_t>(p));
    ::munmap(const_cast<void*>(p), size);
  });
  return Bytes(owner, std::string_view(static_cast<const char*>(address), size));
}

void release_mapped(std::string_view bytes) {
  auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  auto end = (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size()) / page * page;
  if (begin < end && mappings().find(begin, end)) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void read_by_parts(std::string_view bytes, const std::function<void(std::string_view)>& use) {
  auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  auto place = bytes.size() < kCopyFrom ? std::nullopt : mappings().find(begin, begin + bytes.size());
  std::string buffer(place && place->descriptor >= 0 ? std::min(kPart, bytes.size()) : 0, '\0');
  while (!buffer.empty() && !bytes.empty()) {
    ssize_t got = ::pread(place->descriptor, buffer.data(), std::min(buffer.size(), bytes.size()), static_cast<off_t>(place->offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // what the file does not give is taken from the mapping
    auto count = static_cast<std::size_t>(got);
    use(std::string_view(buffer).substr(0, count));
    place->offset += count;
    bytes.remove_prefix(count);
  }
  if (!bytes.empty()) use(bytes);
}

}  // namespace buda::io
