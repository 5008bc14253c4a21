// SPDX-License-Identifier: Apache-2.0

// A test that hangs ends the program and is named.

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "support/catch.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace conformance {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::chrono::seconds patience(600);
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::chrono::seconds patience(240);
#else
constexpr std::chrono::seconds patience(60);
#endif

/// Ends the program unless it is destroyed in time.
class Watchdog {
 public:
  explicit Watchdog(std::string test) : test_(std::move(test)), thread_([this] { watch(); }) {}

  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    finished_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    // The system clock: ThreadSanitizer of GCC 12 does not see steady waits release the lock.
    const auto deadline = std::chrono::system_clock::now() + patience;
    if (finished_.wait_until(lock, deadline, [this] { return done_; })) return;
    std::fprintf(stderr, "\nthe test \"%s\" hangs: not done after %lld s\n", test_.c_str(),
                 static_cast<long long>(patience.count()));
    std::abort();
  }

  std::string test_;
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::thread thread_;
};

#if __has_include(<catch2/catch_all.hpp>)
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

class WatchdogListener : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    watchdog_ = std::make_unique<Watchdog>(info.name);
  }
  void testCaseEnded(const Catch::TestCaseStats&) override { watchdog_.reset(); }

 private:
  std::unique_ptr<Watchdog> watchdog_;
};

CATCH_REGISTER_LISTENER(WatchdogListener)

}  // namespace
}  // namespace conformance
