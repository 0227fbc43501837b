// SPDX-License-Identifier: Apache-2.0
// The command line of one tool: its options and its positional arguments.
#pragma once

#include <buda/schema/option_set.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace buda::cli {

using schema::BoundOption;

struct Positional {
  std::string name;  // MODEL
  std::string summary;
  std::size_t least = 1;
  std::size_t most = 1;
  std::vector<std::string>* target = nullptr;
  std::string* single = nullptr;
};

class OptionSet : public schema::OptionSet {
 public:
  void positional(std::string name, std::string& target, std::string summary);
  void optional_positional(std::string name, std::string& target, std::string summary);
  void positionals(std::string name, std::vector<std::string>& target, std::size_t least, std::string summary);

  const std::vector<Positional>& positional_list() const { return positionals_; }

 private:
  std::vector<Positional> positionals_;
};

// --device NAME|FILE and --harvested-rows R,…, which both go to `device`: a name for device::load_device. Config files and --set know them
// as PyBuda does: device_config, backend_device_descriptor_path and harvested_rows, too.
void declare_device(OptionSet& set, std::string& device, std::string summary);

}  // namespace buda::cli
