#ifndef FAIRLEAD_TESTS_FUZZ_STREAM_MESSAGES_H_
#define FAIRLEAD_TESTS_FUZZ_STREAM_MESSAGES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "tests/fuzz/stream_mesh.h"
#include "xds/response.h"

// Requests and responses as a client has them, and their bytes.
namespace fairlead::fuzz {

struct Asked {
  std::string url;
  Names subscribe;                                          // state of the world: all names
  Names unsubscribe;                                        // delta
  std::vector<std::pair<std::string, std::string>> claims;  // delta: initial_resource_versions
  std::string nonce;
  bool rejected = false;
  bool locators = false;  // names are sent as ResourceLocator
};
std::string Encode(xds::Framing framing, const Asked& asked);
std::string ToText(const Asked& asked);

// Content by name.
using Contents = std::map<std::string, Hash128>;

struct Seen {
  xds::TypeId type = xds::TypeId::kCluster;
  std::string version, nonce;
  Contents resources;
  std::set<std::string> removed;
};
// Ends the process where the bytes are no response, or one that contradicts itself.
Seen Decode(xds::Framing framing, const std::string& bytes);
std::string ToText(const Seen& seen);

// What a client has said that it wants of a type; the protocol document's rules, for either side.
struct Subscription {
  bool opened = false;    // there was a request
  bool wildcard = false;  // everything
  bool named = false;     // state of the world: names were given at some time
  std::set<std::string> names;

  bool Any() const { return wildcard || !names.empty(); }
  bool Asks(const std::string& name) const { return wildcard || names.contains(name); }
  void Replace(const Names& asked, bool root);                  // state of the world
  void Change(const Names& add, const Names& drop, bool root);  // delta
};

}  // namespace fairlead::fuzz

#endif  // FAIRLEAD_TESTS_FUZZ_STREAM_MESSAGES_H_
