#ifndef FAIRLEAD_HTTP2_GUESTS_H_
#define FAIRLEAD_HTTP2_GUESTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fairlead::http2 {

// What a connection shows.
enum class Standing : uint8_t {
  kSilent,  // no stream, or none that has sent a whole message
  kHeard,   // a stream that has
  kProven,  // an identity: the peer's certificate, or a token that somebody has checked
};

// Who may stay when there is not room for all: the connections of a server, without their sockets.
//
// Each listener has a share that others leave free, half of all connections in equal parts. A newcomer for
// whom there is no room takes the place of the silent connection that is there longest; where none is silent,
// of the oldest one without identity at the address that has most of them, if those are more than the
// newcomer's address has. On a listener with TLS, where newcomers may have an identity, the oldest without
// one goes in the end. Who has an identity stays. Thread-safe.
class Guests {
 public:
  struct Options {
    size_t most = SIZE_MAX;              // connections of all listeners
    size_t most_per_address = SIZE_MAX;  // of one listener, without identity
    std::vector<bool> identifies;        // a listener each: whether its clients may prove who they are
  };
  explicit Guests(Options options);

  struct Leaving {
    size_t loop;
    uint64_t id;
  };
  struct Arrival {
    uint64_t id = 0;                     // 0: it may not stay
    const char* limit = "";              // then: which limit was reached, "connections" or "address"
    std::optional<Leaving> leaves = {};  // who is to go; forgotten already
  };
  // `address`: the client's, as AddressKey has it; "": that limit is none of its. `loop` is noted.
  Arrival Arrive(size_t listener, std::string_view address, size_t loop);
  // What it shows now; identities last. Nothing for those that are forgotten.
  void Note(uint64_t id, Standing standing);
  void Leave(uint64_t id);

 private:
  struct Address {
    size_t count = 0;                  // without identity
    std::set<uint64_t> silent, heard;  // the oldest first
  };
  using Addresses = std::map<std::string, Address, std::less<>>;
  struct Room {  // of a listener
    size_t count = 0;
    std::set<uint64_t> silent, heard;
    Addresses addresses;
    std::set<std::pair<size_t, const std::string*>> ranks;  // addresses by their counts
  };
  struct Guest {
    size_t listener, loop;
    Addresses::iterator address;
    Standing standing = Standing::kSilent;
  };

  bool HasRoomFor(size_t listener) const;
  std::optional<uint64_t> WhoLeaves(size_t listener, size_t at_address) const;
  std::optional<uint64_t> OldestOf(std::set<uint64_t> Room::*kind, size_t listener) const;
  bool MayLose(size_t room, size_t listener) const;
  void CountAddress(Room* room, Addresses::iterator address, int change);
  void Place(uint64_t id, const Guest& guest, bool there);
  Leaving Forget(uint64_t id);

  const Options options_;
  const size_t share_;  // of each listener
  std::mutex mutex_;
  uint64_t last_ = 0;
  std::vector<Room> rooms_;
  std::unordered_map<uint64_t, Guest> guests_;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_GUESTS_H_
