#include "fetch/client.h"

#include <utility>

#include "fetch/loop.h"

namespace fairlead::fetch {

Client::Client() : Client(Options{}) {}
Client::Client(Options options) : loop_(std::make_unique<Loop>(options)) {}
Client::~Client() = default;

Client& Client::Shared() {
  static auto* shared = new Client;
  return *shared;
}

Client::Handle Client::Start(Request request, Observer* observer) {
  return loop_->Start(std::move(request), {observer, nullptr});
}

Client::Handle Client::Start(Request request, std::unique_ptr<Observer> observer) {
  Observer* const target = observer.get();
  return loop_->Start(std::move(request), {target, std::move(observer)});
}

void Client::Cancel(Handle handle) { loop_->Cancel(handle); }
void Client::Pause(Handle handle) { loop_->Pause(handle); }
void Client::Resume(Handle handle) { loop_->Resume(handle); }
uint64_t Client::connections_opened() const { return loop_->connections(); }

}  // namespace fairlead::fetch
