#include <google/protobuf/arena.h>

#include <algorithm>
#include <string>

#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/patch/apply.h"
#include "gen/patch/filter_merge.h"
#include "gen/patch/list_edits.h"
#include "gen/patch/listener_match.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::patch {
namespace {

using envoy::config::listener::v3::Filter;
using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::Listener;
using envoy::config::listener::v3::ListenerFilter;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter;
using istio::networking::v1alpha3::EnvoyFilter;

constexpr std::string_view kConnectionManager = "envoy.filters.network.http_connection_manager";

// The connection manager of a filter; false where there is none in it.
bool Unpack(const Filter& filter, HttpConnectionManager* out) {
  return filter.typed_config().Is<HttpConnectionManager>() &&
         out->ParseFromString(filter.typed_config().value());
}

class ListenerPatcher {
 public:
  ListenerPatcher(const PatchSet& patches, Listener* listener, PatchOutcome* outcome)
      : patches_(patches), listener_(*listener), outcome_(*outcome) {}

  // False: the listener is removed.
  bool Run() {
    if (patches_.side() == Side::kInbound) PatchInlineRoutes();
    if (!PatchWhole()) return false;
    PatchListenerFilters();
    PatchChains();
    return true;
  }

 private:
  // Calls apply(patch) -> whether it changed something, for each that is not left out for an earlier failure.
  template <typename Apply>
  void ForEach(ApplyTo apply_to, Apply&& apply) {
    for (const Patch* patch : patches_.Of(apply_to)) {
      if (!outcome_.Skips(*patch)) outcome_.Note(*patch, apply(*patch));
    }
  }

  bool HasRoutePatches() const {
    return patches_.Has(EnvoyFilter::ROUTE_CONFIGURATION) || patches_.Has(EnvoyFilter::VIRTUAL_HOST) ||
           patches_.Has(EnvoyFilter::HTTP_ROUTE);
  }

  void PatchInlineRoutes() {
    if (!HasRoutePatches()) return;
    for (FilterChain& chain : *listener_.mutable_filter_chains()) {
      for (Filter& filter : *chain.mutable_filters()) {
        google::protobuf::Arena arena;
        auto* manager = google::protobuf::Arena::CreateMessage<HttpConnectionManager>(&arena);
        if (!Unpack(filter, manager) || !manager->has_route_config()) continue;
        PatchRoutes(patches_, nullptr, manager->mutable_route_config(), &outcome_);
        proto::Pack(*manager, filter.mutable_typed_config());
      }
    }
  }

  bool PatchWhole() {
    bool kept = true;
    ForEach(EnvoyFilter::LISTENER, [&](const Patch& patch) {
      if (!kept || !MatchesListener(patch, listener_)) return false;
      if (patch.Removes()) kept = false;
      if (patch.Merges()) Merge(patch.Value<Listener>(), ListsOf(patch), &listener_);
      return patch.Removes() || patch.Merges();
    });
    return kept;
  }

  void PatchListenerFilters() {
    auto* filters = listener_.mutable_listener_filters();
    ForEach(EnvoyFilter::LISTENER_FILTER, [&](const Patch& patch) {
      if (!MatchesListener(patch, listener_)) return false;
      if (patch.operation == EnvoyFilter::Patch::MERGE) return MergeListenerFilters(patch);
      return EditFilters<ListenerFilter>(
          patch, NamesListenerFilter(patch),
          [&](const ListenerFilter& filter) { return MatchesListenerFilter(patch, filter.name()); }, filters);
    });
  }

  // As Istio does, into every filter of the listener, whichever the match names; names stay.
  bool MergeListenerFilters(const Patch& patch) {
    if (!NamesListenerFilter(patch)) return false;
    const auto& from = patch.Value<ListenerFilter>();
    bool merged = false;
    for (ListenerFilter& filter : *listener_.mutable_listener_filters()) {
      if (!filter.has_typed_config()) continue;
      if (from.has_typed_config() &&
          !MergeConfig(patch, from.typed_config(), filter.mutable_typed_config(), &outcome_)) {
        return merged;
      }
      merged = true;
    }
    return merged;
  }

  // A chain that has no filters is left out, unless they were removed one by one.
  void PatchChains() {
    auto* chains = listener_.mutable_filter_chains();
    std::vector<bool> kept;
    for (FilterChain& chain : *chains) kept.push_back(!chain.filters().empty() && PatchChain(&chain));
    if (listener_.has_default_filter_chain() && !listener_.default_filter_chain().filters().empty() &&
        !PatchChain(listener_.mutable_default_filter_chain())) {
      listener_.clear_default_filter_chain();
    }
    ForEach(EnvoyFilter::FILTER_CHAIN, [&](const Patch& patch) {
      if (!patch.Adds() || !MatchesListener(patch, listener_)) return false;
      *chains->Add() = patch.Value<FilterChain>();
      kept.push_back(!chains->rbegin()->filters().empty());
      return true;
    });
    size_t next = 0;
    RemoveMatching([&](const FilterChain&) { return !kept[next++]; }, chains);
  }

  // False: the chain is removed.
  bool PatchChain(FilterChain* chain) {
    bool kept = true;
    ForEach(EnvoyFilter::FILTER_CHAIN, [&](const Patch& patch) {
      if (!kept || !Concerns(patch, *chain)) return false;
      if (patch.Removes()) kept = false;
      if (patch.Merges()) MergeChain(patch, chain);
      return patch.Removes() || patch.Merges();
    });
    if (kept) PatchNetworkFilters(chain);
    return kept;
  }

  bool Concerns(const Patch& patch, const FilterChain& chain) const {
    return MatchesListener(patch, listener_) && MatchesChain(patch, listener_, chain);
  }

  // A transport socket that has the name of the chain's is merged into it, and nothing else is then.
  void MergeChain(const Patch& patch, FilterChain* chain) {
    const auto& from = patch.Value<FilterChain>();
    if (from.has_transport_socket() && chain->has_transport_socket() &&
        from.transport_socket().name() == chain->transport_socket().name()) {
      return MergeSocket(patch, from.transport_socket(), chain->mutable_transport_socket(), &outcome_);
    }
    Merge(from, ListsOf(patch), chain);
  }

  void PatchNetworkFilters(FilterChain* chain) {
    ForEach(EnvoyFilter::NETWORK_FILTER, [&](const Patch& patch) {
      return Concerns(patch, *chain) &&
             EditFilters<Filter>(
                 patch, NamesNetworkFilter(patch),
                 [&](const Filter& filter) { return MatchesNetworkFilter(patch, filter.name()); },
                 chain->mutable_filters());
    });
    for (Filter& filter : *chain->mutable_filters()) {
      ForEach(EnvoyFilter::NETWORK_FILTER, [&](const Patch& patch) {
        return patch.operation == EnvoyFilter::Patch::MERGE && Concerns(patch, *chain) &&
               MatchesNetworkFilter(patch, filter.name()) && MergeFilter(patch, &filter, &outcome_);
      });
      if (filter.name() == kConnectionManager) PatchConnectionManager(*chain, &filter);
    }
  }

  bool Concerns(const Patch& patch, const FilterChain& chain, const Filter& manager) const {
    return Concerns(patch, chain) && MatchesNetworkFilter(patch, manager.name());
  }

  void PatchConnectionManager(const FilterChain& chain, Filter* filter) {
    const auto& all = patches_.Of(EnvoyFilter::HTTP_FILTER);
    const bool concerned = std::any_of(all.begin(), all.end(),
                                       [&](const Patch* patch) { return Concerns(*patch, chain, *filter); });
    google::protobuf::Arena arena;
    auto* manager = google::protobuf::Arena::CreateMessage<HttpConnectionManager>(&arena);
    if (!concerned || !Unpack(*filter, manager)) return;
    PatchHttpFilters(chain, *filter, manager->mutable_http_filters());
    proto::Pack(*manager, filter->mutable_typed_config());
  }

  void PatchHttpFilters(const FilterChain& chain, const Filter& manager, List<HttpFilter>* filters) {
    ForEach(EnvoyFilter::HTTP_FILTER, [&](const Patch& patch) {
      return Concerns(patch, chain, manager) &&
             EditFilters<HttpFilter>(
                 patch, NamesHttpFilter(patch),
                 [&](const HttpFilter& filter) { return MatchesHttpFilter(patch, filter.name()); }, filters);
    });
    for (HttpFilter& filter : *filters) {
      ForEach(EnvoyFilter::HTTP_FILTER, [&](const Patch& patch) {
        return patch.operation == EnvoyFilter::Patch::MERGE && Concerns(patch, chain, manager) &&
               MatchesHttpFilter(patch, filter.name()) && MergeFilter(patch, &filter, &outcome_);
      });
    }
  }

  const PatchSet& patches_;
  Listener& listener_;
  PatchOutcome& outcome_;
};

}  // namespace

bool PatchListener(const PatchSet& patches, Listener* listener, PatchOutcome* outcome) {
  return ListenerPatcher(patches, listener, outcome).Run();
}

std::vector<const Listener*> AddedListeners(const PatchSet& patches, PatchOutcome* outcome) {
  std::vector<const Listener*> added;
  for (const Patch* patch : patches.Of(EnvoyFilter::LISTENER)) {
    if (!patch->Adds() || outcome->Skips(*patch)) continue;
    added.push_back(&patch->Value<Listener>());
    outcome->Note(*patch, true);
  }
  return added;
}

}  // namespace fairlead::gen::patch
