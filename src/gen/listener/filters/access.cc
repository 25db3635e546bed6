#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "gen/security/access_filters.h"

namespace fairlead::gen::listener {
namespace {

// A workload's own requests are its own business.
bool LetsIn(const FilterRequest& request) { return request.options.traffic != TrafficClass::kOutbound; }

void AddAccess(const FilterRequest& request, bool custom, HttpFilters* out) {
  if (!LetsIn(request)) return;
  for (auto& filter : security::BuildHttpAccess(request.traits.access.authorization, {.custom = custom})) {
    *out->Add() = std::move(filter);
  }
}

}  // namespace

void AddCustomAccess(const FilterRequest& request, HttpFilters* out) {
  AddAccess(request, /*custom=*/true, out);
}

void AddLocalAccess(const FilterRequest& request, HttpFilters* out) {
  AddAccess(request, /*custom=*/false, out);
}

void AddRequestAuthentication(const FilterRequest& request, HttpFilters* out) {
  if (!LetsIn(request)) return;
  if (auto filter = security::BuildTokenFilter(request.traits.access.authentication)) {
    *out->Add() = *std::move(filter);
  }
}

}  // namespace fairlead::gen::listener
