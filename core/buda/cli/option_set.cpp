// Declaration of positional arguments.
#include <buda/cli/option_set.hpp>

#include <limits>

namespace buda::cli {

void OptionSet::positional(std::string name, std::string& target, std::string summary) {
  positionals_.push_back({std::move(name), std::move(summary), 1, 1, nullptr, &target});
}

void OptionSet::optional_positional(std::string name, std::string& target, std::string summary) {
  positionals_.push_back({std::move(name), std::move(summary), 0, 1, nullptr, &target});
}

void OptionSet::positionals(std::string name, std::vector<std::string>& target, std::size_t least, std::string summary) {
  positionals_.push_back({std::move(name), std::move(summary), least, std::numeric_limits<std::size_t>::max(), &target, nullptr});
}

}  // namespace buda::cli
