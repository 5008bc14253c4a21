// SPDX-License-Identifier: Apache-2.0
// Large copies of a stream beside memcpy and non-temporal stores over the same cores.

#include "nontemporal.hpp"
#include "pairs.hpp"
#include "parallel.hpp"
#include "program.hpp"
#include "results.hpp"

#include <hal/hal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace bench {
namespace {

/// Both ends of a copy, touched by the device's own threads.
class Ends {
 public:
  explicit Ends(std::size_t bytes) : bytes_(bytes) {
    stream_.launch([](std::size_t i, std::byte* to) { to[i] = static_cast<std::byte>(i % 251); },
                   hal::over(bytes_), from_);
    stream_.fill(to_, std::byte{0});
    stream_.synchronize();
  }

  void hal_copy() const {
    stream_.copy(to_, from_);
    stream_.synchronize();
  }
  void memcpy_one() const { std::memcpy(to_.data(), from_.data(), bytes_); }
  void memcpy_all() const {
    tbb_pieces(bytes_, [this](std::size_t begin, std::size_t end) {
      std::memcpy(to_.data() + begin, from_.data() + begin, end - begin);
    });
  }
  void nontemporal_all() const {
    tbb_pieces(bytes_, [this](std::size_t begin, std::size_t end) {
      nontemporal_copy(to_.data() + begin, from_.data() + begin, end - begin);
    });
  }

  /// Throws unless `contestant` copies everything.
  void check(const Contestant& contestant) const {
    stream_.fill(to_, std::byte{0xff});
    stream_.synchronize();
    contestant.run();
    require(std::memcmp(to_.data(), from_.data(), bytes_) == 0, contestant.name);
  }

 private:
  std::size_t bytes_;
  hal::Device device_ = hal::device("host:0");
  hal::Stream stream_ = device_.create_stream();
  hal::TypedBuffer<std::byte> from_ = device_.allocate<std::byte>(bytes_, hal::MemoryKind::device);
  hal::TypedBuffer<std::byte> to_ = device_.allocate<std::byte>(bytes_, hal::MemoryKind::device);
};

void run_size(std::size_t mebibytes, int rounds, Results& results) {
  const std::size_t bytes = mebibytes << 20;
  const Ends ends(bytes);
  const std::vector<Contestant> contestants{
      {"Stream::copy", [&] { ends.hal_copy(); }},
      {"memcpy, one thread", [&] { ends.memcpy_one(); }},
      {"memcpy, all cores", [&] { ends.memcpy_all(); }},
      {std::string("non-temporal ") + nontemporal_kind(), [&] { ends.nontemporal_all(); }},
      {"memcpy, all cores again", [&] { ends.memcpy_all(); }}};
  for (const Contestant& contestant : contestants)
    ends.check(contestant);

  const Rounds taken = take_rounds(contestants, rounds);
  std::vector<Comparison> peers;
  for (std::size_t peer = 1; peer <= 3; ++peer)
    peers.push_back(compare(taken, 0, peer));
  std::sort(peers.begin(), peers.end(), [](const Comparison& one, const Comparison& other) {
    return one.peer_seconds.median < other.peer_seconds.median;
  });
  const std::string id = "copy_" + std::to_string(mebibytes) + "MiB";
  for (const Comparison& peer : peers)
    results.add(id, peer);  // the best first
  results.add(id + "/noise", compare(taken, 4, 2));
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app("Stream::copy beside memcpy and non-temporal stores, taken in turns");
  std::vector<std::size_t> sizes{64, 256, 1024};
  int rounds = 30;
  std::string output;
  app.add_option("--mebibytes", sizes, "Sizes to copy")->check(CLI::PositiveNumber);
  app.add_option("--rounds", rounds, "Rounds for each size")->check(CLI::PositiveNumber);
  app.add_option("--json", output, "Write the figures to this file");
  return bench::run_program(app, argc, argv, [&] {
    bench::Results results(output);
    for (const std::size_t size : sizes)
      bench::run_size(size, rounds, results);
    results.write();
  });
}
