#include "push/stream/object_subscriptions.h"

#include <utility>

#include "base/strings.h"

namespace fairlead::push {
namespace {

// A type of the table whose rules are those of objects: one may ask for all of them or by name, a response
// holds all, and they refer to nothing.
constexpr xds::TypeId kStandIn = xds::TypeId::kNameTable;
constexpr size_t kMostTypes = 500;  // that one client asks for; there are about a hundred

}  // namespace

ObjectSubscriptions::OfType* ObjectSubscriptions::At(std::string_view url) {
  if (const auto at = subscribed_.find(url); at != subscribed_.end()) return &at->second;
  if (subscribed_.size() >= kMostTypes || url.size() > limits_.name_length) return nullptr;
  gen::Generator* const generator = types_->Find(url);
  xds::StreamCore core(framing_, xds::MaskOf(kStandIn), StrCat(nonce_prefix_, subscribed_.size(), "-"),
                       xds::AnswerWhen::kWhatDiffers, limits_);
  const std::string_view label = generator == nullptr ? "unknown" : url;  // clients do not make up metrics
  return &subscribed_.try_emplace(std::string(url), std::move(core), generator, MetricsOfType(label, label))
              .first->second;
}

std::pair<ObjectSubscriptions::OfType*, xds::RequestVerdict> ObjectSubscriptions::OnRequest(
    const xds::DecodedRequest& request) {
  OfType* const type = At(request.type_url);
  if (type == nullptr)
    return {nullptr, {xds::RequestVerdict::kTooMuch, kStandIn, StrCat("types, of at most ", kMostTypes)}};
  xds::DecodedRequest inner = request;
  inner.type_url = xds::InfoOf(kStandIn).url;
  return {type, type->core.OnRequest(inner)};
}

void ObjectSubscriptions::OnChange() {
  for (auto& [url, type] : subscribed_) type.core.OnChange();
}

void ObjectSubscriptions::OnResend() {
  for (auto& [url, type] : subscribed_) type.core.OnResend();
}

void ObjectSubscriptions::AddReads(std::vector<const mesh::ReadsPtr*>* reads) const {
  for (const auto& [url, type] : subscribed_) type.made.AddReads(reads);
}

std::optional<ObjectSubscriptions::Offer> ObjectSubscriptions::Next(PartCache* parts,
                                                                    const mesh::World& world) {
  for (auto& [url, type] : subscribed_) {
    while (const auto wanted = type.core.Next()) {
      const xds::ResourceSetPtr now =
          type.generator == nullptr ? xds::ResourceSet::Empty()
          : wanted->part            ? parts->MakeSome(*type.generator, world, *wanted->names, &type.made)
                                    : parts->Make(*type.generator, world, wanted->names, &type.made);
      auto response = type.core.Offer(kStandIn, now);
      if (!response) continue;
      response->url = url;
      return Offer{*std::move(response), &type};
    }
  }
  return std::nullopt;
}

std::vector<StreamReport::OfObjects> ObjectSubscriptions::Report() const {
  std::vector<StreamReport::OfObjects> report;
  report.reserve(subscribed_.size());
  for (const auto& [url, type] : subscribed_) {
    report.push_back({url, {type.core.Status(kStandIn), type.times}});
  }
  return report;
}

}  // namespace fairlead::push
