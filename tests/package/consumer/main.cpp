// SPDX-License-Identifier: Apache-2.0
#include <hal/hal.hpp>

#include <iostream>
#include <string>
#include <vector>

int main() {
  const std::string compiled = std::to_string(HAL_VERSION_MAJOR) + "." +
                               std::to_string(HAL_VERSION_MINOR) + "." +
                               std::to_string(HAL_VERSION_PATCH);
  if (hal::version() != compiled) {
    std::cerr << "headers of " << compiled << ", library of " << hal::version() << "\n";
    return 1;
  }

  const hal::Stream stream = hal::device("host:0").create_stream();
  auto numbers = stream.device().allocate<int>(1000, stream);
  stream.fill(numbers, 20);
  stream.launch([](std::size_t i, int* x) { x[i] += static_cast<int>(i); },
                hal::over(numbers.size()), numbers);
  const std::vector<int> result = stream.read(numbers);
  std::cout << "hal " << hal::version() << ": the last number is " << result.back() << "\n";
  return result.back() == 1019 ? 0 : 1;
}
