// SPDX-License-Identifier: Apache-2.0
// What a process that was killed left beside its products. Internal to the module.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace buda::io {

// Removes temporary files and folders of earlier processes: named as temporary_name() does, by a process that is gone and holds no lock
// on them. What cannot be removed stays.
class LeftOver {
 public:
  // Those of one product. Each folder is listed once.
  void remove_of(const std::string& product);

 private:
  std::map<std::string, std::vector<std::string>> names_;  // of temporary files, by folder
};

// Removes temporary folders of this user, named PREFIX PID-XXXXXX, by the same rule.
void remove_left_over_folders(const std::string& parent, const std::string& prefix);

}  // namespace buda::io
