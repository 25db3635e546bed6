#include "ca/turns.h"

namespace fairlead::ca {

bool Turns::Add(const std::string& peer, std::function<void()> request) {
  {
    std::lock_guard lock(mutex_);
    const auto known = of_peer_.find(peer);
    const size_t own = known == of_peer_.end() ? 0 : known->second.size();
    if (own >= limits_.most_of_one || waiting_ >= limits_.most) return false;
    of_peer_[peer].push_back(std::move(request));
    if (own == 0) order_.push_back(peer);
    ++waiting_;
  }
  // One task a request, whosever request it then takes.
  executor_->Submit(Urgency::kPatient, [self = shared_from_this()] { self->RunNext(); });
  return true;
}

void Turns::RunNext() {
  std::function<void()> request;
  {
    std::lock_guard lock(mutex_);
    const std::string peer = std::move(order_.front());
    order_.pop_front();
    const auto own = of_peer_.find(peer);
    request = std::move(own->second.front());
    own->second.pop_front();
    if (own->second.empty()) {
      of_peer_.erase(own);
    } else {
      order_.push_back(peer);
    }
    --waiting_;
  }
  request();
}

}  // namespace fairlead::ca
