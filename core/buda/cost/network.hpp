// Figures of the networks on a chip, which estimates and the simulator have in common.
//
// As tt-npe has them for Wormhole, from measurements; taken over for the others.
#pragma once

namespace buda::cost {

// Bytes per cycle.
inline constexpr double kLinkRate = 30, kInterfaceRate = 28.1;
// Request and response, in cycles: a fixed part, and one for each link that either crosses. What is sent needs no request: half of it.
inline constexpr double kLatencyCycles = 70, kHopCycles = 9.09;

}  // namespace buda::cost
