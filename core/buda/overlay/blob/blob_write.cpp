// SPDX-License-Identifier: Apache-2.0
// Writes blob files of our form.
#include <buda/overlay/blob/blob_file.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/overlay/blob/blob_records.hpp>

namespace buda::overlay {
namespace {

template <class T>
std::string line(const T& value) {
  return io::json_line(schema::write(value));
}

// `put` gets the text in pieces.
template <class F>
Result<void> write_pieces(const Blob& blob, F&& put) {
  BUDA_TRY(put(cat("{\"schema\": \"", kBlobFormat, "\",\n\"arch\": ", line(blob.arch), ", \"device\": ", line(blob.device),
                   ", \"graphs\": ", line(blob.graphs), ",\n\"dram\": [")));
  for (std::size_t i = 0; i < blob.dram.size(); ++i) BUDA_TRY(put(cat(i == 0 ? "\n" : ",\n", line(blob.dram[i]))));
  BUDA_TRY(put("],\n\"cores\": ["));
  for (std::size_t i = 0; i < blob.cores.size(); ++i) {
    const Core& c = blob.cores[i];
    Core head{c.chip, c.core, c.ethernet, c.noc, c.op, c.blob_bytes, c.headers, {}};
    std::string text = line(head);  // ends with "streams": []}
    text.resize(text.size() - 2);
    for (std::size_t s = 0; s < c.streams.size(); ++s) text += cat(s == 0 ? "\n" : ",\n", line(c.streams[s]));
    BUDA_TRY(put(cat(i == 0 ? "\n" : ",\n", text, "]}")));
  }
  return put("]}\n");
}

}  // namespace

Result<void> write_blob(const Blob& blob, io::OutputFile& out) {
  return write_pieces(blob, [&](std::string_view text) { return out.write(text); });
}

std::string blob_text(const Blob& blob) {
  std::string out;
  auto done = write_pieces(blob, [&](std::string_view text) {
    out += text;
    return success();
  });
  (void)done;
  return out;
}

}  // namespace buda::overlay
