// SPDX-License-Identifier: Apache-2.0
// What a policy chooses from: the legal implementations of all ops, and what a choice among them is.
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/balance/place/placer.hpp>
#include <buda/balance/problem/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// One op as chosen and placed. Epochs count from 0.
struct PlacedOp {
  OpModel model;
  std::int32_t epoch = 0;
  Place place;
  friend bool operator==(const PlacedOp&, const PlacedOp&) = default;
};

struct Choice {
  std::vector<PlacedOp> ops;  // by OpId
  // By epoch: the number of its chip; empty: all run on one (chips_of_choice.hpp). Policies leave it to what comes after them.
  std::vector<std::int32_t> chips = {};
  std::int32_t epochs() const;
  friend bool operator==(const Choice&, const Choice&) = default;
};

// Everything about the ops that does not change while a policy works.
struct ChoiceSpace {
  std::shared_ptr<const Problem> problem;
  std::vector<LegalModels> models;    // by OpId; none empty, those with fewer cores first
  std::vector<OpOverride> overrides;  // by OpId: what the user overrides; models and Placement comply with it
  // By OpId: the first op that has the same properties but for its names, and the same models. Empty: nothing is known of that.
  std::vector<std::size_t> kinds;
  ModelOptions options;
  // How much a policy that searches should try: 0, little; 1, as much as takes seconds; 2 and 3, several times as much. It counts what it
  // tries, and not time, so that it finds the same everywhere; what more effort finds is at least as good.
  std::int32_t effort = 1;
  std::int64_t placement_budget = 0;  // how many times ops may be placed, in all placements together; 0: as the effort says
  std::uint64_t seed = 0;             // for policies that draw lots
  unsigned threads = 1;               // that a policy may use; its choice must not depend on it

  const device::DeviceDescriptor& device() const { return *problem->device; }
  const OpSpec& op(OpId id) const { return problem->op(id); }
  // The legal implementations of an op.
  std::span<const OpModel> models_of(OpId id) const { return models[id.index()].models; }
  // Equal for ops that differ in nothing but names: what is true of one with certain models around it is true of all.
  std::size_t kind_of(OpId id) const { return kinds.empty() ? id.index() : kinds[id.index()]; }
  // Where the op may stand, by the user's override and the options.
  PlaceRule place_rule(OpId id) const { return overrides[id.index()].place_rule(options.allow_transpose); }
};

}  // namespace buda::balance

#pragma GCC visibility pop
