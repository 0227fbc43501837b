// Mappings of files, and a list of them: pages may be taken from those alone, since what is taken from other memory is lost.
#include <buda/io/mapped_memory.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace buda::io {
namespace {

class Mappings {
 public:
  void add(std::uintptr_t begin, std::size_t size) {
    std::lock_guard lock(mutex_);
    sizes_[begin] = size;
  }
  void remove(std::uintptr_t begin) {
    std::lock_guard lock(mutex_);
    sizes_.erase(begin);
  }
  bool contains(std::uintptr_t begin, std::uintptr_t end) {
    std::lock_guard lock(mutex_);
    auto after = sizes_.upper_bound(begin);
    if (after == sizes_.begin()) return false;
    auto at = std::prev(after);
    return end <= at->first + at->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> sizes_;  // by address
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
  mappings().add(reinterpret_cast<std::uintptr_t>(address), size);
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
  if (begin < end && mappings().contains(begin, end)) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace buda::io
