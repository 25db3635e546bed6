#ifndef FAIRLEAD_BASE_COPY_ON_WRITE_H_
#define FAIRLEAD_BASE_COPY_ON_WRITE_H_

#include <atomic>
#include <cstdint>
#include <utility>

namespace fairlead {

// A value that its copies share until one of them is edited. Empty at first, which costs no memory. Reading
// from several threads is safe; so is editing a copy while others read or drop other copies.
template <typename T>
class CopyOnWrite {
 public:
  CopyOnWrite() = default;
  CopyOnWrite(const CopyOnWrite& other) : node_(other.node_) {
    if (node_ != nullptr) node_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  CopyOnWrite(CopyOnWrite&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  CopyOnWrite& operator=(CopyOnWrite other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~CopyOnWrite() { Drop(); }

  // Null where it is empty. Good until this is edited or gone.
  const T* get() const { return node_ == nullptr ? nullptr : &node_->value; }
  // Equal pointers: the two share their value.
  friend bool operator==(const CopyOnWrite& a, const CopyOnWrite& b) { return a.node_ == b.node_; }

  // The value for this holder alone: copied where others share it, made where there is none.
  T& Edit() {
    if (node_ == nullptr) {
      node_ = new Node();
    } else if (node_->holders.load(std::memory_order_acquire) != 1) {
      Node* copy = new Node(node_->value);
      Drop();
      node_ = copy;
    }
    return node_->value;
  }
  void Reset() {
    Drop();
    node_ = nullptr;
  }

 private:
  struct Node {
    Node() = default;
    explicit Node(const T& other) : value(other) {}
    std::atomic<uint32_t> holders = 1;
    T value{};
  };
  void Drop() {
    if (node_ != nullptr && node_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
  }

  Node* node_ = nullptr;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_COPY_ON_WRITE_H_
