#include "push/stream/rejections.h"

#include <algorithm>
#include <tuple>

#include "base/strings.h"
#include "base/utf8.h"

namespace fairlead::push {
namespace {

constexpr size_t kLongestReason = 400, kLongestError = 2000;

bool Known(const xds::ResourcePtr& resource) { return resource != nullptr && !resource->any.empty(); }

// Those of `all` that `others` lack, in this version or in any.
cache::Origins Lacking(const cache::Origins& all, const cache::Origins& others, bool any_version) {
  cache::Origins lacking;
  for (const cache::ResourceOrigin& origin : all) {
    const bool has = std::any_of(others.begin(), others.end(), [&](const cache::ResourceOrigin& other) {
      return any_version ? origin.key == other.key : origin == other;
    });
    if (!has) lacking.push_back(origin);
  }
  return lacking;
}

RejectedResource Describe(const xds::Refused& refused, bool unknown) {
  using Running = RejectedResource::Running;
  RejectedResource out;
  out.name = refused.wanted->name.str();
  out.wanted_version = refused.wanted->hash;
  out.origins = refused.wanted->origins;
  if (refused.has != nullptr) out.running_version = refused.has->hash;
  if (Known(refused.has)) {
    out.running = Running::kOlder;
    out.missing = Lacking(out.origins, refused.has->origins, /*any_version=*/false);
    out.lingering = Lacking(refused.has->origins, out.origins, /*any_version=*/true);
  } else {
    out.running = refused.has != nullptr || unknown ? Running::kUnknown : Running::kNothing;
    out.missing = out.origins;
  }
  return out;
}

const RejectedResource* Find(const Rejection* rejection, std::string_view name) {
  if (rejection == nullptr) return nullptr;
  for (const RejectedResource& one : rejection->resources) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// Who is at fault stays so while the proxy says the same of it, whatever else changes meanwhile.
void GoOn(const RejectedResource* before, WallTime now, RejectedResource* resource) {
  resource->since = before == nullptr ? now : before->since;
  if (before != nullptr && before->reason == resource->reason) {
    for (const cache::ResourceOrigin& origin : resource->missing) {
      const bool was =
          std::any_of(before->changed.begin(), before->changed.end(),
                      [&](const cache::ResourceOrigin& other) { return other.key == origin.key; });
      if (was) resource->changed.push_back(origin);
    }
  }
  if (resource->changed.empty()) resource->changed = resource->missing;
}

void SetReason(const ProxyAnswer& answer, const std::vector<xds::NamedReason>& named,
               const Rejection& rejection, const RejectedResource* before, RejectedResource* resource) {
  for (const xds::NamedReason& one : named) {
    if (one.name != resource->name) continue;
    resource->reason = OneLine(one.reason, kLongestReason);
    return;
  }
  const bool kept = before != nullptr && (!answer.rejected || !named.empty() ||
                                          before->wanted_version == resource->wanted_version);
  resource->reason = kept ? before->reason : OneLine(rejection.error, kLongestReason);
  resource->unnamed = kept ? before->unnamed : true;
}

Rejection Describe(const ProxyAnswer& answer, std::vector<xds::Refused> refused, const Rejection* before) {
  const WallTime now = std::chrono::system_clock::now();
  Rejection out{answer.stream,
                answer.proxy,
                std::string(answer.track),
                answer.type,
                before == nullptr ? now : before->since,
                {},
                {},
                0};
  out.error = answer.rejected     ? OneLine(answer.error, kLongestError)
              : before != nullptr ? before->error
                                  : std::string();
  std::vector<xds::NamedReason> named;
  if (answer.rejected) {
    StringSet names;
    for (const xds::Refused& one : refused) names.insert(one.wanted->name.str());
    named = xds::ReasonsByName(answer.error, [&](std::string_view name) { return names.contains(name); });
  }
  if (refused.size() > Rejections::kMostResources) {
    out.more = refused.size() - Rejections::kMostResources;
    refused.resize(Rejections::kMostResources);
  }
  for (const xds::Refused& one : refused) {
    RejectedResource resource = Describe(one, answer.acceptance.unknown());
    const RejectedResource* const earlier = Find(before, resource.name);
    SetReason(answer, named, out, earlier, &resource);
    GoOn(earlier, now, &resource);
    out.resources.push_back(std::move(resource));
  }
  return out;
}

}  // namespace

void Rejections::OnAnswer(const ProxyAnswer& answer) {
  const bool behind = answer.acceptance.Behind();
  if (!answer.rejected && !behind && empty()) return;
  std::vector<xds::Refused> refused;
  if (behind && answer.sent != nullptr) refused = answer.acceptance.RefusedOf(*answer.sent);
  {
    std::lock_guard lock(mutex_);
    const auto at = rejections_.find({answer.stream, answer.type});
    const bool known = at != rejections_.end();
    if (refused.empty() && !answer.rejected) {
      if (!known) return;
      rejections_.erase(at);
    } else {
      Rejection now = Describe(answer, std::move(refused), known ? &at->second : nullptr);
      rejections_.insert_or_assign({answer.stream, answer.type}, std::move(now));
    }
    count_ = rejections_.size();
  }
  changed_();
}

void Rejections::OnClosed(uint64_t stream) {
  if (empty()) return;
  {
    std::lock_guard lock(mutex_);
    const size_t gone =
        std::erase_if(rejections_, [stream](const auto& one) { return one.first.first == stream; });
    if (gone == 0) return;
    count_ = rejections_.size();
  }
  changed_();
}

std::vector<Rejection> Rejections::Current() const {
  std::vector<Rejection> current;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [key, rejection] : rejections_) current.push_back(rejection);
  }
  std::sort(current.begin(), current.end(), [](const Rejection& a, const Rejection& b) {
    return std::tie(a.proxy->id, a.type, a.stream) < std::tie(b.proxy->id, b.type, b.stream);
  });
  return current;
}

std::string OneLine(std::string_view text, size_t most) {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr std::string_view kCut = " …";
  std::string out;
  for (const char c : CleanUtf8(Trim(text), most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out.append("; ");
    } else if (byte < 0x20 || byte == 0x7f) {
      out.append({'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]});
    } else {
      out.push_back(c);
    }
  }
  if (out.size() > most || text.size() > most) out = StrCat(CleanUtf8(out, most - kCut.size()), kCut);
  return out;
}

}  // namespace fairlead::push
