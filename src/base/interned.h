#ifndef FAIRLEAD_BASE_INTERNED_H_
#define FAIRLEAD_BASE_INTERNED_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead {

// A shared, immutable string of which one copy exists in the process: 8 bytes to hold, equality and hash by
// pointer. For values that repeat over a mesh (host names, addresses, labels, node metadata). The copy is
// freed with its last holder. Creation takes a lock of one shard of the pool; copying is an atomic increment;
// reading is free. Order (operator<) is by content, so that sorted output does not depend on addresses.
// Thread-safe as std::shared_ptr is: distinct objects may be used concurrently.
class Interned {
 public:
  Interned() = default;
  Interned(std::string_view text);  // NOLINT: implicit by design, as std::string is
  Interned(const std::string& text) : Interned(std::string_view(text)) {}  // NOLINT
  Interned(const char* text) : Interned(std::string_view(text)) {}         // NOLINT
  Interned(const Interned& other) : entry_(other.entry_) { Ref(); }
  Interned(Interned&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  Interned& operator=(Interned other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~Interned() { Unref(); }

  const std::string& str() const { return entry_ ? entry_->text : Empty(); }
  operator std::string_view() const { return str(); }  // NOLINT: implicit by design
  bool empty() const { return entry_ == nullptr; }

  friend bool operator==(const Interned& a, const Interned& b) { return a.entry_ == b.entry_; }
  friend bool operator==(const Interned& a, std::string_view b) { return std::string_view(a.str()) == b; }
  friend bool operator==(const Interned& a, const std::string& b) { return a.str() == b; }
  friend bool operator==(const Interned& a, const char* b) { return std::string_view(a.str()) == b; }
  friend bool operator<(const Interned& a, const Interned& b) { return a.str() < b.str(); }
  template <typename H>
  friend H AbslHashValue(H h, const Interned& s) {
    return H::combine(std::move(h), s.entry_);
  }

  // How many distinct strings are alive, for tests and metrics.
  static size_t PoolSize();

 private:
  struct Entry {
    std::atomic<uint32_t> references;
    uint32_t shard;
    std::string text;
  };
  struct Pool;
  static const std::string& Empty();
  void Ref() const {
    if (entry_) entry_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref();

  Entry* entry_ = nullptr;  // null stands for the empty string
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_INTERNED_H_
