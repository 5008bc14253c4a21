// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

/// Comparing programs on a machine whose speed changes while one looks: every round runs each
/// contestant once, in an order that turns with the round, and only times of one round are
/// compared.
namespace bench {

struct Contestant {
  std::string name;
  std::function<void()> run;
};

/// `seconds[c][r]`: how long contestant c took in round r.
struct Rounds {
  std::vector<std::string> names;
  std::vector<std::vector<double>> seconds;
};

inline double seconds_of(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Runs all contestants once unmeasured, then `rounds` times: A B, B A, A B, ...
inline Rounds take_rounds(const std::vector<Contestant>& contestants, int rounds) {
  const std::size_t count = contestants.size();
  Rounds result;
  result.seconds.resize(count);
  for (const Contestant& contestant : contestants) {
    result.names.push_back(contestant.name);
    contestant.run();
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t who = (i + static_cast<std::size_t>(round)) % count;
      result.seconds[who].push_back(seconds_of(contestants[who].run));
    }
  }
  return result;
}

/// Ours against one peer. Ratios are of time, ours / peer of the same round: below 1 is faster.
struct Comparison {
  std::string ours;
  std::string peer;
  Summary ours_seconds;
  Summary peer_seconds;
  Summary ratio;
  Summary ratio_interval;  ///< `low` and `high` bound the median ratio with 95 %
  std::size_t rounds = 0;
};

inline Comparison compare(const Rounds& rounds, std::size_t ours, std::size_t peer) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds.seconds[ours].size(); ++i) {
    ratios.push_back(rounds.seconds[ours][i] / rounds.seconds[peer][i]);
  }
  return {rounds.names[ours],
          rounds.names[peer],
          summarize(rounds.seconds[ours]),
          summarize(rounds.seconds[peer]),
          summarize(ratios),
          median_interval(ratios),
          ratios.size()};
}

}  // namespace bench
