#include "gen/hosts/provider_service.h"

#include <vector>

namespace fairlead::gen {

Interned FindProviderHost(mesh::View& view, std::string_view service) {
  const size_t slash = service.find('/');
  if (slash == std::string_view::npos) {
    const std::vector<model::ServicePtr>& found = view.Host(service);
    if (found.empty() || found.front()->ns.str() != found.back()->ns.str()) return {};
    return found.front()->hostname;
  }
  if (service.find('/', slash + 1) != std::string_view::npos) return {};
  const model::ServicePtr found = view.FindService(service.substr(slash + 1), service.substr(0, slash));
  return found == nullptr ? Interned() : found->hostname;
}

}  // namespace fairlead::gen
