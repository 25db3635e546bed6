#ifndef FAIRLEAD_XDS_BODY_H_
#define FAIRLEAD_XDS_BODY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/resource.h"

namespace fairlead::xds {

using cache::ResourcePtr;

// How resources stand in a response: DiscoveryResponse holds the Any as it is, DeltaDiscoveryResponse wraps
// it.
enum class Framing : uint8_t { kStateOfTheWorld, kDelta };

// A piece of an encoded message; `owner` keeps the bytes alive.
struct Piece {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
};
using Pieces = std::vector<Piece>;
size_t SizeOf(const Pieces& pieces);  // in bytes

// Resources as the repeated field `resources` of a response: the small ones and the packed ones copied
// together, the large ones as they are.
Pieces MakeBody(Framing framing, std::span<const ResourcePtr> resources);

// A body that is kept from the second request on, as long as it is in use: many bodies are sent once, and
// others to thousands of clients. Not thread-safe.
class KeptBody {
 public:
  // MakeBody of resources that are always the same.
  std::shared_ptr<const Pieces> Get(Framing framing, std::span<const ResourcePtr> resources);
  // Forgets it if nobody asked since the call before: then it returns how many bytes that were, else nothing.
  std::optional<size_t> DropIdle();

 private:
  std::array<std::shared_ptr<const Pieces>, 2> bodies_;  // by Framing
  bool asked_for_ = false, used_ = false;                // ever; since the last look
};

// MakeBody of the resources that a change makes a client be sent. Most changes make many clients be sent the
// same ones: from the second request on the body is kept, until DropIdleChanges. Thread-safe.
std::shared_ptr<const Pieces> BodyOfChange(Framing framing, const std::vector<ResourcePtr>& resources);
// Forgets what was not asked for since the call before. To be called every second or so. Returns how many
// bytes that were.
size_t DropIdleChanges();

// The encoding of one resource within a response's field `resources`, in two halves: what stands before
// Resource::any. Appended to `out`.
void AppendResourcePrefix(Framing framing, const cache::Resource& resource, std::string* out);

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_BODY_H_
