#include "xds/response.h"

#include <array>
#include <functional>
#include <memory>

#include "base/hash.h"
#include "proto/wire.h"
#include "xds/wire.h"

namespace fairlead::xds {
namespace {

// Resources below this size are copied rather than referred to: a slice costs about as much.
constexpr size_t kCopyBelow = 512;
// So many resources of a change and more are kept together as they are sent.
constexpr size_t kShareFrom = 4;

// Collects pieces; consecutive copied bytes share a buffer.
class FrameBuilder {
 public:
  std::string* Copied() {
    if (buffer_ == nullptr) buffer_ = std::make_shared<std::string>();
    return buffer_.get();
  }
  void Share(std::shared_ptr<const void> owner, std::string_view bytes) {
    Flush();
    frame_.push_back({std::move(owner), bytes});
  }
  void Share(const Pieces& pieces) {
    Flush();
    frame_.insert(frame_.end(), pieces.begin(), pieces.end());
  }
  Frame Take() {
    Flush();
    return std::move(frame_);
  }

 private:
  void Flush() {
    if (buffer_ == nullptr || buffer_->empty()) return;
    const std::string_view bytes = *buffer_;
    frame_.push_back({std::move(buffer_), bytes});
    buffer_ = nullptr;
  }

  Frame frame_;
  std::shared_ptr<std::string> buffer_;
};

// The bytes of a packed resource.
struct UnpackedResource {
  ResourcePtr resource;
  std::string bytes;
};

// Those that are sent a resource at the same time, as a change of it makes them be, share what is unpacked.
std::shared_ptr<const UnpackedResource> Unpack(const ResourcePtr& resource) {
  static thread_local std::array<std::weak_ptr<const UnpackedResource>, 8> recent;
  std::weak_ptr<const UnpackedResource>& place =
      recent[std::hash<ResourcePtr>()(resource) / 64 % recent.size()];
  if (auto unpacked = place.lock(); unpacked != nullptr && unpacked->resource == resource) return unpacked;
  auto unpacked =
      std::make_shared<const UnpackedResource>(UnpackedResource{resource, resource->any.Unpacked()});
  place = unpacked;
  return unpacked;
}

// The fields that both variants number alike.
void AppendHeader(std::string_view url, std::string_view version, std::string_view nonce, std::string* out) {
  AppendString(1, version, out);
  AppendString(4, url, out);
  AppendString(5, nonce, out);
}

// DeltaDiscoveryResponse.removed_resources
template <typename Names>
void AppendRemoved(Framing framing, const Names& names, std::string* out) {
  if (framing != Framing::kDelta) return;
  for (const auto& name : names) AppendString(6, name, out);
}

// ControlPlane, whose only field is its identifier.
void AppendControlPlane(Framing framing, std::string_view identifier, std::string* out) {
  if (identifier.empty()) return;
  proto::AppendLength(framing == Framing::kDelta ? 7 : 6, StringFieldSize(1, identifier.size()), out);
  AppendString(1, identifier, out);
}

}  // namespace

size_t Response::ResourceCount() const {
  size_t count = resources.size();
  for (const ResourceListPtr& list : lists) count += list->size();
  return count;
}

Frame Encode(Framing framing, const Response& response) {
  FrameBuilder builder;
  const std::string_view url = response.url.empty() ? InfoOf(response.type).url : response.url;
  AppendHeader(url, response.version, response.nonce, builder.Copied());
  AppendRemoved(framing, response.removed, builder.Copied());
  for (const ResourceListPtr& list : response.lists) builder.Share(*list->Body(framing));
  if (response.resources.size() >= kShareFrom) {
    builder.Share(*BodyOfChange(framing, response.resources));
    return builder.Take();
  }
  for (const ResourcePtr& resource : response.resources) {
    AppendResourcePrefix(framing, *resource, builder.Copied());
    if (resource->any.size() < kCopyBelow) {
      resource->any.AppendTo(builder.Copied());
    } else if (resource->any.packed()) {
      const auto unpacked = Unpack(resource);
      builder.Share(unpacked, unpacked->bytes);
    } else {
      builder.Share(resource, resource->any.plain());
    }
  }
  return builder.Take();
}

Frame Encode(Framing framing, const PlainResponse& response) {
  FrameBuilder builder;
  AppendHeader(response.type_url, response.version, response.nonce, builder.Copied());
  AppendRemoved(framing, response.removed, builder.Copied());
  AppendControlPlane(framing, response.control_plane, builder.Copied());
  for (const PlainResource& plain : response.resources) {
    const cache::Resource resource{Interned(plain.name), StableHash(plain.any), plain.any};
    AppendResourcePrefix(framing, resource, builder.Copied());
    builder.Copied()->append(plain.any);
  }
  return builder.Take();
}

}  // namespace fairlead::xds
