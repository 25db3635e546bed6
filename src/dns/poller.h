#ifndef FAIRLEAD_DNS_POLLER_H_
#define FAIRLEAD_DNS_POLLER_H_

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "http2/socket.h"

namespace fairlead::dns {

// The owner of a socket that a poller looks at.
class Watcher {
 public:
  Watcher() = default;
  virtual ~Watcher() = default;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  virtual void OnReady(uint32_t events) = 0;

 private:
  friend class Poller;
  bool gone_ = false;
};

// Tells watchers about their sockets (epoll). One thread.
class Poller {
 public:
  Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}
  // False: the system has no place for it.
  bool Add(int socket, uint32_t events, Watcher* watcher);
  void Change(int socket, uint32_t events, Watcher* watcher);
  // Ends a watcher, whose socket is closed with it. It gets no more events, and lives on until the round ends
  // or the next one begins.
  void Bury(std::unique_ptr<Watcher> watcher);
  // One round; a negative time waits for the next event.
  void Wait(std::chrono::milliseconds time);

 private:
  const http2::File epoll_;
  std::vector<std::unique_ptr<Watcher>> buried_;
};

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_POLLER_H_
