// SPDX-License-Identifier: Apache-2.0
// Blob files: ours (JSON, docs/formats/blob.md), and the YAML that TT-Buda's pipegen2 writes and its blobgen reads.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/file_system.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace buda::overlay {

inline constexpr std::string_view kBlobFormat = "buda.blob/1";

// One queue buffer or stream per line, piece by piece. The text depends on the blob only.
Result<void> write_blob(const Blob& blob, io::OutputFile& out);
std::string blob_text(const Blob& blob);

// Strict: unknown keys are errors but for `x-…`, and what comes out is consistent: indices are in range, streams of a core rise by number,
// phases of a stream by id, every connection is known at both ends, runs are finite. BB001 and on, and the codes of JSON and schemas.
Result<Blob> parse_blob(std::string_view text, const std::string& file);

// The form of TT-Buda, one block per phase. `graph` adds the kernels' blockings, `device` the addresses on the NoC; phase ids begin at
// epoch * 2^32.
Result<void> write_blob_yaml(const Blob& blob, const pipes::PipeGraph& graph, const device::DeviceDescriptor& device, std::uint32_t epoch,
                             io::OutputFile& out);

}  // namespace buda::overlay
