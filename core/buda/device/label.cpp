// What follows the last slash.
#include <buda/device/label.hpp>

namespace buda::device {

std::string device_label(const std::string& name_or_path) { return name_or_path.substr(name_or_path.rfind('/') + 1); }

}  // namespace buda::device
