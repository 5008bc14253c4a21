// SPDX-License-Identifier: Apache-2.0
// A parallel triad a = b + s * c: HAL, with its waiter asleep and helping, beside loops by hand.

#include "triad.hpp"
#include "pairs.hpp"
#include "parallel.hpp"
#include "program.hpp"
#include "results.hpp"

#include <hal/hal.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace bench {
namespace {

constexpr float scale = 0.5F;

class Triad {
 public:
  explicit Triad(std::size_t count) : count_(count) {
    stream_.launch(
        [](std::size_t i, float* a, float* b, float* c) {
          a[i] = 0.0F;
          b[i] = static_cast<float>(i % 1024);
          c[i] = static_cast<float>(i % 7);
        },
        hal::over(count_), a_, b_, c_);
    stream_.synchronize();
  }

  /// The waiting thread runs work itself.
  void hal_helping() const {
    launch();
    stream_.synchronize();
  }
  /// A wait with a time limit never runs work, so the device's own threads do all of it.
  void hal_asleep() const {
    launch();
    stream_.synchronize(std::chrono::hours(1));
  }
  void tbb() const {
    float* const a = a_.data();
    const float* const b = b_.data();
    const float* const c = c_.data();
    tbb_loop(count_, [=](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        a[i] = b[i] + scale * c[i];
    });
  }
  void openmp() const { openmp_triad(a_.data(), b_.data(), c_.data(), scale, count_); }

  /// Throws unless `run` writes the right values over wrong ones.
  void check(const Contestant& contestant) const {
    stream_.fill(a_, -1.0F);
    stream_.synchronize();
    contestant.run();
    for (std::size_t i = 0; i < count_; ++i) {
      const float expected = static_cast<float>(i % 1024) + scale * static_cast<float>(i % 7);
      require(a_.data()[i] == expected, contestant.name + ", element " + std::to_string(i));
    }
  }

 private:
  void launch() const {
    stream_.launch([](std::size_t i, float* a, const float* b, const float* c,
                      float s) { a[i] = b[i] + s * c[i]; },
                   hal::over(count_), a_, b_, c_, scale);
  }

  std::size_t count_;
  hal::Device device_ = hal::device("host:0");
  hal::Stream stream_ = device_.create_stream();
  hal::TypedBuffer<float> a_ = device_.allocate<float>(count_, hal::MemoryKind::device);
  hal::TypedBuffer<float> b_ = device_.allocate<float>(count_, hal::MemoryKind::device);
  hal::TypedBuffer<float> c_ = device_.allocate<float>(count_, hal::MemoryKind::device);
};

void run(std::size_t count, const std::string& peer_name, int rounds, const std::string& output) {
  const Triad triad(count);
  const Contestant helping{"HAL, waiter helping", [&] { triad.hal_helping(); }};
  const Contestant asleep{"HAL, waiter asleep", [&] { triad.hal_asleep(); }};
  const Contestant peer = peer_name == "tbb" ? Contestant{"oneTBB", [&] { triad.tbb(); }}
                                             : Contestant{"OpenMP", [&] { triad.openmp(); }};
  const Contestant again{peer.name + " again", peer.run};
  for (const Contestant* contestant : {&helping, &asleep, &peer})
    triad.check(*contestant);

  Results results(output);
  const auto pair = [&](const char* id, const Contestant& ours) {
    results.add(std::string("triad_") + id + "/" + peer_name,
                compare(take_rounds({ours, peer}, rounds), 0, 1));
  };
  pair("helping", helping);
  pair("asleep", asleep);
  pair("noise", again);
  results.write();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app("Parallel triad over floats: HAL beside a loop by hand, in pairs");
  std::size_t count = std::size_t{1} << 26;
  int rounds = 40;
  std::string peer = "tbb";
  std::string output;
  app.add_option("--elements", count, "Elements of each array")->check(CLI::PositiveNumber);
  app.add_option("--rounds", rounds, "Pairs to run")->check(CLI::PositiveNumber);
  app.add_option("--peer", peer,
                 "tbb, or omp in a process of its own: with OMP_WAIT_POLICY=passive, or OpenMP's "
                 "spinning threads take the cores from whatever runs next")
      ->check(CLI::IsMember({"tbb", "omp"}));
  app.add_option("--json", output, "Write the figures to this file");
  return bench::run_program(app, argc, argv, [&] { bench::run(count, peer, rounds, output); });
}
