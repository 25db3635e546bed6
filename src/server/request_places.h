#ifndef FAIRLEAD_SERVER_REQUEST_PLACES_H_
#define FAIRLEAD_SERVER_REQUEST_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace fairlead::server {

// Places for so many requests at a time; a quarter as many more wait for one, in the order in which they
// came. Thread-safe. Places may outlive this.
class RequestPlaces {
 public:
  // Held while a request is being answered.
  using Place = std::shared_ptr<void>;
  using Begin = std::function<void(Place)>;

  explicit RequestPlaces(size_t most) : state_(std::make_shared<State>(most)) {}

  // Calls `begin` with a place: now, or when one is free, on the thread that has freed it. Gives a number to
  // leave by, which is 0 where it was called already; nothing where too many wait.
  struct Entry {
    bool refused = false;
    uint64_t waits = 0;
  };
  Entry Enter(Begin begin);
  // A request that waits does so no longer; false: it has a place meanwhile.
  bool Leave(uint64_t waits);
  // Drops those that wait; all others are refused from now on.
  void Close();

 private:
  struct State {
    explicit State(size_t places) : most(places) {}
    size_t most;
    std::mutex mutex;
    size_t taken = 0;
    uint64_t last = 0;
    std::map<uint64_t, Begin> waiting;  // the first that came first
  };
  static Place Make(std::shared_ptr<State> state);
  static void Free(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace fairlead::server

#endif  // FAIRLEAD_SERVER_REQUEST_PLACES_H_
