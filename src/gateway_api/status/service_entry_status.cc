#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ip_address.h"
#include "base/strings.h"
#include "config/host_name.h"
#include "gateway_api/status/kinds.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::Kind;
using istio::networking::v1alpha3::ServiceEntry;
using Json = nlohmann::ordered_json;
using AddressesByHost = std::map<std::string, std::vector<std::string>>;

constexpr std::string_view kOptOutLabel = "networking.istio.io/enable-autoallocate-ip";
constexpr uint32_t kMost = 0xffff;  // hosts in 240.240.0.0/16

bool WantsAddresses(const ConfigObject& object) {
  const auto& entry = object.Spec<ServiceEntry>();
  return entry.resolution() != ServiceEntry::NONE && entry.addresses_size() == 0 &&
         !EqualsIgnoreCase(LabelOr(object.meta().labels, kOptOutLabel), "false");
}

// Hosts that can have addresses, each once, in order.
std::vector<std::string> HostsOf(const ServiceEntry& entry) {
  std::vector<std::string> hosts;
  for (const std::string& host : entry.hosts()) {
    if (config::IsWildcard(host) && entry.resolution() != ServiceEntry::DYNAMIC_DNS) continue;
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  }
  return hosts;
}

// The canonical spelling; nothing where it is no address.
std::optional<std::string> Canonical(std::string_view text) {
  const auto address = IpAddress::Parse(text);
  if (!address) return std::nullopt;
  return address->ToString();
}

// Those of the status, by host.
AddressesByHost ExistingAddresses(const ConfigObject& object) {
  AddressesByHost found;
  if (object.status() == nullptr) return found;
  for (const config::ObjectStatus::Address& one : object.status()->addresses) {
    if (auto address = Canonical(one.value)) found[one.host].push_back(*std::move(address));
  }
  return found;
}

class Allocator {
 public:
  void MarkUsed(const std::string& address) { used_.insert(address); }
  // One address of each family; none where all are used.
  std::vector<std::string> Next() {
    std::vector<std::string> addresses;
    for (const auto& next : {NextOf(false, &next_v4_), NextOf(true, &next_v6_)}) {
      if (next) addresses.push_back(*next);
    }
    return addresses;
  }

 private:
  static std::string AddressAt(bool v6, uint32_t number) {
    if (v6) return Canonical(StrCat("2001:2::", Hex(number))).value_or("");
    return StrCat("240.240.", number >> 8, ".", number & 0xff);
  }
  static std::string Hex(uint32_t number) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (; number > 0; number >>= 4) text.insert(text.begin(), kDigits[number & 0xf]);
    return text;
  }
  std::optional<std::string> NextOf(bool v6, uint32_t* next) {
    for (; *next <= kMost; ++*next) {
      std::string address = AddressAt(v6, *next);
      if (used_.insert(address).second) return address;
    }
    return std::nullopt;
  }

  std::set<std::string> used_;
  uint32_t next_v4_ = 1, next_v6_ = 1;
};

void MarkUsed(const ConfigObject& object, Allocator* allocator) {
  for (const auto& [host, addresses] : ExistingAddresses(object)) {
    for (const std::string& address : addresses) allocator->MarkUsed(address);
  }
  for (const std::string& text : object.Spec<ServiceEntry>().addresses()) {
    if (const auto address = Canonical(text)) allocator->MarkUsed(*address);
  }
}

Json AddressJson(const std::string& host, const std::string& address) {
  return {{"host", host}, {"value", address}};
}

// What the status says already, where that is all the hosts; else those of its hosts, and new ones.
Json AddressesJson(const ConfigObject& object, Allocator* allocator) {
  const std::vector<std::string> hosts = HostsOf(object.Spec<ServiceEntry>());
  const AddressesByHost existing = ExistingAddresses(object);
  const bool complete = existing.size() == hosts.size() &&
                        std::all_of(hosts.begin(), hosts.end(),
                                    [&](const std::string& host) { return existing.contains(host); });
  Json list = Json::array();
  if (complete && object.status() != nullptr) {
    for (const config::ObjectStatus::Address& one : object.status()->addresses)
      list.push_back(AddressJson(one.host, one.value));
    return list;
  }
  for (const std::string& host : hosts) {
    const auto found = existing.find(host);
    for (const std::string& address : found != existing.end() ? found->second : allocator->Next())
      list.push_back(AddressJson(host, address));
  }
  return list;
}

}  // namespace

void AddServiceEntryStatuses(const StatusInputs& inputs, std::vector<StatusOf>* out) {
  Allocator allocator;
  std::vector<ConfigPtr> entries;
  for (const auto& [name, object] : inputs.objects.All(Kind::kServiceEntry)) {
    MarkUsed(*object, &allocator);
    if (WantsAddresses(*object)) entries.push_back(object);
  }
  std::sort(entries.begin(), entries.end(),
            [](const ConfigPtr& a, const ConfigPtr& b) { return config::OlderFirst(*a, *b); });
  for (const ConfigPtr& entry : entries) {
    Json addresses = AddressesJson(*entry, &allocator);
    if (!addresses.empty()) out->push_back({entry, Json{{"addresses", std::move(addresses)}}});
  }
}

}  // namespace fairlead::gateway_api
