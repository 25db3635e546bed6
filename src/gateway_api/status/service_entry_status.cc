#include <arpa/inet.h>

#include <algorithm>
#include <array>
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

// Nothing behind the last one.
std::optional<IpAddress> NextAddress(const IpAddress& address) {
  std::array<unsigned char, 16> bytes{};
  const int family = address.is_v4() ? AF_INET : AF_INET6;
  const size_t size = address.is_v4() ? 4 : 16;
  inet_pton(family, address.ToString().c_str(), bytes.data());
  size_t i = size;
  while (i > 0 && ++bytes[i - 1] == 0) --i;
  char text[INET6_ADDRSTRLEN];
  if (i == 0 || inet_ntop(family, bytes.data(), text, sizeof(text)) == nullptr) return std::nullopt;
  return IpAddress::Parse(text);
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

// The addresses of one range that are not used.
class FreeAddresses {
 public:
  explicit FreeAddresses(std::string_view range) : range_(IpPrefix::Parse(range)) {
    if (range_) next_ = NextAddress(range_->address);
  }
  void MarkUsed(const std::string& address) { used_.insert(address); }
  // Behind the range's own address; nothing where all are used.
  std::optional<std::string> Take() {
    for (; next_ && range_->Contains(*next_); next_ = NextAddress(*next_)) {
      std::string address = next_->ToString();
      if (used_.insert(address).second) return address;
    }
    return std::nullopt;
  }

 private:
  std::optional<IpPrefix> range_;
  std::optional<IpAddress> next_;
  std::set<std::string> used_;
};

class Allocator {
 public:
  explicit Allocator(const model::Features& features)
      : families_{FreeAddresses(features.ipv4_range), FreeAddresses(features.ipv6_range)} {}

  void MarkUsed(const std::string& address) {
    for (FreeAddresses& family : families_) family.MarkUsed(address);
  }
  // One address of each family; none where all are used.
  std::vector<std::string> Next() {
    std::vector<std::string> addresses;
    for (FreeAddresses& family : families_) {
      if (auto address = family.Take()) addresses.push_back(*std::move(address));
    }
    return addresses;
  }

 private:
  std::array<FreeAddresses, 2> families_;
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

std::map<config::ObjectKey, Json> AllocateAddresses(const config::ObjectStore& objects,
                                                    const model::Features& features) {
  Allocator allocator(features);
  std::vector<ConfigPtr> entries;
  for (const auto& [name, object] : objects.All(Kind::kServiceEntry)) {
    MarkUsed(*object, &allocator);
    if (WantsAddresses(*object)) entries.push_back(object);
  }
  std::sort(entries.begin(), entries.end(),
            [](const ConfigPtr& a, const ConfigPtr& b) { return config::OlderFirst(*a, *b); });
  std::map<config::ObjectKey, Json> all;
  for (const ConfigPtr& entry : entries) {
    Json addresses = AddressesJson(*entry, &allocator);
    if (!addresses.empty()) all.emplace(KeyOf(*entry), std::move(addresses));
  }
  return all;
}

Json ServiceEntryStatus(const ConfigObject& object, StatusView& view) {
  const Json* addresses = view.Addresses(KeyOf(object));
  if (addresses != nullptr) return Json{{"addresses", *addresses}};
  const bool stale = object.status() != nullptr && !object.status()->addresses.empty();
  return stale && !WantsAddresses(object) ? Json{{"addresses", Json::array()}} : Json();
}

}  // namespace fairlead::gateway_api
