#ifndef FAIRLEAD_FETCH_TRANSFER_H_
#define FAIRLEAD_FETCH_TRANSFER_H_

#include <curl/curl.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "fetch/client.h"
#include "fetch/gate.h"

namespace fairlead::fetch {

// What all exchanges of a client share; outlives them.
struct Exchanges {
  Gate gate;
  std::atomic<uint64_t> connections{0};   // opened so far
  std::vector<Client::Handle> connected;  // since the loop looked: their time limits changed
  uint64_t bytes = 0;                     // of bodies, since the loop looked
};

// An exchange as libcurl runs it: what it is set to, what of its answer was taken, what the observer was told
// and what waits while it pauses. Made on any thread, then its loop's alone.
class Transfer {
 public:
  struct Target {
    Observer* observer;
    std::unique_ptr<Observer> owned;  // null, or the same
  };
  // `ready`: an error ends the exchange before it begins.
  Transfer(Exchanges& exchanges, Client::Handle handle, Request request, Target target, absl::Status ready,
           std::string token);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Client::Handle handle() const { return handle_; }
  const std::shared_ptr<Gate::Pass>& pass() const { return pass_; }
  CURL* curl() const { return curl_; }
  bool own_connection() const { return own_connection_; }  // which no other may have

  // Where it looks for a connection that others may have; nothing where it opens its own.
  std::optional<size_t> Place() const;
  // This side's port of the connection that it may share; 0: it has none, or none any more.
  long SharedPort() const;  // NOLINT: libcurl's type
  // What libcurl has to say on the connection is said.
  void Flush();

  // Makes what curl() gives. An error: nothing is to be sent.
  absl::Status Prepare();
  // When it is to be ended if nothing happens before.
  std::optional<Clock::time_point> Deadline() const;
  // Which time limit is over.
  absl::Status Late(Clock::time_point now) const;

  // The outcome that libcurl's result means.
  absl::Status StatusOf(CURLcode result) const;
  // It is over for libcurl; the observer hears of it as soon as it may. True: it is over for good.
  bool End(absl::Status status);
  // What waited goes on. True: it is over for good.
  bool Resume();

  // The loop's: how it is found again by its deadline.
  std::optional<Clock::time_point> armed;

 private:
  static size_t TakeBody(char* data, size_t size, size_t count, void* self);
  static size_t TakeHeader(char* data, size_t size, size_t count, void* self);
  static curl_socket_t Open(void* self, curlsocktype, curl_sockaddr* address);
  static int Connected(void* self, char* address, char*, int port, int);
  size_t Take(std::string_view bytes);
  size_t Hold(std::string_view bytes);
  size_t BreakOff();
  void AddHeader(std::string_view line);
  bool LeadsOn() const;
  bool ShowHeaders();
  bool Show(std::string_view bytes);
  bool ShowHeld();
  bool Done();
  bool IsBlocked(const std::optional<IpAddress>& address, int port);
  bool IsMultiplexed() const;
  std::optional<std::chrono::seconds> RetryAfter() const;

  absl::Status SetTarget();
  void SetRequest();
  void SetTls();
  void SetConnection();
  void SetCallbacks();
  template <class Value>
  void Set(CURLoption option, Value value) {
    curl_easy_setopt(curl_, option, value);
  }

  Exchanges& exchanges_;
  const Client::Handle handle_;
  const Request request_;
  const Target target_;
  const absl::Status ready_;
  const std::string token_;
  const std::shared_ptr<Gate::Pass> pass_;
  const bool own_connection_;
  const Clock::time_point started_;

  CURL* curl_ = nullptr;
  curl_slist *headers_to_send_ = nullptr, *connect_to_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> detail_{};
  std::optional<Clock::time_point> heard_;  // of the server last; nothing before the request is sent
  Headers headers_;
  size_t header_bytes_ = 0;
  int status_ = 0;
  bool shown_ = false;  // the headers
  uint64_t body_bytes_ = 0;
  bool too_long_ = false, too_much_held_ = false;
  std::string blocked_;   // the address that must not be asked
  std::string held_;      // bytes for an observer that pauses
  bool stopped_ = false;  // libcurl waits for Resume
  std::optional<Outcome> outcome_;
};

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_TRANSFER_H_
