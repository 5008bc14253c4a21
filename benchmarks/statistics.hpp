// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace bench {

/// What a set of samples is reported as: its median, and the percentiles 5 and 95.
struct Summary {
  double median = 0;
  double low = 0;
  double high = 0;
};

/// Linear between the two samples nearest to `fraction` (0 to 1) of a sorted, non-empty set.
inline double quantile(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

inline Summary summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.05), quantile(samples, 0.95)};
}

/// The 95 % interval of the median, by bootstrap: how far the median itself can be trusted, which
/// is much narrower than the spread of single samples. The seed is fixed: one input, one answer.
inline Summary median_interval(const std::vector<double>& samples) {
  constexpr int resamples = 2000;
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> pick(0, samples.size() - 1);
  std::vector<double> medians;
  std::vector<double> drawn(samples.size());
  for (int i = 0; i < resamples; ++i) {
    for (double& value : drawn)
      value = samples[pick(random)];
    medians.push_back(summarize(drawn).median);
  }
  std::sort(medians.begin(), medians.end());
  return {summarize(samples).median, quantile(medians, 0.025), quantile(medians, 0.975)};
}

}  // namespace bench
