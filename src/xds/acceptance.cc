#include "xds/acceptance.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace fairlead::xds {
namespace {

constexpr size_t kMostAwaited = 4;

const ResourceSet& OrEmpty(const ResourceSetPtr& set) {
  return set == nullptr ? *ResourceSet::Empty() : *set;
}

// `set`, but those of some names as they are in `from`, or not at all.
ResourceSetPtr WithOlder(const ResourceSet& set, const StringSet& names, const ResourceSet& from) {
  std::vector<ResourcePtr> older;
  for (const std::string& name : names) {
    if (set.Find(name) == nullptr) continue;
    if (ResourcePtr had = from.Find(name)) older.push_back(std::move(had));
  }
  // The order makes sets that are equal one object.
  std::sort(older.begin(), older.end(),
            [](const ResourcePtr& a, const ResourcePtr& b) { return a->name < b->name; });
  std::vector<ResourceListPtr> parts = Without(set, names)->parts();
  if (!older.empty()) parts.push_back(ResourceList::Of(std::move(older)));
  return ResourceSet::Of(std::move(parts));
}

// "NAME: REASON" at `at` of a text, where something is sent under the name.
std::optional<std::string_view> NameAt(std::string_view text, size_t at,
                                       absl::FunctionRef<bool(std::string_view name)> sent) {
  constexpr size_t kLongestName = 1024;
  const std::string_view rest = text.substr(at, kLongestName);
  const size_t colon = rest.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view name = rest.substr(0, colon);
  return sent(name) ? std::optional(name) : std::nullopt;
}

}  // namespace

void Acceptance::Begin(ResourceSetPtr has, bool unknown) {
  accepted_ = answered_ = std::move(has);
  unknown_ = unknown;
  awaited_.clear();
}

void Acceptance::OnSent(uint64_t nonce, const ResourceSetPtr& sent, const Response& response) {
  Awaited now{nonce, nonce, response.ResourceCount() >= sent->size(), sent, {}};
  if (Behind() && !now.whole) {
    StringSet refused;
    for (const Refused& one : RefusedOf(*sent)) refused.insert(one.wanted->name.str());
    for (const ResourcePtr& resource : response.resources) {
      if (refused.contains(resource->name.str())) now.again.push_back(resource->name);
    }
  }
  awaited_.push_back(std::move(now));
  if (awaited_.size() <= kMostAwaited) return;
  // The first two count as one.
  Awaited& first = awaited_[0];
  Awaited& second = awaited_[1];
  second.first = first.first;
  second.whole |= first.whole;
  second.again.insert(second.again.end(), first.again.begin(), first.again.end());
  awaited_.erase(awaited_.begin());
}

void Acceptance::OnNothingSent(const ResourceSetPtr& sent) {
  if (!awaited_.empty()) {
    awaited_.back().sent = sent;
  } else if (!Behind() && accepted_ != nullptr) {
    accepted_ = answered_ = sent;
  }
}

// Whether the answer ends the wait for a response, with those before it, which the client has passed over.
bool Acceptance::Pop(uint64_t nonce, bool rejected, Awaited* answered) {
  const auto at = std::find_if(awaited_.begin(), awaited_.end(), [nonce](const Awaited& one) {
    return one.first <= nonce && nonce <= one.nonce;
  });
  if (at == awaited_.end() || (!rejected && nonce != at->nonce)) return false;
  ++answers_;
  *answered = std::move(*at);
  for (auto one = awaited_.begin(); one != at; ++one) answered->whole |= one->whole;
  awaited_.erase(awaited_.begin(), at + 1);
  return true;
}

// The names of what was new to the client in a response.
StringSet Acceptance::NewIn(const Awaited& response) const {
  StringSet names;
  const ResourceSetPtr& before = response.whole ? accepted_ : answered_;
  const DifferencePtr difference = Compare(OrEmpty(before), *response.sent);
  for (const ResourcePtr& resource : difference->changed) names.insert(resource->name.str());
  for (const Interned& name : response.again) names.insert(name.str());
  return names;
}

void Acceptance::Take(const Awaited& response, const StringSet& in_it, const StringSet& refused) {
  StringSet older = refused;
  if (!response.whole && Behind()) {
    const DifferencePtr lacks = Compare(OrEmpty(accepted_), OrEmpty(answered_));
    for (const ResourcePtr& resource : lacks->changed) {
      if (!in_it.contains(resource->name.str())) older.insert(resource->name.str());
    }
  }
  answered_ = response.sent;
  accepted_ = older.empty() ? answered_ : WithOlder(*answered_, older, OrEmpty(accepted_));
}

void Acceptance::OnAck(uint64_t nonce) {
  Awaited response;
  if (!Pop(nonce, /*rejected=*/false, &response)) return;
  if (!Behind() || response.whole) {
    accepted_ = answered_ = std::move(response.sent);
  } else {
    Take(response, NewIn(response), {});
  }
  if (!Behind()) unknown_ = false;
}

void Acceptance::OnNack(uint64_t nonce, std::string_view error) {
  Awaited response;
  if (!Pop(nonce, /*rejected=*/true, &response)) return;
  const StringSet in_it = NewIn(response);
  StringSet refused;
  for (const NamedReason& one :
       ReasonsByName(error, [&](std::string_view name) { return in_it.contains(name); }))
    refused.insert(one.name);
  Take(response, in_it, refused.empty() ? in_it : refused);
}

std::vector<Refused> Acceptance::RefusedOf(const ResourceSet& sent) const {
  std::vector<Refused> refused;
  if (!Behind()) return refused;
  const ResourceSet& accepted = OrEmpty(accepted_);
  const DifferencePtr lacks = Compare(accepted, OrEmpty(answered_));
  for (const ResourcePtr& wanted : lacks->changed) {
    if (sent.Find(wanted->name) != nullptr) refused.push_back({wanted, accepted.Find(wanted->name)});
  }
  std::sort(refused.begin(), refused.end(),
            [](const Refused& a, const Refused& b) { return a.wanted->name < b.wanted->name; });
  return refused;
}

std::vector<NamedReason> ReasonsByName(std::string_view error,
                                       absl::FunctionRef<bool(std::string_view name)> sent) {
  constexpr std::string_view kStart = "(s) ";
  const size_t start = error.find(kStart);
  if (start == std::string_view::npos) return {};
  std::vector<NamedReason> reasons;
  size_t reason = 0;  // where that of the last name begins
  const auto end_last = [&](size_t at) {
    if (!reasons.empty()) reasons.back().reason = Trim(error.substr(reason, at - reason));
  };
  for (size_t at = start + kStart.size(), before = start; at < error.size();) {
    if (const auto name = NameAt(error, at, sent)) {
      end_last(before);
      reasons.push_back({std::string(*name), ""});
      at = reason = at + name->size() + 2;
    }
    const size_t line = error.find('\n', at), comma = error.find(", ", at);
    before = std::min(line, comma);
    if (before == std::string_view::npos) break;
    at = before + (before == comma ? 2 : 1);
  }
  end_last(error.size());
  return reasons;
}

}  // namespace fairlead::xds
