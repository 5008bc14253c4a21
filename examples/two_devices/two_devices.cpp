// SPDX-License-Identifier: Apache-2.0
// Splits one computation over all devices and joins the parts on the first.
// Try it with HAL_HOST_DEVICES=2 where there is only one device.
#include <hal/hal.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

namespace {

constexpr std::size_t count = std::size_t{1} << 22;

/// What one device works on: `size` items from `first`.
struct Part {
  hal::Device device;
  hal::Stream stream;
  std::size_t first;
  std::size_t size;
  hal::TypedBuffer<std::uint64_t> squares;
  hal::Event done;
};

/// Shares that differ by one item at most.
std::vector<Part> split(const std::vector<hal::Device>& devices) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::size_t first = count * i / devices.size();
    const std::size_t size = count * (i + 1) / devices.size() - first;
    const hal::Stream stream = devices[i].create_stream();
    parts.push_back(
        {devices[i], stream, first, size, devices[i].allocate<std::uint64_t>(size, stream), {}});
  }
  return parts;
}

/// Enqueues each device's share; all devices work at the same time.
void compute(std::vector<Part>& parts) {
  for (Part& part : parts) {
    part.stream.launch(
        [](std::size_t i, std::uint64_t first, std::uint64_t* out) {
          const std::uint64_t x = first + i;
          out[i] = x * x;
        },
        hal::over(part.size).named("squares"), std::uint64_t{part.first}, part.squares);
    part.done = part.stream.record();
  }
}

/// Brings the parts together in the order of one stream: it waits for the others' events, on the
/// device, while this thread goes on.
std::vector<std::uint64_t> join(const std::vector<Part>& parts) {
  const hal::Stream& stream = parts.front().stream;
  const auto whole = parts.front().device.allocate<std::uint64_t>(count, stream);
  for (const Part& part : parts) {
    stream.wait(part.done);
    stream.copy(whole.view(part.first, part.size), part.squares);
  }
  return stream.read(whole);
}

bool run() {
  std::vector<hal::Device> devices = hal::devices();
  std::erase_if(devices, [](const auto& device) { return !device.has(hal::Feature::host_code); });
  std::vector<Part> parts = split(devices);
  compute(parts);
  const std::vector<std::uint64_t> squares = join(parts);

  for (const Part& part : parts) {
    std::printf("%-8s items %8zu to %8zu (%.1f %%)\n", part.device.id().c_str(), part.first,
                part.first + part.size,
                100.0 * static_cast<double>(part.size) / static_cast<double>(count));
  }
  if (parts.size() == 1) {
    std::puts("There is one device only; HAL_HOST_DEVICES=2 makes the host two.");
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (squares[i] != i * i) return false;
  }
  std::printf("%zu squares on %zu devices: correct\n", count, parts.size());
  return true;
}

}  // namespace

int main() {
  try {
    if (run()) return 0;
    std::fputs("two_devices: the devices computed a wrong result\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "two_devices: %s\n", error.what());
  }
  return 1;
}
