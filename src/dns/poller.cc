#include "dns/poller.h"

#include <algorithm>
#include <array>

namespace fairlead::dns {

bool Poller::Add(int socket, uint32_t events, Watcher* watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = watcher;
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) == 0;
}

void Poller::Change(int socket, uint32_t events, Watcher* watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = watcher;
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket, &event);
}

void Poller::Bury(std::unique_ptr<Watcher> watcher) {
  watcher->gone_ = true;
  buried_.push_back(std::move(watcher));
}

void Poller::Wait(std::chrono::milliseconds time) {
  buried_.clear();  // between two rounds: a socket must not stay open until the next event
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_.get(), events.data(), events.size(), static_cast<int>(time.count()));
  for (int i = 0; i < count; ++i) {
    auto* const watcher = static_cast<Watcher*>(events[static_cast<size_t>(i)].data.ptr);
    if (!watcher->gone_) watcher->OnReady(events[static_cast<size_t>(i)].events);
  }
  buried_.clear();
}

}  // namespace fairlead::dns
