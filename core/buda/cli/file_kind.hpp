// SPDX-License-Identifier: Apache-2.0
// Which file of a compilation a file is, by its first bytes; and what to run first when a tool is given another one than it reads.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::cli {

// In the order in which a compilation makes them. host_plan and placement_report go with the netlist.
enum class FileKind : std::uint8_t {
  unknown,
  model,  // ONNX
  tflite_model,
  torchscript_model,
  stablehlo_module,  // MLIR text or bytecode
  tensorflow_model,  // a GraphDef or SavedModel
  tensor_graph,      // importer's
  device_graph,      // optimizer's
  netlist,
  host_plan,
  placement_report,
  pipes,            // of netlist2pipe or net2pipe
  stream_programs,  // of pipegen or pipegen2
  image,
  telemetry,  // of a running image
};

// How much of a file is enough to tell.
inline constexpr std::size_t kKindBytes = 1 << 16;

// `head`: the first kKindBytes of a file, or all of it. Anything else than the files above is `unknown`.
FileKind file_kind(std::string_view head);

// A file that a tool is to read; any of `kinds` will do, and the first is what it is there for. No path: none is given.
struct InputFile {
  std::string path;
  std::vector<FileKind> kinds;
};

// CL009: what the file is, what the tool reads, and the commands that lead from one to the other.
Diagnostic wrong_kind(std::string_view tool, const InputFile& input, FileKind found);

// Refuses files of another kind than their tool reads. What cannot be read or recognised is left to the tool.
Result<void> check_inputs(std::string_view tool, const std::vector<InputFile>& inputs, io::FileSystem& fs);

}  // namespace buda::cli
