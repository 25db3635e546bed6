#include "http2/server.h"

#include <unistd.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "http2/loop.h"
#include "http2/socket.h"

namespace fairlead::http2 {
namespace {

// After the grace, for the last words to be read.
constexpr std::chrono::seconds kLastWords{1};

}  // namespace

class Server::Impl {
 public:
  explicit Impl(ServerOptions options) : shared_(std::move(options)) {}

  absl::Status Start() {
    const ServerOptions& options = shared_.service.options();
    ports_.assign(options.listeners.size(), 0);
    std::vector<Listening> listening;
    for (size_t i = 0; i < options.listeners.size(); ++i) {
      auto opened = Listen(options.listeners[i]);
      if (!opened.ok()) return opened.status();
      ports_[i] = opened->port;
      listening.push_back(*std::move(opened));
    }
    const size_t count =
        options.loops > 0 ? options.loops : std::max(1u, std::thread::hardware_concurrency());
    for (size_t i = 0; i < count; ++i) {
      loops_.push_back(std::make_unique<Loop>(&shared_));
      if (absl::Status status = loops_.back()->Start(); !status.ok()) {
        loops_.clear();
        return status;
      }
    }
    for (size_t i = 0; i < listening.size(); ++i) {
      for (File& socket : listening[i].sockets) {
        loops_.front()->Listen(socket.get(),
                               [this, i](File accepted, std::string peer, std::string_view address) {
                                 Place(i, std::move(accepted), std::move(peer), address);
                               });
        sockets_.push_back(std::move(socket));
      }
    }
    return absl::OkStatus();
  }

  void Stop(std::chrono::milliseconds grace) {
    if (loops_.empty()) return;
    // In this order: what was accepted is with its loop before the loops drain.
    loops_.front()->StopListening();
    Wait(*loops_.front());
    const Clock::time_point end = Clock::now() + grace;
    for (const auto& loop : loops_) loop->Drain(end);
    {
      std::unique_lock lock(shared_.mutex);
      shared_.gone.wait_until(lock, end + kLastWords, [this] { return shared_.connections == 0; });
    }
    {
      std::lock_guard lock(asking_);
      for (const auto& loop : loops_) loop->Stop();
      loops_.clear();
    }
    sockets_.clear();
    for (const Listener& listener : shared_.service.options().listeners) {
      if (!listener.path.empty()) unlink(listener.path.c_str());
    }
  }

  const std::vector<int>& ports() const { return ports_; }

  std::vector<ConnectionInfo> Connections() const {
    std::vector<ConnectionInfo> all;
    std::lock_guard lock(asking_);
    for (const auto& loop : loops_) {
      auto infos = std::make_shared<std::promise<std::vector<ConnectionInfo>>>();
      loop->Ask([infos, loop = loop.get()] { infos->set_value(loop->Infos()); });
      for (ConnectionInfo& info : infos->get_future().get()) all.push_back(std::move(info));
    }
    return all;
  }

 private:
  static void Wait(Loop& loop) {
    auto done = std::make_shared<std::promise<void>>();
    loop.Ask([done] { done->set_value(); });
    done->get_future().wait();
  }

  // On the first loop's thread: gives a connection to the loop with the fewest.
  void Place(size_t listener, File socket, std::string peer, std::string_view address) {
    const Listener& from = shared_.service.options().listeners[listener];
    Connection::Origin origin{listener, std::move(peer), nullptr};
    if (from.credentials != nullptr) {
      origin.tls = from.credentials->Get();
      if (origin.tls == nullptr) return shared_.metrics[listener]->Refused("certificates");
    }
    const auto least = std::min_element(loops_.begin(), loops_.end(),
                                        [](const auto& a, const auto& b) { return a->load() < b->load(); });
    const Guests::Arrival arrival =
        shared_.guests.Arrive(listener, address, static_cast<size_t>(least - loops_.begin()));
    if (arrival.id == 0) return shared_.metrics[listener]->Refused(arrival.limit);
    if (arrival.leaves) loops_[arrival.leaves->loop]->SendAway(arrival.leaves->id);
    origin.guest = arrival.id;
    shared_.connections.fetch_add(1);
    (*least)->Adopt(std::move(socket), std::move(origin));
  }

  ServerShared shared_;
  std::vector<int> ports_;
  std::vector<File> sockets_;
  std::vector<std::unique_ptr<Loop>> loops_;
  mutable std::mutex asking_;  // held while loops are asked, so that they answer: they stop under it
};

Server::Server(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() { Stop(std::chrono::milliseconds(0)); }
absl::Status Server::Start() { return impl_->Start(); }
void Server::Stop(std::chrono::milliseconds grace) { impl_->Stop(grace); }
const std::vector<int>& Server::ports() const { return impl_->ports(); }
std::vector<ConnectionInfo> Server::Connections() const { return impl_->Connections(); }

}  // namespace fairlead::http2
