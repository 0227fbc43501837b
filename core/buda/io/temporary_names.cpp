// SPDX-License-Identifier: Apache-2.0
// The list, and what a handler does with it.
#include <buda/io/temporary_names.hpp>

#include <buda/base/text.hpp>
#include <buda/io/file_system.hpp>

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace buda::io {

bool TemporaryNames::add(const std::string& path) {
  char* copy = ::strdup(path.c_str());
  if (copy == nullptr) return false;
  for (Place* place = first_.load(); place != nullptr; place = place->next) {
    char* expected = nullptr;
    if (place->name.compare_exchange_strong(expected, copy)) return true;
  }
  auto* place = new (std::nothrow) Place;
  if (place == nullptr) {
    ::free(copy);
    return false;
  }
  place->name = copy;
  place->next = first_.load();
  while (!first_.compare_exchange_weak(place->next, place)) {
  }
  return true;
}

void TemporaryNames::remove(const std::string& path) {
  for (Place* place = first_.load(); place != nullptr; place = place->next) {
    char* name = place->name.load();
    if (name != nullptr && path == name && place->name.compare_exchange_strong(name, nullptr)) {
      ::free(name);
      return;
    }
  }
}

// A folder goes once it is empty, so what is nested takes several rounds.
void TemporaryNames::unlink_all() noexcept {
  constexpr int kRounds = 16;
  for (int i = 0; i < kRounds; ++i) {
    bool removed = false;
    for (Place* place = first_.load(); place != nullptr; place = place->next)
      if (const char* name = place->name.load()) removed |= ::unlink(name) == 0 || ::rmdir(name) == 0;
    if (!removed) return;
  }
}

TemporaryNames& temporary_names() {
  static TemporaryNames names;
  return names;
}

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return cat(path, ".tmp-", static_cast<long>(::getpid()), '-', counter++);
}

void remove_temporary_files() noexcept { temporary_names().unlink_all(); }

}  // namespace buda::io
