// SPDX-License-Identifier: Apache-2.0
// Walking over the messages that may hold tensors, by protobuf's wire format.
//
// A message is copied field by field; where a field leads to a tensor, what is inside is copied in the same way, and its length is written
// anew.
#include "contents.hpp"

#include <buda/base/text.hpp>
#include <buda/io/protobuf.hpp>

#include <optional>

namespace buda::tensorflow_frontend {
namespace {

using io::WireField;
using io::WireReader;

enum class Message { saved_model, meta_graph, graph, library, function, node, attribute, value, tensor };

// The message in a field, if a tensor may be inside.
std::optional<Message> inside(Message message, std::uint32_t field) {
  switch (message) {
    case Message::saved_model:
      return field == 2 ? std::optional(Message::meta_graph) : std::nullopt;
    case Message::meta_graph:
      return field == 2 ? std::optional(Message::graph) : std::nullopt;
    case Message::graph:
      return field == 1 ? std::optional(Message::node) : field == 2 ? std::optional(Message::library) : std::nullopt;
    case Message::library:
      return field == 1 ? std::optional(Message::function) : std::nullopt;
    case Message::function:
      return field == 3 ? std::optional(Message::node) : std::nullopt;
    case Message::node:
      return field == 5 ? std::optional(Message::attribute) : std::nullopt;
    case Message::attribute:
      return field == 2 ? std::optional(Message::value) : std::nullopt;
    case Message::value:
      return field == 8 ? std::optional(Message::tensor) : std::nullopt;
    case Message::tensor:
      break;
  }
  return std::nullopt;
}

// Collections of training (4) and the objects of Keras (7) may be large, and no graph needs them.
bool is_skipped(Message message, std::uint32_t field) { return message == Message::meta_graph && (field == 4 || field == 7); }

constexpr std::uint32_t kContent = 4, kContentBegin = 10001, kContentSize = 10002;
constexpr std::size_t kSmall = 256;
// A few bytes of a file can become an object of some hundred bytes, so both their number and what is left of the file are bounded. The
// largest models have some hundred thousand nodes and attributes.
constexpr std::size_t kMaxRecords = std::size_t{1} << 21, kLargestStructure = std::size_t{1} << 28;

class Copier {
 public:
  Result<void> copy(Message message, std::string_view bytes, std::size_t base, std::string& out) {
    WireReader fields(bytes, base);
    while (!fields.at_end()) {
      auto next = fields.next();
      if (!next) return input_error("GF001", {}, cat("is not a complete TensorFlow model: ", next.failure().diagnostics().front().message));
      const WireField& field = *next;
      if (is_skipped(message, field.number)) continue;
      if (message == Message::tensor && field.number == kContent && field.type == 2 && field.end - field.payload > kSmall) {
        io::append_tag(out, kContentBegin, 0);
        io::append_varint(out, base + field.payload);
        io::append_tag(out, kContentSize, 0);
        io::append_varint(out, field.end - field.payload);
        continue;
      }
      auto inner = inside(message, field.number);
      if (!inner || field.type != 2 || field.end - field.payload <= kSmall) {
        out.append(bytes.substr(field.begin, field.end - field.begin));
      } else {
        std::string copied;
        BUDA_TRY(copy(*inner, bytes.substr(field.payload, field.end - field.payload), base + field.payload, copied));
        io::append_tag(out, field.number, 2);
        io::append_varint(out, copied.size());
        out.append(copied);
      }
      if (++records_ > kMaxRecords || out.size() > kLargestStructure)
        return input_error("GF002", {},
                           cat("has more than ", kMaxRecords, " nodes and attributes, or ", kLargestStructure >> 20,
                               " MiB of them; this frontend reads models of up to that many"));
    }
    return success();
  }

 private:
  std::size_t records_ = 0;
};

}  // namespace

Result<std::string> without_contents(const io::Bytes& file, Root root) {
  std::string out;
  BUDA_TRY(Copier().copy(root == Root::graph ? Message::graph : Message::saved_model, file.view(), 0, out));
  return out;
}

}  // namespace buda::tensorflow_frontend
