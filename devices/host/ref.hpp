// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <utility>

namespace hal::host {

/// Base of objects that count their own references; one when made.
template <typename T>
class RefCounted {
 public:
  void add_ref() const noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  /// For who finds the object without a reference: false when its end has begun.
  [[nodiscard]] bool try_add_ref() const noexcept {
    int references = references_.load(std::memory_order_relaxed);
    while (references > 0 && !references_.compare_exchange_weak(references, references + 1,
                                                                std::memory_order_acquire)) {
    }
    return references > 0;
  }
  void drop_ref() const noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete static_cast<const T*>(this);
  }

 protected:
  RefCounted() = default;
  ~RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

 private:
  mutable std::atomic<int> references_{1};
};

/// Owns one reference.
template <typename T>
class Ref {
 public:
  Ref() noexcept = default;
  static Ref adopt(T* object) noexcept { return Ref(object); }
  static Ref share(T* object) noexcept {
    if (object != nullptr) object->add_ref();
    return Ref(object);
  }
  Ref(const Ref& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) object_->add_ref();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->drop_ref();
  }

  [[nodiscard]] T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  explicit Ref(T* object) noexcept : object_(object) {}
  T* object_ = nullptr;
};

}  // namespace hal::host
