// SPDX-License-Identifier: Apache-2.0
// y = a * x + y on any device that runs C++ code: saxpy [--device ID]
#include <hal/hal.hpp>

#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

namespace {

bool saxpy(const hal::Device& device) {
  constexpr std::size_t count = 1 << 20;
  const hal::Stream stream = device.create_stream();
  const auto x = device.allocate<float>(count, stream);
  const auto y = device.allocate<float>(count, stream);
  stream.fill(x, 1.0F);
  stream.fill(y, 2.0F);
  stream.launch([](std::size_t i, float a, const float* in, float* out) { out[i] += a * in[i]; },
                hal::over(count).named("saxpy"), 3.0F, x, y);
  const std::vector<float> result = stream.read(y);  // waits for this stream only

  for (const float value : result) {
    if (value != 5.0F) return false;
  }
  std::printf("saxpy of %zu floats on %s (%s): correct\n", count, device.id().c_str(),
              device.properties().name.c_str());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool chosen = argc == 3 && std::string_view(argv[1]) == "--device";
  if (argc != 1 && !chosen) {
    std::fputs("usage: saxpy [--device ID]\n", stderr);
    return 2;
  }
  try {
    if (saxpy(chosen ? hal::device(argv[2]) : hal::default_device())) return 0;
    std::fputs("saxpy: the device computed a wrong result\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "saxpy: %s\n", error.what());
  }
  return 1;
}
