#ifndef FAIRLEAD_CA_TURNS_H_
#define FAIRLEAD_CA_TURNS_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/executor.h"

namespace fairlead::ca {

// Waiting requests for an executor, by peer. Each peer has one turn before any peer has its next, however
// many requests it has waiting. Thread-safe.
class Turns : public std::enable_shared_from_this<Turns> {
 public:
  // `most_of_one`: requests of one peer that wait at a time. `most`: of all together.
  struct Limits {
    size_t most_of_one = 8;
    size_t most = 10'000;
  };
  // The executor must outlive what is added. To be held by a shared pointer.
  Turns(Executor* executor, Limits limits) : executor_(executor), limits_(limits) {}

  // False: as many wait as may, and the request is dropped.
  bool Add(const std::string& peer, std::function<void()> request);

 private:
  void RunNext();

  Executor* const executor_;
  const Limits limits_;
  std::mutex mutex_;
  size_t waiting_ = 0;
  std::map<std::string, std::deque<std::function<void()>>> of_peer_;  // none is empty
  std::deque<std::string> order_;                                     // each peer of the map once
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_TURNS_H_
