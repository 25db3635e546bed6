#ifndef FAIRLEAD_FETCH_ONE_AT_A_TIME_H_
#define FAIRLEAD_FETCH_ONE_AT_A_TIME_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace fairlead::fetch {

// Who may open or look for a connection: of exchanges that could share one, one at a time, until it has its
// connection. Else each of many that start at once would open its own. Not thread-safe.
class OneAtATime {
 public:
  using Place = size_t;       // exchanges with the same one could share connections
  using Exchange = uint64_t;  // a client's handle

  // Whether it is its turn; else it waits.
  bool Take(Place place, Exchange exchange);
  // It is connected or over, or waits no longer. Gives the one whose turn it is now.
  std::optional<Exchange> Leave(Exchange exchange);
  bool empty() const { return places_.empty(); }

 private:
  std::map<Place, std::deque<Exchange>> waiting_;  // the first has its turn
  std::map<Exchange, Place> places_;               // of those in it
};

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_ONE_AT_A_TIME_H_
