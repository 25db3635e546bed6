#include "fetch/one_at_a_time.h"

#include <algorithm>

namespace fairlead::fetch {

bool OneAtATime::Take(Place place, Exchange exchange) {
  auto& line = waiting_[place];
  line.push_back(exchange);
  places_.emplace(exchange, place);
  return line.size() == 1;
}

std::optional<OneAtATime::Exchange> OneAtATime::Leave(Exchange exchange) {
  const auto found = places_.find(exchange);
  if (found == places_.end()) return std::nullopt;
  const auto line = waiting_.find(found->second);
  places_.erase(found);
  const bool was_first = line->second.front() == exchange;
  line->second.erase(std::find(line->second.begin(), line->second.end(), exchange));
  if (line->second.empty()) {
    waiting_.erase(line);
    return std::nullopt;
  }
  return was_first ? std::optional(line->second.front()) : std::nullopt;
}

}  // namespace fairlead::fetch
