// Attributes of nodes: a name and a value of one of eight types.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::graph {

struct FusedBody;

// The body of a fused op (graph/fused_body.hpp), which copies share. Two are equal when their bodies are.
class SharedBody {
 public:
  explicit SharedBody(FusedBody body);
  const FusedBody& operator*() const { return *body_; }
  const FusedBody* operator->() const { return body_.get(); }
  friend bool operator==(const SharedBody& a, const SharedBody& b);

 private:
  std::shared_ptr<const FusedBody> body_;
};

// The order of the alternatives is that of AttrType. Which attributes an op has, and of which type, its definition says (ops module);
// the graph itself carries any.
using Attr = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>,
                          SharedBody>;

enum class AttrType : std::uint8_t { boolean, integer, real, text, integers, reals, texts, fused_body };

inline AttrType attr_type(const Attr& a) { return static_cast<AttrType>(a.index()); }

// "an integer", "a list of strings": for messages and tables.
std::string_view attr_type_name(AttrType type);

// As it stands in a graph file: 0.5, "tanh", [1, 2]; of a fused body the list of its sub-ops.
std::string attr_text(const Attr& a);

// Same type and same value, where NaN equals NaN and 0 differs from -0: the attribute of a copy is equal to that of its original.
bool same_attr(const Attr& a, const Attr& b);

// By name; std::less<> so that look-ups need no std::string.
using AttrMap = std::map<std::string, Attr, std::less<>>;

bool same_attrs(const AttrMap& a, const AttrMap& b);

}  // namespace buda::graph

#pragma GCC visibility pop
