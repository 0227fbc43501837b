// SPDX-License-Identifier: Apache-2.0
// The temporary files and folders in flight, so that a signal handler can remove them. Internal to the module.
#pragma once

#include <atomic>
#include <string>

namespace buda::io {

// A handler may neither allocate nor lock, so names are C strings in a list that only grows; places in it are used again.
class TemporaryNames {
 public:
  // False: there is no memory.
  bool add(const std::string& path);
  void remove(const std::string& path);
  void unlink_all() noexcept;

 private:
  struct Place {
    std::atomic<char*> name;
    Place* next = nullptr;
  };
  std::atomic<Place*> first_ = nullptr;
};

TemporaryNames& temporary_names();

// "FILE.tmp-PID-N", a name beside `path` that no other file of this process has.
std::string temporary_name(const std::string& path);

}  // namespace buda::io
