// SPDX-License-Identifier: Apache-2.0
// BabelStream's five kernels on HAL's public interface and on oneTBB, taken in turns on the same
// arrays. Kernels, initial values, tolerances and table are those of BabelStream 5
// (https://github.com/UoB-HPC/BabelStream).

#include "pairs.hpp"
#include "parallel.hpp"
#include "program.hpp"
#include "results.hpp"

#include <oneapi/tbb/parallel_reduce.h>
#include <hal/hal.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace bench {
namespace {

constexpr double start_a = 0.1;
constexpr double start_b = 0.2;
constexpr double start_c = 0.0;
constexpr double scalar = 0.4;

struct Kernel {
  const char* label;
  std::size_t arrays;  ///< how many it reads and writes
};
constexpr std::array<Kernel, 5> kernels{
    {{"Copy", 2}, {"Mul", 2}, {"Add", 3}, {"Triad", 3}, {"Dot", 2}}};

/// Sum of a[i] * b[i] over [begin, end). Four sums, since one would wait for each addition.
double dot_piece(const double* a, const double* b, std::size_t begin, std::size_t end) {
  double sum0 = 0;
  double sum1 = 0;
  double sum2 = 0;
  double sum3 = 0;
  std::size_t i = begin;
  for (; i + 4 <= end; i += 4) {
    sum0 += a[i] * b[i];
    sum1 += a[i + 1] * b[i + 1];
    sum2 += a[i + 2] * b[i + 2];
    sum3 += a[i + 3] * b[i + 3];
  }
  for (; i < end; ++i)
    sum0 += a[i] * b[i];
  return sum0 + sum1 + sum2 + sum3;
}

/// One way to run the kernels; `steps` are in the order of `kernels`.
struct Implementation {
  std::string name;
  std::array<std::function<void()>, 5> steps;
  double sum = 0;  ///< what the last Dot returned
};

class Arrays {
 public:
  explicit Arrays(std::size_t size) : count(size) {
    stream.launch(
        [](std::size_t i, double* to_a, double* to_b, double* to_c) {
          to_a[i] = start_a;
          to_b[i] = start_b;
          to_c[i] = start_c;
        },
        hal::over(count), a, b, c);
    stream.synchronize();
  }

  std::size_t count;
  hal::Device device = hal::device("host:0");
  hal::Stream stream = device.create_stream();
  hal::TypedBuffer<double> a = device.allocate<double>(count, hal::MemoryKind::device);
  hal::TypedBuffer<double> b = device.allocate<double>(count, hal::MemoryKind::device);
  hal::TypedBuffer<double> c = device.allocate<double>(count, hal::MemoryKind::device);
};

/// Each block sums its share; the host adds the shares.
double hal_dot(const Arrays& arrays, const hal::TypedBuffer<double>& shares) {
  arrays.stream.launch(
      [](hal::Block block, const double* a, const double* b, double* out, std::size_t count) {
        const std::size_t index = block.linear_index();
        const std::size_t share = (count + block.grid().x - 1) / block.grid().x;
        const std::size_t begin = std::min(count, index * share);
        out[index] = dot_piece(a, b, begin, std::min(count, begin + share));
      },
      hal::blocks({shares.size()}, {1}), arrays.a, arrays.b, shares, arrays.count);
  const std::vector<double> found = arrays.stream.read(shares);
  return std::accumulate(found.begin(), found.end(), 0.0);
}

void use_hal(Implementation& to, const Arrays& arrays, const hal::TypedBuffer<double>& shares) {
  to.name = "HAL";
  const auto step = [&arrays](auto kernel, auto&... buffers) {
    return [&arrays, kernel, &buffers...] {
      arrays.stream.launch(kernel, hal::over(arrays.count), buffers...);
      arrays.stream.synchronize();
    };
  };
  to.steps[0] =
      step([](std::size_t i, const double* a, double* c) { c[i] = a[i]; }, arrays.a, arrays.c);
  to.steps[1] = step([](std::size_t i, double* b, const double* c) { b[i] = scalar * c[i]; },
                     arrays.b, arrays.c);
  to.steps[2] =
      step([](std::size_t i, const double* a, const double* b, double* c) { c[i] = a[i] + b[i]; },
           arrays.a, arrays.b, arrays.c);
  to.steps[3] = step([](std::size_t i, double* a, const double* b,
                        const double* c) { a[i] = b[i] + scalar * c[i]; },
                     arrays.a, arrays.b, arrays.c);
  to.steps[4] = [&] { to.sum = hal_dot(arrays, shares); };
}

double tbb_dot(const double* a, const double* b, std::size_t count) {
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  return oneapi::tbb::parallel_reduce(
      Range(0, count), 0.0,
      [=](const Range& range, double sum) {
        return sum + dot_piece(a, b, range.begin(), range.end());
      },
      std::plus<>());
}

void use_tbb(Implementation& to, const Arrays& arrays) {
  to.name = "oneTBB";
  double* const a = arrays.a.data();
  double* const b = arrays.b.data();
  double* const c = arrays.c.data();
  const std::size_t count = arrays.count;
  const auto step = [count](auto element) {
    return [count, element] {
      tbb_loop(count, [element](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          element(i);
      });
    };
  };
  to.steps[0] = step([=](std::size_t i) { c[i] = a[i]; });
  to.steps[1] = step([=](std::size_t i) { b[i] = scalar * c[i]; });
  to.steps[2] = step([=](std::size_t i) { c[i] = a[i] + b[i]; });
  to.steps[3] = step([=](std::size_t i) { a[i] = b[i] + scalar * c[i]; });
  to.steps[4] = [&to, a, b, count] { to.sum = tbb_dot(a, b, count); };
}

void check_array(const char* name, const hal::TypedBuffer<double>& array, double gold) {
  double error = 0;
  for (std::size_t i = 0; i < array.size(); ++i)
    error += std::abs(array.data()[i] - gold);
  error /= static_cast<double>(array.size());
  require(error <= std::numeric_limits<double>::epsilon() * 100,
          std::string("array ") + name + " is off by " + std::to_string(error) + " on average");
}

/// `passes`: how often all five kernels ran. `last`: which implementation ran the last of them; the
/// other one ran the last but one.
void check(const Arrays& arrays, const std::array<Implementation, 2>& implementations, int passes,
           std::size_t last) {
  double a = start_a;
  double b = start_b;
  double c = start_c;
  double before = 0;
  for (int pass = 0; pass < passes; ++pass) {
    before = a * b;
    c = a;
    b = scalar * c;
    c = a + b;
    a = b + scalar * c;
  }
  check_array("a", arrays.a, a);
  check_array("b", arrays.b, b);
  check_array("c", arrays.c, c);
  for (std::size_t who = 0; who < implementations.size(); ++who) {
    const double gold = (who == last ? a * b : before) * static_cast<double>(arrays.count);
    const double error = std::abs((implementations[who].sum - gold) / gold);
    require(error <= 1e-8, implementations[who].name + "'s dot is off by " + std::to_string(error));
  }
}

void print_table(const std::string& name, std::size_t count,
                 const std::array<std::vector<double>, 5>& seconds) {
  std::printf("Implementation: %s\n", name.c_str());
  std::printf("%-12s%-12s%-12s%-12s%-12s\n", "Function", "MBytes/sec", "Min (sec)", "Max",
              "Average");
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto [min, max] = std::minmax_element(seconds[k].begin(), seconds[k].end());
    const double average = std::accumulate(seconds[k].begin(), seconds[k].end(), 0.0) /
                           static_cast<double>(seconds[k].size());
    const auto bytes = static_cast<double>(kernels[k].arrays * count * sizeof(double));
    std::printf("%-12s%-12.3f%-12.5f%-12.5f%-12.5f\n", kernels[k].label, 1e-6 * bytes / *min, *min,
                *max, average);
  }
  std::printf("\n");
}

void run(std::size_t count, int times, const std::string& output) {
  const Arrays arrays(count);
  // Enough shares for every core to have several.
  const auto cores = arrays.device.properties().compute_units.value_or(1);
  const auto shares = arrays.device.allocate<double>(cores * 16, hal::MemoryKind::device);
  std::array<Implementation, 2> implementations;
  use_hal(implementations[0], arrays, shares);
  use_tbb(implementations[1], arrays);

  std::array<std::array<std::vector<double>, 5>, 2> seconds;
  for (int pass = 0; pass < times; ++pass) {
    for (std::size_t turn = 0; turn < 2; ++turn) {
      const std::size_t who = (turn + static_cast<std::size_t>(pass)) % 2;
      for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double taken = seconds_of(implementations[who].steps[k]);
        // As BabelStream does: the first pass warms up.
        if (pass > 0) seconds[who][k].push_back(taken);
      }
    }
  }
  check(arrays, implementations, 2 * times, static_cast<std::size_t>(times) % 2);

  const double megabytes = 1e-6 * static_cast<double>(count * sizeof(double));
  std::printf("Running kernels %d times\nPrecision: double\n", times);
  std::printf("Array size: %.1f MB\nTotal size: %.1f MB\n\n", megabytes, 3 * megabytes);
  Results results(output);
  for (std::size_t who = 0; who < 2; ++who) {
    print_table(implementations[who].name, count, seconds[who]);
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Rounds rounds{{"HAL", "oneTBB"}, {seconds[0][k], seconds[1][k]}};
    results.add(std::string("babelstream_") + kernels[k].label, compare(rounds, 0, 1));
  }
  results.write();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app("BabelStream's kernels on HAL and on oneTBB");
  std::size_t count = std::size_t{1} << 25;
  int times = 100;
  std::string output;
  app.add_option("-s,--arraysize", count, "Elements of each array")->check(CLI::PositiveNumber);
  app.add_option("-n,--numtimes", times, "How often to run each kernel, at least 2")
      ->check(CLI::Range(2, 1'000'000));
  app.add_option("--json", output, "Write the figures to this file");
  return bench::run_program(app, argc, argv, [&] { bench::run(count, times, output); });
}
