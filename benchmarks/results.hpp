// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pairs.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace bench {

inline nlohmann::json to_json(const Summary& summary) {
  return {{"median", summary.median}, {"low", summary.low}, {"high", summary.high}};
}

/// Collects comparisons, prints each as it comes and writes them for benchmarks/report.py.
class Results {
 public:
  /// Writes to `path` when `write` is called; empty: prints only.
  explicit Results(std::string path) : path_(std::move(path)) {}

  void add(const std::string& id, const Comparison& found) {
    std::printf("%-24s %-28s %10.3f ms   %-28s %10.3f ms   ratio %.3f (%.3f to %.3f, %zu rounds)\n",
                id.c_str(), found.ours.c_str(), found.ours_seconds.median * 1e3, found.peer.c_str(),
                found.peer_seconds.median * 1e3, found.ratio.median, found.ratio.low,
                found.ratio.high, found.rounds);
    std::fflush(stdout);
    comparisons_.push_back({{"id", id},
                            {"ours", found.ours},
                            {"peer", found.peer},
                            {"ours_seconds", to_json(found.ours_seconds)},
                            {"peer_seconds", to_json(found.peer_seconds)},
                            {"ratio", to_json(found.ratio)},
                            {"ratio_interval", to_json(found.ratio_interval)},
                            {"rounds", found.rounds}});
  }

  void write() const {
    if (path_.empty()) return;
    std::ofstream file(path_);
    file << nlohmann::json{{"comparisons", comparisons_}}.dump(2) << '\n';
    if (!file.flush()) {
      throw std::runtime_error("cannot write " + path_ +
                               ": check that the folder exists and the disk has space");
    }
  }

 private:
  std::string path_;
  nlohmann::json comparisons_ = nlohmann::json::array();
};

/// Ends a measurement whose result is wrong: a fast wrong answer is no figure.
inline void require(bool right, const std::string& what) {
  if (!right) throw std::runtime_error("wrong result: " + what);
}

}  // namespace bench
