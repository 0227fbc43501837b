// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes: a name and a value of one of eight types.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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
using AttrAlternatives = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                                      std::vector<std::string>, SharedBody>;

// One of them, for std::get, std::get_if and std::visit; false without an argument. Its copies and its destructor are compiled once: they
// look at eight types, and all that builds graphs needs them.
class Attr : public AttrAlternatives {
 public:
  Attr();
  // A bool is a boolean, any other integer an integer; a type that has numbers which would be rounded or cut is refused.
  template <std::integral T>
  requires(std::same_as<T, bool> || std::is_signed_v<T> || sizeof(T) < sizeof(std::int64_t)) Attr(T value)
      : Attr(std::in_place, static_cast<std::conditional_t<std::same_as<T, bool>, bool, std::int64_t>>(value)) {}  // NOLINT: a value
  template <std::floating_point T>
  requires(sizeof(T) <= sizeof(double)) Attr(T value) : Attr(std::in_place, static_cast<double>(value)) {}  // NOLINT
  Attr(std::string value);                                                                                  // NOLINT
  Attr(const char* value);                                                                                  // NOLINT
  Attr(std::vector<std::int64_t> value);                                                                    // NOLINT
  Attr(std::vector<double> value);                                                                          // NOLINT
  Attr(std::vector<std::string> value);                                                                     // NOLINT
  Attr(SharedBody value);                                                                                   // NOLINT

  Attr(const Attr&);
  Attr(Attr&&) noexcept;
  Attr& operator=(const Attr&);
  Attr& operator=(Attr&&) noexcept;
  ~Attr();

  friend bool operator==(const Attr& a, const Attr& b);

 private:
  Attr(std::in_place_t, bool value);
  Attr(std::in_place_t, std::int64_t value);
  Attr(std::in_place_t, double value);
};

enum class AttrType : std::uint8_t { boolean, integer, real, text, integers, reals, texts, fused_body };

inline AttrType attr_type(const Attr& a) { return static_cast<AttrType>(a.index()); }

// "an integer", "a list of strings": for messages and tables.
std::string_view attr_type_name(AttrType type);

// As it stands in a graph file: 0.5, "tanh", [1, 2]; of a fused body the list of its sub-ops.
std::string attr_text(const Attr& a);

// Same type and same value, where NaN equals NaN and 0 differs from -0: the attribute of a copy is equal to that of its original.
bool same_attr(const Attr& a, const Attr& b);

// By name. A map, of which what every maker of nodes needs is compiled once.
class AttrMap : public std::map<std::string, Attr, std::less<>> {
 public:
  struct Entry {
    std::string name;
    Attr value;
  };

  AttrMap();
  AttrMap(std::initializer_list<Entry> entries);  // of entries with one name the first holds
  AttrMap(const AttrMap&);
  AttrMap(AttrMap&&) noexcept;
  AttrMap& operator=(const AttrMap&);
  AttrMap& operator=(AttrMap&&) noexcept;
  ~AttrMap();

  iterator find(std::string_view name);
  const_iterator find(std::string_view name) const;
  bool contains(std::string_view name) const;
  // Throws std::out_of_range when there is none.
  const Attr& at(std::string_view name) const;
  Attr& operator[](std::string_view name);

  friend bool operator==(const AttrMap& a, const AttrMap& b);
};

bool same_attrs(const AttrMap& a, const AttrMap& b);

}  // namespace buda::graph

#pragma GCC visibility pop
