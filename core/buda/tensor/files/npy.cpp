// SPDX-License-Identifier: Apache-2.0
// The .npy format: magic, version, length of the header, a Python dictionary as the header, elements.
// Reference: numpy.lib.format's description of the format, versions 1.0, 2.0 (32-bit header length) and 3.0 (UTF-8 header).
#include <buda/tensor/files/npy.hpp>

#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/tensor/bytes/aligned_memory.hpp>
#include <buda/tensor/bytes/little_endian.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstring>
#include <optional>
#include <vector>

namespace buda {
namespace {

constexpr std::size_t kElementsStartAt = 64;  // a multiple of this, as numpy writes it

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

// Just as much of Python's literals as numpy writes: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Result<Header> parse() {
    Header header;
    BUDA_TRY(expect('{'));
    while (!take('}')) {
      BUDA_ASSIGN(std::string key, string());
      BUDA_TRY(expect(':'));
      BUDA_TRY(value(header, key));
      if (!take(',') && peek() != '}') return unexpected("',' or '}'");
    }
    if (peek() != '\0' || at_ != text_.size()) return unexpected("nothing more");
    if (!header.descr || !header.fortran_order || !header.shape)
      return error("the header lacks one of 'descr', 'fortran_order' and 'shape'");
    return header;
  }

 private:
  Result<void> value(Header& header, const std::string& key) {
    if (key == "descr" && !header.descr) {
      if (peek() == '[') return error("the elements are records; arrays of numbers are supported");
      BUDA_ASSIGN(header.descr, string());
    } else if (key == "fortran_order" && !header.fortran_order) {
      if (take_word("True")) {
        header.fortran_order = true;
      } else if (take_word("False")) {
        header.fortran_order = false;
      } else {
        return unexpected("True or False");
      }
    } else if (key == "shape" && !header.shape) {
      BUDA_ASSIGN(header.shape, sizes());
    } else {
      return error(cat("the header has '", key, "' twice or it is unknown; it takes 'descr', 'fortran_order' and 'shape'"));
    }
    return success();
  }

  Result<std::vector<std::int64_t>> sizes() {
    std::vector<std::int64_t> sizes;
    BUDA_TRY(expect('('));
    while (!take(')')) {
      std::size_t start = (skip_space(), at_);
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      auto size = parse_int(text_.substr(start, at_ - start));
      if (!size) {
        at_ = start;
        return unexpected("a size below 2^63");
      }
      sizes.push_back(*size);
      take('L');  // Python 2 wrote its long integers so
      if (!take(',') && peek() != ')') return unexpected("',' or ')'");
    }
    return sizes;
  }

  Result<std::string> string() {
    char quote = peek();
    if (quote != '\'' && quote != '"') return unexpected("a string");
    std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return unexpected("the end of this string");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  // The next character, '\0' at the end.
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  Result<void> expect(char c) {
    if (take(c)) return success();
    return unexpected(cat('\'', c, '\''));
  }
  Diagnostic unexpected(std::string_view wanted) {
    char c = peek();
    std::string found = at_ == text_.size() ? std::string("its end") : cat("'", std::string(1, c), "'");
    return error(cat("the header has ", found, " at byte ", at_, " where ", wanted, " is expected"));
  }
  Diagnostic error(std::string message) const { return input_error("TN020", {path_}, std::move(message)); }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

// Elements with the first index running fastest, rearranged so that the last one does.
Result<io::Bytes> from_fortran_order(const io::Bytes& data, const Shape& shape, std::size_t size, const std::string& path) {
  auto memory = allocate_aligned(data.size());
  if (!memory) return input_error("TN002", {path}, cat("an array of ", bytes_text(data.size()), " does not fit in this machine's memory"));
  std::size_t rank = shape.rank();
  std::vector<std::size_t> step(rank), index(rank, 0);
  std::size_t product = size;
  for (std::size_t i = 0; i < rank; ++i) {
    step[i] = product;
    product *= static_cast<std::size_t>(shape[i]);
  }
  std::size_t from = 0;
  for (std::size_t to = 0; to < data.size(); to += size) {
    std::memcpy(memory.get() + to, data.data() + from, size);
    for (std::size_t axis = rank; axis-- > 0;) {
      from += step[axis];
      if (++index[axis] < static_cast<std::size_t>(shape[axis])) break;
      from -= step[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return io::Bytes(memory, std::string_view(memory.get(), data.size()));
}

}  // namespace

namespace {

// What can be saved in place of an array of this type; nothing where it holds no numbers.
std::string hint_for_type(std::string_view descr) {
  if (descr.starts_with('>')) return "save array.astype(array.dtype.newbyteorder('<'))";
  const char kind = descr.size() > 1 ? descr[1] : ' ';
  if (kind == 'c') return "save array.real and array.imag, as arrays of their own";
  return kind == 'f' || kind == 'm' || kind == 'M' ? "save array.astype(numpy.float32)" : "";
}

}  // namespace

Result<Tensor> parse_npy(const io::Bytes& bytes, const std::string& path) {
  auto error = [&](std::string message) { return input_error("TN020", {path}, std::move(message)); };
  std::string_view text = bytes.view();
  if (!text.starts_with(kNpyMagic)) return error("is not an .npy file: it does not begin with \"\\x93NUMPY\"");
  constexpr std::size_t kVersionAt = kNpyMagic.size(), kLengthAt = kVersionAt + 2;
  if (text.size() < kLengthAt + 2) return error(cat("ends after ", text.size(), " bytes, within the beginning of an .npy file"));
  int major = static_cast<unsigned char>(text[kVersionAt]);
  if (major < 1 || major > 3) return error(cat("is of version ", major, " of the .npy format; versions 1, 2 and 3 are known"));
  std::size_t header_at = kLengthAt + (major == 1 ? 2 : 4);
  if (text.size() < header_at) return error(cat("ends after ", text.size(), " bytes, within the beginning of an .npy file"));
  std::size_t length = major == 1 ? load_le<std::uint16_t>(text, kLengthAt) : load_le<std::uint32_t>(text, kLengthAt);
  if (length > text.size() - header_at)
    return error(cat("ends within its header: ", length, " bytes are announced, ", text.size() - header_at, " follow"));

  BUDA_ASSIGN(Header header, HeaderParser(text.substr(header_at, length), path).parse());
  auto dtype = dtype_from_numpy_descr(*header.descr);
  if (!dtype) {
    Diagnostic d = error(cat("elements of NumPy type '", *header.descr, "' are not supported; little-endian numbers and booleans are"));
    d.hint = hint_for_type(*header.descr);
    return d;
  }
  Shape shape(std::move(*header.shape));
  auto expected = tensor_bytes(*dtype, shape);
  std::size_t data_at = header_at + length;
  if (!expected || static_cast<std::uint64_t>(*expected) != text.size() - data_at)
    return error(cat("an array of shape ", shape.text(), " and type ", dtype_name(*dtype), " takes ",
                     expected ? cat(*expected, " bytes") : std::string("more bytes than can be addressed"), ", but ", text.size() - data_at,
                     " follow the header"));
  io::Bytes data = bytes.slice(data_at, text.size() - data_at);
  if (*header.fortran_order && shape.rank() > 1 && !data.empty()) {
    BUDA_ASSIGN(data, from_fortran_order(data, shape, dtype_size(*dtype), path));
  }
  return Tensor::from_bytes(*dtype, std::move(shape), std::move(data));
}

std::string npy_header(const Tensor& tensor) {
  const auto& dims = tensor.shape().dims();
  std::string shape = cat('(', join(dims, ", "), dims.size() == 1 ? ",)" : ")");
  std::string dictionary = cat("{'descr': '", numpy_descr(tensor.dtype()), "', 'fortran_order': False, 'shape': ", shape, ", }");
  auto padded_size = [&](std::size_t length_bytes) {
    std::size_t before = kNpyMagic.size() + 2 + length_bytes;
    return align_up(before + dictionary.size() + 1, kElementsStartAt) - before;
  };
  bool short_header = padded_size(2) <= 0xffff;
  std::size_t size = padded_size(short_header ? 2 : 4);
  dictionary.resize(size - 1, ' ');
  std::string out(kNpyMagic);
  out += short_header ? '\1' : '\2';
  out += '\0';
  if (short_header)
    append_le(out, static_cast<std::uint16_t>(size));
  else
    append_le(out, static_cast<std::uint32_t>(size));
  return cat(out, dictionary, '\n');
}

}  // namespace buda
