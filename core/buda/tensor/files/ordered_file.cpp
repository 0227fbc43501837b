// SPDX-License-Identifier: Apache-2.0
// The one format with an order, and all others.
#include <buda/tensor/files/ordered_file.hpp>

#include <buda/tensor/files/npz.hpp>
#include <buda/tensor/tensor_file.hpp>

namespace buda {

Result<void> write_tensors_in_order(io::FileSystem& fs, const std::string& path, const NamedTensors& tensors,
                                    const std::vector<std::string>& names, io::WriteMode mode) {
  if (!path.ends_with(".npz")) return write_tensors(fs, path, tensors, mode);
  BUDA_ASSIGN(auto out, fs.create(path, mode));
  if (auto written = write_npz(*out, tensors, ZipMethod::stored, names); !written) {
    for (Diagnostic& d : written.failure().diagnostics()) if (d.loc.file.empty()) d.loc.file = path;
    return written;
  }
  return out->commit();
}

}  // namespace buda
