// Answers of a resolver about SRV records: what is read of them are names, addresses and ports that become
// ServiceEntries that Istio would take.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.h"
#include "config/read/manifests.h"
#include "dns/lookup.h"
#include "source/platform/kept_view.h"
#include "source/srv/srv_entries.h"
#include "tests/fuzz/choices.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  using fuzz::Require;
  static const source::SrvOptions options =
      *source::ParseSrvOptions("dns+srv://_http._tcp.web.example.com?priorities=all");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto query = dns::MakeLookup(text, dns::kTypeSrv, 7);
  Require(!query || dns::ReadLookup(*query).has_value(), "a question that cannot be read");
  const auto answer = dns::ReadLookup(text);
  if (!answer) return 0;
  std::vector<source::SrvInstance> instances;
  for (const dns::AddressRecord& address : answer->addresses) {
    Require(IsIpAddress(address.address), "an address that is none");
    for (const dns::SrvRecord& record : answer->services) {
      if (instances.size() < 50)
        instances.push_back({record.priority, record.weight, record.port, record.target, address.address});
    }
  }
  const source::PlatformPart part = source::MakeSrvEntries(options, options.names.front(), instances);
  const std::map<std::string, source::PlatformPartPtr> parts = {
      {"p", std::make_shared<const source::PlatformPart>(part)}};
  const auto kept = source::ParseKeptView("s", source::KeptViewText("s", 0, parts));
  Require(kept.ok(), "a view that cannot be kept");
  for (const auto& [name, one] : kept->parts)
    Require(config::ParseManifests(one.text, "f").objects.size() == part.objects.size(),
            "an entry that Istio would refuse");
  return 0;
}
