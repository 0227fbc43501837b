// SPDX-License-Identifier: Apache-2.0
// Receivers that take turns, on the producers' chip and on another.
#include "unit/pipes/interchip/turns.hpp"
#include "unit/pipes/check/damage.hpp"

#include <algorithm>

namespace buda::pipes {
namespace {

TEST(Turns, EveryTileArrives) {
  int shared = 0;
  for (const TurnsAt& at : everywhere())
    for (const Turns& turns : all_turns(at)) {
      const std::string text = in_turns(turns);
      Built b = built_at(at, turns);
      ASSERT_TRUE(b.ok()) << b.problem << text;
      EXPECT_EQ(b.check(), "") << at.device << '\n' << text;
      EXPECT_TRUE(std::any_of(b.graph.pipes.begin(), b.graph.pipes.end(), [](const Pipe& p) { return p.outputs.size() > 1; })) << text;
      for (const Buffer& r : b.graph.buffers) shared += r.type == BufferType::ethernet_relay && r.is_scatter ? 1 : 0;
    }
  EXPECT_GT(shared, 4) << "pipes with turns that share a link";
}

// Turns are over before the link: each core of the copy has its own.
TEST(Turns, CopiesHaveARelayForEachCore) {
  Built b(in_turns({3, 2, 2, true, 1, "ethernet_datacopy", 1}), "n300");
  ASSERT_TRUE(b.ok()) << b.problem;
  int relays = 0;
  for (const Buffer& buffer : b.graph.buffers) relays += buffer.type == BufferType::relay && buffer.chip == 0 ? 1 : 0;
  EXPECT_EQ(relays, 4);
  for (std::int32_t core = 0; core < 4; ++core) {
    auto input = std::find_if(b.graph.buffers.begin(), b.graph.buffers.end(),
                              [&, n = core](const Buffer& x) mutable { return x.op == "n" && x.type == BufferType::unpacker && n-- == 0; });
    auto feeds = b.feeding(&*input);
    ASSERT_EQ(feeds.size(), 1u);
    EXPECT_EQ(feeds.front()->outputs.size(), 1u);
    EXPECT_TRUE(feeds.front()->ethernet_pipe);
  }
}

class CopyDamage : public DamageTest {
 protected:
  CopyDamage() : DamageTest(base()) {}
  static const Built& base() {
    static const Built built(in_turns({3, 2, 2, true, 1, "ethernet_datacopy", 1}), "n300");
    return built;
  }
  Pipe& turning() {
    return pipe([](const Pipe& p) { return p.outputs.size() > 1; });
  }
};

TEST_F(CopyDamage, TurnsExchanged) {
  std::swap(turning().outputs.front(), turning().outputs.back());
  expect_caught();
}
TEST_F(CopyDamage, PaddingLost) {
  for (Id& id : turning().output_padding) id = 0;
  expect_caught();
}
TEST_F(CopyDamage, PaddingOfAnotherValue) {
  Id padding = *std::find_if(turning().output_padding.begin(), turning().output_padding.end(), [](Id id) { return id != 0; });
  buffer([&](const Buffer& b) { return b.id == padding; }).dram_addr += 32;
  expect_caught("PC013");
}
TEST_F(CopyDamage, PaddingThatIsNone) {
  for (Id& id : turning().output_padding)
    if (id != 0) id = buffer("f", BufferType::packer).id;
  expect_caught("PC008");
}
TEST_F(CopyDamage, ATurnMissing) {
  turning().outputs.pop_back();
  turning().mcast_core.pop_back();
  turning().output_padding.pop_back();
  expect_caught();
}

}  // namespace
}  // namespace buda::pipes
