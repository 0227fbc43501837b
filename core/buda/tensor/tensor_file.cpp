// SPDX-License-Identifier: Apache-2.0
// The formats of tensor files: which one a file is in, and which one is wanted.
#include <buda/tensor/tensor_file.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/bytes/little_endian.hpp>
#include <buda/tensor/files/npy.hpp>
#include <buda/tensor/files/npz.hpp>
#include <buda/tensor/files/safetensors.hpp>
#include <buda/tensor/files/tensor_proto.hpp>
#include <buda/tensor/tensor.hpp>

namespace buda {
namespace {

std::string stem(const std::string& path) {
  if (path == io::kStdStream) return "stdin";
  std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

// The header of a safetensors file is an object; its length precedes it. A file that calls itself one gets that reader's diagnosis.
bool looks_like_safetensors(std::string_view bytes, const std::string& path) {
  if (path.ends_with(".safetensors")) return true;
  return bytes.size() > 8 && bytes[8] == '{' && load_le<std::uint64_t>(bytes, 0) <= bytes.size() - 8;
}

// Messages about what is to be written name the file.
Result<void> at_path(Result<void> result, const std::string& path) {
  if (!result)
    for (Diagnostic& d : result.failure().diagnostics())
      if (d.loc.file.empty()) d.loc.file = path;
  return result;
}

Result<void> check_single(const NamedTensors& tensors, std::string_view kind) {
  if (tensors.size() == 1) return success();
  Diagnostic d = input_error("TN022", {}, cat("an ", kind, " file holds one tensor, not ", tensors.size()));
  d.hint = "name the file .npz or .safetensors";
  return d;
}

Result<void> write_npy(io::OutputFile& out, const NamedTensors& tensors) {
  BUDA_TRY(check_single(tensors, ".npy"));
  const Tensor& tensor = tensors.begin()->second;
  BUDA_TRY(out.write(npy_header(tensor)));
  return out.write(tensor.bytes());
}

Result<void> write_tensor_proto(io::OutputFile& out, const NamedTensors& tensors) {
  BUDA_TRY(check_single(tensors, "ONNX .pb"));
  const auto& [name, tensor] = *tensors.begin();
  BUDA_TRY(out.write(tensor_proto_header(name, tensor)));
  return out.write(tensor.bytes());
}

}  // namespace

Result<NamedTensors> parse_tensors(io::Bytes bytes, const std::string& path) {
  std::string_view text = bytes.view();
  if (text.starts_with(kNpyMagic)) {
    BUDA_ASSIGN(Tensor tensor, parse_npy(bytes, path));
    NamedTensors tensors;
    tensors.emplace(stem(path), std::move(tensor));
    return tensors;
  }
  // The end mark comes first in an archive without members.
  if (text.starts_with("PK\3\4") || text.starts_with("PK\5\6")) return parse_npz(bytes, path);
  // Nothing in its first bytes says that a file is a TensorProto.
  if (path.ends_with(".pb")) {
    BUDA_ASSIGN(auto named, parse_tensor_proto(bytes, path));
    NamedTensors tensors;
    tensors.emplace(named.first.empty() ? stem(path) : named.first, std::move(named.second));
    return tensors;
  }
  if (looks_like_safetensors(text, path)) return parse_safetensors(bytes, path);
  std::string found = text.empty() ? "it is empty" : "its first bytes match none of these formats";
  Diagnostic d = input_error("TN024", {path}, cat("is not a file of tensors (.npy, .npz, safetensors or .pb): ", found));
  const bool is_table = path.ends_with(".csv");
  if (!text.empty())
    d.hint = cat("NumPy writes one: numpy.savez('FILE.npz', NAME=", is_table ? "numpy.loadtxt(TABLE, delimiter=',')" : "array", ')');
  return d;
}

Result<NamedTensors> read_tensors(io::FileSystem& fs, const std::string& path) {
  BUDA_ASSIGN(io::Bytes bytes, fs.read(path));
  return parse_tensors(std::move(bytes), path);
}

namespace {

using Writer = Result<void> (*)(io::OutputFile&, const NamedTensors&);

// Null for an ending of none.
Writer writer_for(const std::string& path) {
  if (path.ends_with(".npy")) return write_npy;
  if (path.ends_with(".npz")) return [](io::OutputFile& out, const NamedTensors& t) { return write_npz(out, t); };
  if (path.ends_with(".safetensors")) return write_safetensors;
  if (path.ends_with(".pb")) return write_tensor_proto;
  return nullptr;
}

}  // namespace

Result<void> check_tensor_path(const std::string& path) {
  if (writer_for(path) != nullptr) return success();
  const bool is_stream = path == io::kStdStream || path == "/dev/stdout";
  Diagnostic d = usage_error("TN022", is_stream ? "tensors cannot be written to standard output: the ending of a file says in which format"
                                                : "tensors can be written to .npy, .npz, .safetensors and .pb files only");
  if (!is_stream) d.loc = {path};
  d.hint = is_stream ? "name a file, as with -o outputs.npz" : "give the file one of these endings";
  return d;
}

Result<void> write_tensors(io::FileSystem& fs, const std::string& path, const NamedTensors& tensors, io::WriteMode mode) {
  BUDA_TRY(check_tensor_path(path));
  Writer writer = writer_for(path);
  BUDA_ASSIGN(auto out, fs.create(path, mode));
  BUDA_TRY(at_path(writer(*out, tensors), path));
  return out->commit();
}

}  // namespace buda
