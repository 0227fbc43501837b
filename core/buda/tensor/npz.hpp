// NumPy's .npz: a zip archive of .npy files.
#pragma once

#include <buda/io/bytes.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <cstdint>
#include <string>

namespace buda {

enum class NpzCompression : std::uint8_t { stored, deflated };

// Stored and deflated members, ZIP64 too; checksums are verified, overlapping members refused. A stored member shares the file's memory.
Result<NamedTensors> parse_npz(const io::Bytes& bytes, const std::string& path);

// Members in the order of names, with a fixed time. Becomes ZIP64 where sizes demand it.
Result<void> write_npz(io::OutputFile& out, const NamedTensors& tensors, NpzCompression compression = NpzCompression::stored);

}  // namespace buda
