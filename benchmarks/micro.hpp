// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Registers a benchmark that takes its own samples: `sample()` returns seconds for one operation,
/// is called `count` times after a tenth as many unmeasured calls, and the median is reported.
template <typename Sample>
void report_median(benchmark::State& state, int count, Sample&& sample) {
  for (auto _ : state) {
    std::vector<double> samples;
    for (int i = 0; i < count / 10 + 1; ++i)
      sample();
    for (int i = 0; i < count; ++i)
      samples.push_back(sample());
    const Summary found = summarize(samples);
    state.SetIterationTime(found.median);
    state.counters["low_ns"] = found.low * 1e9;
    state.counters["high_ns"] = found.high * 1e9;
  }
}

/// One repetition is one call of the function; more come from --benchmark_repetitions.
inline void add(const char* name, void (*function)(benchmark::State&)) {
  benchmark::RegisterBenchmark(name, function)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kNanosecond);
}

inline int run_registered(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace bench
