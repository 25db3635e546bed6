#ifndef FAIRLEAD_TESTS_FUZZ_CHOICES_H_
#define FAIRLEAD_TESTS_FUZZ_CHOICES_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace fairlead::fuzz {

// A fuzzer's bytes as a source of choices, one byte each. Behind the end each choice is 0.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  bool Done() const { return rest_.empty(); }
  unsigned Below(unsigned bound) {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte % bound;
  }
  bool Flip() { return Below(2) == 1; }

 private:
  std::string_view rest_;
};

// Ends the process where an invariant does not hold; the fuzzer then keeps the input.
template <typename... Words>
void Require(bool holds, const Words&... words) {
  if (holds) return;
  std::cerr << "broken: ";
  (std::cerr << ... << words) << std::endl;
  std::abort();
}

// With FUZZ_TRACE in the environment: what an input means, line by line.
template <typename... Words>
void Trace(const Words&... words) {
  static const bool on = std::getenv("FUZZ_TRACE") != nullptr;
  if (on) (std::cerr << ... << words) << std::endl;
}

}  // namespace fairlead::fuzz

#endif  // FAIRLEAD_TESTS_FUZZ_CHOICES_H_
