#include "xds/response.h"

#include "xds/wire.h"

namespace fairlead::xds {
namespace {

// Resources below this size are copied rather than referred to: a slice costs about as much.
constexpr size_t kCopyBelow = 512;

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

void AppendHeader(Framing framing, const Response& response, std::string* out) {
  const std::string_view url = InfoOf(response.type).url;
  if (framing == Framing::kDelta) {
    AppendString(1, response.version, out);  // system_version_info
    AppendString(4, url, out);
    AppendString(5, response.nonce, out);
    for (const Interned& name : response.removed) AppendString(6, name, out);
  } else {
    AppendString(1, response.version, out);
    AppendString(4, url, out);
    AppendString(5, response.nonce, out);
  }
}

}  // namespace

size_t Response::ResourceCount() const {
  size_t count = resources.size();
  for (const ResourceListPtr& list : lists) count += list->size();
  return count;
}

Frame Encode(Framing framing, const Response& response) {
  FrameBuilder builder;
  AppendHeader(framing, response, builder.Copied());
  for (const ResourceListPtr& list : response.lists) {
    std::shared_ptr<const std::string> body = list->Body(framing);
    const std::string_view bytes = *body;
    builder.Share(std::move(body), bytes);
  }
  for (const ResourcePtr& resource : response.resources) {
    AppendResourcePrefix(framing, *resource, builder.Copied());
    if (resource->any.size() < kCopyBelow) {
      builder.Copied()->append(resource->any);
    } else {
      builder.Share(resource, resource->any);
    }
  }
  return builder.Take();
}

size_t SizeOf(const Frame& frame) {
  size_t size = 0;
  for (const Piece& piece : frame) size += piece.bytes.size();
  return size;
}

}  // namespace fairlead::xds
