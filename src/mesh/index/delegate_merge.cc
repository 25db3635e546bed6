#include "mesh/index/delegate_merge.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::mesh {
namespace {

namespace api = istio::networking::v1alpha3;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsSet(const Message& message, const FieldDescriptor* field) {
  return field->is_repeated() ? message.GetReflection()->FieldSize(message, field) > 0
                              : message.GetReflection()->HasField(message, field);
}

// Gives `child` those of the message fields that it has not and `parent` has.
void InheritUnset(const Message& parent, std::initializer_list<int> fields, Message* child) {
  const Reflection* reflection = child->GetReflection();
  for (int number : fields) {
    const FieldDescriptor* field = child->GetDescriptor()->FindFieldByNumber(number);
    if (IsSet(*child, field) || !IsSet(parent, field)) continue;
    if (!field->is_repeated()) {
      reflection->MutableMessage(child, field)->CopyFrom(reflection->GetMessage(parent, field));
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(parent, field); ++i) {
      reflection->AddMessage(child, field)->CopyFrom(reflection->GetRepeatedMessage(parent, field, i));
    }
  }
}

template <typename Map>
void AddMissing(const Map& from, Map* to) {
  for (const auto& entry : from) to->insert(entry);  // leaves keys that are there
}

void PrefixName(const std::string& root, std::string* name) {
  if (name->empty()) {
    *name = root;
  } else if (!root.empty()) {
    *name = root + "-" + *name;
  }
}

bool BothExactOrPrefix(const api::StringMatch& match) {
  return !match.exact().empty() || !match.prefix().empty();
}

// Whether no string, or not surely every string that `leaf` matches, matches `root`.
bool Contradicts(const api::StringMatch& root, const api::StringMatch& leaf) {
  const bool root_regex = !root.regex().empty(), leaf_regex = !leaf.regex().empty();
  if (root_regex && (leaf_regex || BothExactOrPrefix(leaf))) return true;
  if (leaf_regex && BothExactOrPrefix(root)) return true;
  if (!root.exact().empty()) return leaf.exact() != root.exact() || !leaf.prefix().empty();
  if (!root.prefix().empty()) {
    const std::string& narrowed = leaf.prefix().empty() ? leaf.exact() : leaf.prefix();
    if (!narrowed.empty()) return !std::string_view(narrowed).starts_with(root.prefix());
  }
  return true;
}

template <typename Map>
bool AnyContradicts(const Map& root, const Map& leaf) {
  return std::any_of(leaf.begin(), leaf.end(), [&root](const auto& entry) {
    auto it = root.find(entry.first);
    return it != root.end() && Contradicts(it->second, entry.second);
  });
}

bool UriOrPseudoHeaderContradicts(const api::HTTPMatchRequest& root, const api::HTTPMatchRequest& leaf) {
  return (root.has_uri() && leaf.has_uri() && Contradicts(root.uri(), leaf.uri())) ||
         (root.has_scheme() && leaf.has_scheme() && Contradicts(root.scheme(), leaf.scheme())) ||
         (root.has_method() && leaf.has_method() && Contradicts(root.method(), leaf.method())) ||
         (root.has_authority() && leaf.has_authority() && Contradicts(root.authority(), leaf.authority()));
}

bool SourceContradicts(const api::HTTPMatchRequest& root, const api::HTTPMatchRequest& leaf) {
  if (!root.source_namespace().empty() && leaf.source_namespace() != root.source_namespace()) return true;
  for (const auto& [key, value] : leaf.source_labels()) {
    auto it = root.source_labels().find(key);
    if (it != root.source_labels().end() && it->second != value) return true;
  }
  if (root.gateways().empty() || leaf.gateways().empty()) return false;
  if (root.gateways_size() < leaf.gateways_size()) return true;
  return !std::all_of(leaf.gateways().begin(), leaf.gateways().end(), [&root](const std::string& gateway) {
    return std::find(root.gateways().begin(), root.gateways().end(), gateway) != root.gateways().end();
  });
}

bool Contradicts(const api::HTTPMatchRequest& root, const api::HTTPMatchRequest& leaf) {
  return UriOrPseudoHeaderContradicts(root, leaf) || AnyContradicts(root.headers(), leaf.headers()) ||
         AnyContradicts(root.without_headers(), leaf.without_headers()) ||
         AnyContradicts(root.query_params(), leaf.query_params()) ||
         root.ignore_uri_case() != leaf.ignore_uri_case() ||
         (root.port() > 0 && leaf.port() > 0 && root.port() != leaf.port()) || SourceContradicts(root, leaf);
}

api::HTTPMatchRequest Combine(const api::HTTPMatchRequest& root, const api::HTTPMatchRequest& leaf) {
  using Match = api::HTTPMatchRequest;
  Match both = leaf;
  PrefixName(root.name(), both.mutable_name());
  InheritUnset(root,
               {Match::kUriFieldNumber, Match::kSchemeFieldNumber, Match::kMethodFieldNumber,
                Match::kAuthorityFieldNumber},
               &both);
  AddMissing(root.headers(), both.mutable_headers());
  AddMissing(root.without_headers(), both.mutable_without_headers());
  AddMissing(root.query_params(), both.mutable_query_params());
  AddMissing(root.source_labels(), both.mutable_source_labels());
  if (both.port() == 0) both.set_port(root.port());
  if (both.source_namespace().empty()) both.set_source_namespace(root.source_namespace());
  if (both.gateways().empty()) *both.mutable_gateways() = root.gateways();
  if (both.stat_prefix().empty()) both.set_stat_prefix(root.stat_prefix());
  return both;
}

// Replaces the matches of `route` by its combinations with the root's. False where one of them fits none.
bool NarrowMatches(const api::HTTPRoute& root, api::HTTPRoute* route) {
  if (root.match().empty()) return true;
  if (route->match().empty()) {
    *route->mutable_match() = root.match();
    return true;
  }
  google::protobuf::RepeatedPtrField<api::HTTPMatchRequest> combined;
  for (const api::HTTPMatchRequest& leaf : route->match()) {
    const int before = combined.size();
    for (const api::HTTPMatchRequest& match : root.match()) {
      if (!Contradicts(match, leaf)) *combined.Add() = Combine(match, leaf);
    }
    if (combined.size() == before) return false;
  }
  *route->mutable_match() = std::move(combined);
  return true;
}

void InheritActions(const api::HTTPRoute& root, api::HTTPRoute* route) {
  using Route = api::HTTPRoute;
  PrefixName(root.name(), route->mutable_name());
  InheritUnset(root,
               {Route::kRewriteFieldNumber, Route::kDirectResponseFieldNumber, Route::kTimeoutFieldNumber,
                Route::kRetriesFieldNumber, Route::kFaultFieldNumber, Route::kMirrorFieldNumber,
                Route::kMirrorPercentFieldNumber, Route::kMirrorPercentageFieldNumber,
                Route::kCorsPolicyFieldNumber, Route::kMirrorsFieldNumber, Route::kHeadersFieldNumber},
               route);
}

}  // namespace

int AppendDelegateRoutes(const api::HTTPRoute& root, const api::VirtualService& delegate,
                         google::protobuf::RepeatedPtrField<api::HTTPRoute>* routes) {
  int left_out = 0;
  for (const api::HTTPRoute& route : delegate.http()) {
    api::HTTPRoute merged = route;
    if (!NarrowMatches(root, &merged)) {
      ++left_out;
      continue;
    }
    InheritActions(root, &merged);
    *routes->Add() = std::move(merged);
  }
  return left_out;
}

}  // namespace fairlead::mesh
