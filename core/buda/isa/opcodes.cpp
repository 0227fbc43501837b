// SPDX-License-Identifier: Apache-2.0
// The table, and the ways between words, fields and text.
#include <buda/isa/opcodes.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <vector>

namespace buda::isa {
namespace {

// Fields: name, lowest bit, width.
// clang-format off
constexpr Opcode kOpcodes[] = {
    {0x01, "MOP", true, {{{"mask_low", 0, 16}, {"count", 16, 7}, {"template", 23, 1}}}},
    {0x02, "NOP", true, {}},
    {0x03, "MOP_CFG", true, {{{"mask_high", 0, 16}}}},
    {0x04, "REPLAY", true, {{{"load", 0, 1}, {"execute", 1, 1}, {"length", 4, 6}, {"start", 14, 5}}}},
    {0x08, "MOVD2A", true, {{{"dst", 0, 10}, {"rows", 12, 2}, {"addr_mod", 15, 2}, {"src", 17, 6}, {"low_half", 23, 1}}}},
    {0x09, "MOVDBGA2D", false, {{{"operands", 0, 24}}}},
    {0x0A, "MOVD2B", true, {{{"dst", 0, 10}, {"rows", 12, 2}, {"addr_mod", 15, 2}, {"src", 17, 6}, {"low_half", 23, 1}}}},
    {0x0B, "MOVB2A", true, {{{"src_b", 0, 6}, {"rows", 12, 2}, {"addr_mod", 15, 2}, {"src_a", 17, 6}}}},
    {0x10, "ZEROACC", true, {{{"dst", 0, 10}, {"addr_mod", 15, 2}, {"mode", 19, 3}}}},
    {0x11, "ZEROSRC", true, {{{"which", 0, 2}, {"both_banks", 2, 1}, {"fpu_bank", 3, 1}, {"minus_infinity", 4, 1}}}},
    {0x12, "MOVA2D", true, {{{"dst", 0, 10}, {"rows", 12, 2}, {"addr_mod", 15, 2}, {"src", 17, 6}, {"low_half", 23, 1}}}},
    {0x13, "MOVB2D", true, {{{"dst", 0, 10}, {"mode", 12, 3}, {"addr_mod", 15, 2}, {"src", 17, 6}, {"low_half", 23, 1}}}},
    {0x14, "TRNSPSRCA", false, {{{"operands", 0, 24}}}},
    {0x15, "RAREB", false, {{{"operands", 0, 24}}}},
    {0x16, "TRNSPSRCB", true, {}},
    {0x17, "SHIFTXA", false, {{{"operands", 0, 24}}}},
    {0x18, "SHIFTXB", false, {{{"operands", 0, 24}}}},
    {0x1A, "SETASHRMH0", false, {{{"operands", 0, 24}}}},
    {0x1B, "SETASHRMH1", false, {{{"operands", 0, 24}}}},
    {0x1C, "SETASHRMV", false, {{{"operands", 0, 24}}}},
    {0x1D, "SETPKEDGOF", false, {{{"operands", 0, 24}}}},
    {0x1E, "SETASHRMH", false, {{{"operands", 0, 24}}}},
    {0x21, "CLREXPHIST", false, {{{"operands", 0, 24}}}},
    {0x22, "CONV3S1", false, {{{"operands", 0, 24}}}},
    {0x23, "CONV3S2", false, {{{"operands", 0, 24}}}},
    {0x24, "MPOOL3S1", false, {{{"operands", 0, 24}}}},
    {0x25, "APOOL3S1", false, {{{"operands", 0, 24}}}},
    {0x26, "MVMUL", true, {{{"dst", 0, 10}, {"addr_mod", 15, 2}, {"broadcast", 19, 1}, {"flip", 22, 2}}}},
    {0x27, "ELWMUL", true, {{{"dst", 0, 10}, {"addr_mod", 15, 2}, {"broadcast", 19, 2}, {"accumulate", 21, 1}, {"flip", 22, 2}}}},
    {0x28, "ELWADD", true, {{{"dst", 0, 10}, {"addr_mod", 15, 2}, {"broadcast", 19, 2}, {"accumulate", 21, 1}, {"flip", 22, 2}}}},
    {0x29, "DOTPV", false, {{{"operands", 0, 24}}}},
    {0x30, "ELWSUB", true, {{{"dst", 0, 10}, {"addr_mod", 15, 2}, {"broadcast", 19, 2}, {"accumulate", 21, 1}, {"flip", 22, 2}}}},
    {0x31, "MPOOL3S2", false, {{{"operands", 0, 24}}}},
    {0x32, "APOOL3S2", false, {{{"operands", 0, 24}}}},
    {0x33, "GMPOOL", true, {{{"dst", 0, 10}, {"argmax", 14, 1}, {"addr_mod", 15, 2}, {"one", 19, 1}, {"flip", 22, 2}}}},
    {0x34, "GAPOOL", true, {{{"dst", 0, 10}, {"argmax", 14, 1}, {"addr_mod", 15, 2}, {"one", 19, 1}, {"flip", 22, 2}}}},
    {0x35, "GATESRCRST", true, {{{"a", 0, 1}, {"b", 1, 1}}}},
    {0x36, "CLEARDVALID", true, {{{"reset", 0, 1}, {"keep", 1, 1}, {"flip", 22, 2}}}},
    {0x37, "SETRWC", true, {{{"which", 0, 4}, {"a", 6, 4}, {"b", 10, 4}, {"d", 14, 4}, {"cr", 18, 4}, {"flip", 22, 2}}}},
    {0x38, "INCRWC", true, {{{"a", 6, 4}, {"b", 10, 4}, {"d", 14, 4}, {"cr", 18, 3}}}},
    {0x39, "SETIBRWC", false, {{{"operands", 0, 24}}}},
    {0x3A, "MFCONV3S1", false, {{{"operands", 0, 24}}}},
    {0x40, "XMOV", false, {{{"operands", 0, 24}}}},
    {0x41, "PACR", true, {{{"last", 0, 1}, {"flush", 1, 1}, {"concatenate", 4, 1}, {"override_thread", 7, 1}, {"packers", 8, 4},
        {"zero", 12, 1}, {"addr_mod", 15, 2}}}},
    {0x42, "UNPACR", true, {{{"last", 0, 1}, {"flush_cache", 1, 1}, {"row_search", 2, 1}, {"increment_context", 3, 1}, {"zero", 4, 1},
        {"rarefy", 5, 1}, {"flip", 6, 1}, {"multi_context", 7, 1}, {"counters", 8, 2}, {"context", 10, 3}, {"count_context", 13, 1},
        {"z0", 15, 2}, {"y0", 17, 2}, {"z1", 19, 2}, {"y1", 21, 2}, {"unpacker", 23, 1}}}},
    {0x43, "UNPACR_NOP", true, {{{"kind", 0, 5}, {"unpacker", 23, 1}}}},
    {0x44, "RSTDMA", false, {{{"operands", 0, 24}}}},
    {0x45, "SETDMAREG", true, {{{"half_register", 0, 7}, {"mode", 7, 1}, {"payload", 8, 16}}}},
    {0x46, "FLUSHDMA", false, {{{"operands", 0, 24}}}},
    {0x48, "REG2FLOP", true, {{{"register", 0, 6}, {"flop", 6, 7}, {"context", 16, 2}, {"byte", 18, 2}, {"target", 20, 2},
        {"size", 22, 2}}}},
    {0x49, "LOADIND", false, {{{"operands", 0, 24}}}},
    {0x4A, "PACR_SETREG", false, {{{"operands", 0, 24}}}},
    {0x4B, "TBUFCMD", false, {{{"operands", 0, 24}}}},
    {0x50, "SETADC", true, {{{"value", 0, 18}, {"dimension", 18, 2}, {"channel", 20, 1}, {"units", 21, 3}}}},
    {0x51, "SETADCXY", true, {{{"which", 0, 4}, {"x0", 6, 3}, {"y0", 9, 3}, {"x1", 12, 3}, {"y1", 15, 3}, {"units", 21, 3}}}},
    {0x52, "INCADCXY", true, {{{"x0", 6, 3}, {"y0", 9, 3}, {"x1", 12, 3}, {"y1", 15, 3}, {"units", 21, 3}}}},
    {0x53, "ADDRCRXY", true, {{{"which", 0, 4}, {"x0", 6, 3}, {"y0", 9, 3}, {"x1", 12, 3}, {"y1", 15, 3}, {"units", 21, 3}}}},
    {0x54, "SETADCZW", true, {{{"which", 0, 4}, {"z0", 6, 3}, {"w0", 9, 3}, {"z1", 12, 3}, {"w1", 15, 3}, {"units", 21, 3}}}},
    {0x55, "INCADCZW", true, {{{"z0", 6, 3}, {"w0", 9, 3}, {"z1", 12, 3}, {"w1", 15, 3}, {"units", 21, 3}}}},
    {0x56, "ADDRCRZW", true, {{{"which", 0, 4}, {"z0", 6, 3}, {"w0", 9, 3}, {"z1", 12, 3}, {"w1", 15, 3}, {"units", 21, 3}}}},
    {0x57, "SETDVALID", true, {{{"which", 0, 2}}}},
    {0x58, "ADDDMAREG", true, {{{"a", 0, 6}, {"b", 6, 6}, {"result", 12, 6}, {"b_is_constant", 23, 1}}}},
    {0x59, "SUBDMAREG", false, {{{"operands", 0, 24}}}},
    {0x5A, "MULDMAREG", true, {{{"a", 0, 6}, {"b", 6, 6}, {"result", 12, 6}, {"b_is_constant", 23, 1}}}},
    {0x5B, "BITWOPDMAREG", false, {{{"operands", 0, 24}}}},
    {0x5C, "SHIFTDMAREG", false, {{{"operands", 0, 24}}}},
    {0x5D, "CMPDMAREG", false, {{{"operands", 0, 24}}}},
    {0x5E, "SETADCXX", true, {{{"x0", 0, 10}, {"x1", 10, 10}, {"units", 21, 3}}}},
    {0x60, "DMANOP", true, {}},
    {0x61, "ATINCGET", false, {{{"operands", 0, 24}}}},
    {0x62, "ATINCGETPTR", false, {{{"operands", 0, 24}}}},
    {0x63, "ATSWAP", false, {{{"operands", 0, 24}}}},
    {0x64, "ATCAS", false, {{{"operands", 0, 24}}}},
    {0x66, "STOREIND", false, {{{"operands", 0, 24}}}},
    {0x67, "STOREREG", true, {{{"address", 0, 18}, {"register", 18, 6}}}},
    {0x68, "LOADREG", false, {{{"operands", 0, 24}}}},
    {0x70, "SFPLOAD", true, {{{"row", 0, 10}, {"addr_mod", 14, 2}, {"format", 16, 4}, {"lreg", 20, 4}}}},
    {0x71, "SFPLOADI", true, {{{"immediate", 0, 16}, {"format", 16, 4}, {"lreg", 20, 4}}}},
    {0x72, "SFPSTORE", true, {{{"row", 0, 10}, {"addr_mod", 14, 2}, {"format", 16, 4}, {"lreg", 20, 4}}}},
    {0x73, "SFPLUT", true, {{{"mode", 16, 4}, {"lreg", 20, 4}}}},
    {0x74, "SFPMULI", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"immediate", 8, 16}}}},
    {0x75, "SFPADDI", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"immediate", 8, 16}}}},
    {0x76, "SFPDIVP2", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"immediate", 12, 12}}}},
    {0x77, "SFPEXEXP", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}}}},
    {0x78, "SFPEXMAN", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}}}},
    {0x79, "SFPIADD", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"immediate", 12, 12}}}},
    {0x7A, "SFPSHFT", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"immediate", 12, 12}}}},
    {0x7B, "SFPSETCC", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"immediate", 12, 1}}}},
    {0x7C, "SFPMOV", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}}}},
    {0x7D, "SFPABS", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}}}},
    {0x7E, "SFPAND", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"vb", 12, 4}}}},
    {0x7F, "SFPOR", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"vb", 12, 4}}}},
    {0x80, "SFPNOT", true, {{{"vd", 4, 4}, {"vc", 8, 4}}}},
    {0x81, "SFPLZ", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}}}},
    {0x82, "SFPSETEXP", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"immediate", 12, 8}}}},
    {0x83, "SFPSETMAN", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"immediate", 12, 12}}}},
    {0x84, "SFPMAD", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"vb", 12, 4}, {"va", 16, 4}}}},
    {0x85, "SFPADD", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"vb", 12, 4}, {"va", 16, 4}}}},
    {0x86, "SFPMUL", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"vb", 12, 4}, {"va", 16, 4}}}},
    {0x87, "SFPPUSHC", true, {{{"mod", 0, 4}, {"vd", 4, 4}}}},
    {0x88, "SFPPOPC", true, {{{"mod", 0, 4}, {"vd", 4, 4}}}},
    {0x89, "SFPSETSGN", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"immediate", 12, 1}}}},
    {0x8A, "SFPENCC", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"immediate", 12, 2}}}},
    {0x8B, "SFPCOMPC", true, {{{"vd", 4, 4}}}},
    {0x8C, "SFPTRANSP", true, {{{"vd", 4, 4}}}},
    {0x8D, "SFPXOR", true, {{{"vd", 4, 4}, {"vc", 8, 4}}}},
    {0x8E, "SFP_STOCH_RND", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"vb", 12, 4}, {"immediate", 16, 5},
        {"stochastic", 21, 1}}}},
    {0x8F, "SFPNOP", true, {}},
    {0x90, "SFPCAST", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}}}},
    {0x91, "SFPCONFIG", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"immediate", 8, 16}}}},
    {0x92, "SFPSWAP", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}}}},
    {0x93, "SFPLOADMACRO", true, {{{"row", 0, 10}, {"addr_mod", 14, 2}, {"format", 16, 4}, {"lreg", 20, 4}}}},
    {0x94, "SFPSHFT2", true, {{{"mod", 0, 4}, {"vd", 4, 4}, {"vc", 8, 4}, {"immediate", 12, 12}}}},
    {0x95, "SFPLUTFP32", true, {{{"mod", 0, 4}, {"vd", 4, 4}}}},
    {0xA0, "ATGETM", true, {{{"mutex", 0, 16}}}},
    {0xA1, "ATRELM", true, {{{"mutex", 0, 16}}}},
    {0xA2, "STALLWAIT", true, {{{"conditions", 0, 15}, {"blocked", 15, 9}}}},
    {0xA3, "SEMINIT", true, {{{"semaphores", 2, 8}, {"value", 16, 4}, {"most", 20, 4}}}},
    {0xA4, "SEMPOST", true, {{{"semaphores", 2, 8}}}},
    {0xA5, "SEMGET", true, {{{"semaphores", 2, 8}}}},
    {0xA6, "SEMWAIT", true, {{{"condition", 0, 2}, {"semaphores", 2, 8}, {"blocked", 15, 9}}}},
    {0xB0, "WRCFG", true, {{{"config", 0, 11}, {"wide", 15, 1}, {"gpr", 16, 6}}}},
    {0xB1, "RDCFG", true, {{{"config", 0, 11}, {"gpr", 16, 6}}}},
    {0xB2, "SETC16", true, {{{"value", 0, 16}, {"register", 16, 8}}}},
    {0xB3, "RMWCIB0", true, {{{"config", 0, 8}, {"data", 8, 8}, {"mask", 16, 8}}}},
    {0xB4, "RMWCIB1", true, {{{"config", 0, 8}, {"data", 8, 8}, {"mask", 16, 8}}}},
    {0xB5, "RMWCIB2", true, {{{"config", 0, 8}, {"data", 8, 8}, {"mask", 16, 8}}}},
    {0xB6, "RMWCIB3", true, {{{"config", 0, 8}, {"data", 8, 8}, {"mask", 16, 8}}}},
};
// clang-format on

constexpr bool by_code(const Opcode& a, const Opcode& b) { return a.code < b.code; }
static_assert(std::is_sorted(std::begin(kOpcodes), std::end(kOpcodes), by_code));

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

std::optional<std::uint32_t> number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string with_guess(std::string sentence, std::string_view word, const std::vector<std::string>& known) {
  if (auto near = nearest_word(word, known)) sentence += cat("; did you mean '", *near, "'?");
  return sentence;
}

// One "name=value" of an instruction; what is wrong otherwise.
std::optional<std::string> set_field(Instruction& instruction, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = trimmed(text.substr(0, equals));
  const auto fields = instruction.opcode->fields();
  const auto field = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  if (field == fields.end()) {
    std::vector<std::string> known;
    for (const Field& f : fields) known.emplace_back(f.name);
    return with_guess(cat(instruction.opcode->name, " has no field '", name, "'"), name, known);
  }
  const auto value = equals == std::string_view::npos ? std::nullopt : number(trimmed(text.substr(equals + 1)));
  if (!value) return cat("field '", name, "' needs a number, as in ", name, "=1");
  if (*value > field->largest()) return cat("field '", name, "' has ", field->width, " bits, and ", *value, " is above ", field->largest());
  instruction.values[static_cast<std::size_t>(field - fields.begin())] = *value;
  return std::nullopt;
}

}  // namespace

std::span<const Opcode> opcodes() { return kOpcodes; }

const Opcode* find_opcode(std::uint8_t code) {
  const auto it =
      std::lower_bound(std::begin(kOpcodes), std::end(kOpcodes), code, [](const Opcode& o, std::uint8_t c) { return o.code < c; });
  return it != std::end(kOpcodes) && it->code == code ? &*it : nullptr;
}

const Opcode* find_opcode(std::string_view name) {
  const auto it = std::find_if(std::begin(kOpcodes), std::end(kOpcodes), [&](const Opcode& o) { return o.name == name; });
  return it != std::end(kOpcodes) ? &*it : nullptr;
}

std::optional<Instruction> decode(std::uint32_t word) {
  Instruction out;
  out.opcode = find_opcode(static_cast<std::uint8_t>(word >> 24));
  if (out.opcode == nullptr || (word & 0xffffffu & ~out.opcode->mask()) != 0) return std::nullopt;
  const auto fields = out.opcode->fields();
  for (std::size_t i = 0; i < fields.size(); ++i) out.values[i] = word >> fields[i].low & fields[i].largest();
  return out;
}

std::uint32_t encode(const Instruction& instruction) {
  std::uint32_t word = std::uint32_t{instruction.opcode->code} << 24;
  const auto fields = instruction.opcode->fields();
  for (std::size_t i = 0; i < fields.size(); ++i) word |= (instruction.values[i] & fields[i].largest()) << fields[i].low;
  return word;
}

std::string disassemble(std::uint32_t word) {
  const auto instruction = decode(word);
  if (!instruction) {
    char digits[8];
    const auto end = std::to_chars(digits, digits + sizeof digits, word, 16).ptr;
    return cat(".word 0x", std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  std::string text(instruction->opcode->name);
  const auto fields = instruction->opcode->fields();
  bool first = true;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (instruction->values[i] == 0) continue;
    text += cat(first ? " " : ", ", fields[i].name, "=", instruction->values[i]);
    first = false;
  }
  return text;
}

std::variant<std::uint32_t, std::string> assemble(std::string_view text) {
  text = trimmed(text);
  const std::string_view name = text.substr(0, text.find_first_of(" \t"));
  if (name == ".word") {
    const auto word = number(trimmed(text.substr(name.size())));
    if (word) return *word;
    return cat(".word needs a number of 32 bits");
  }
  Instruction instruction;
  instruction.opcode = find_opcode(name);
  if (instruction.opcode == nullptr) {
    std::vector<std::string> known;
    for (const Opcode& o : kOpcodes) known.emplace_back(o.name);
    return with_guess(cat("there is no instruction '", name, "'"), name, known);
  }
  for (std::string_view rest = trimmed(text.substr(name.size())); !rest.empty();) {
    const std::size_t comma = rest.find(',');
    if (auto error = set_field(instruction, rest.substr(0, comma))) return *error;
    rest = comma == std::string_view::npos ? std::string_view() : trimmed(rest.substr(comma + 1));
  }
  return encode(instruction);
}

}  // namespace buda::isa
