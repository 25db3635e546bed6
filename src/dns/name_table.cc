#include "dns/name_table.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "dns/message.h"
#include "istio/networking/nds/v1/nds.pb.h"
#include "proto/json.h"

namespace fairlead::dns {
namespace {

using Message = istio::networking::nds::v1::NameTable;
using Info = Message::NameInfo;

constexpr char kType[] = "istio.networking.nds.v1.NameTable";
constexpr std::string_view kKubernetes = "Kubernetes";
constexpr std::string_view kWildcard("\1*", 2);

// The domain without the namespace that may be its first label: "svc.cluster.local".
std::string_view DomainOf(const SearchPath& workload) {
  std::string_view domain = workload.domain;
  const size_t dot = domain.find('.');
  if (domain.substr(0, dot) != workload.pod_namespace) return domain;
  return dot == std::string_view::npos ? std::string_view() : domain.substr(dot + 1);
}

// The full name, with a dot at its end; "" for a name that is not looked at.
std::string FullName(std::string_view host, const Info& info) {
  if (!host.ends_with('.')) return StrCat(host, ".");
  return info.registry() == kKubernetes ? "" : std::string(host);
}

// The shorter forms of a Kubernetes name in the workload's own domain, and what the message adds.
std::vector<std::string> ShortForms(std::string_view host, const Info& info, const SearchPath& workload) {
  const std::string_view domain = DomainOf(workload);
  std::vector<std::string> forms;
  if (info.registry() != kKubernetes || host.ends_with('.') || domain.empty() || !host.ends_with(domain))
    return forms;
  if (!info.shortname().empty() && !info.namespace_().empty()) {
    const std::string both = StrCat(info.shortname(), ".", info.namespace_(), ".");
    forms = {both, StrCat(both, domain.substr(0, domain.find('.')), ".")};
    if (info.namespace_() == workload.pod_namespace) forms.push_back(StrCat(info.shortname(), "."));
  }
// Istio has marked the field as deprecated, and its agent reads it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  for (const std::string& other : info.alt_hosts()) forms.push_back(StrCat(other, "."));
#pragma GCC diagnostic pop
  return forms;
}

struct Addresses {
  std::string v4, v6;
};

Addresses ParseAddresses(const Info& info) {
  Addresses all;
  for (const std::string& text : info.ips()) {
    char bytes[sizeof(in6_addr)];
    if (inet_pton(AF_INET, text.c_str(), bytes) == 1) {
      all.v4.append(bytes, sizeof(in_addr));
    } else if (inet_pton(AF_INET6, text.c_str(), bytes) == 1) {
      all.v6.append(bytes, sizeof(in6_addr));
    }
  }
  return all;
}

std::vector<std::pair<std::string_view, const Info*>> Sorted(const Message& message) {
  std::vector<std::pair<std::string_view, const Info*>> hosts;
  hosts.reserve(static_cast<size_t>(message.table_size()));
  for (const auto& [host, info] : message.table()) hosts.emplace_back(host, &info);
  std::sort(hosts.begin(), hosts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return hosts;
}

}  // namespace

// Full names come before short forms, and these before aliases: the first one of a name counts.
class NameTable::Maker {
 public:
  Maker(NameTable* table, const Message& message) : table_(table), hosts_(Sorted(message)) {}

  void Make() {
    TakeAddresses();
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (!known_[i]) continue;
      Add(FullName(hosts_[i].first, *hosts_[i].second), i, /*told=*/true);
    }
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (!known_[i]) continue;
      for (const std::string& form : ShortForms(hosts_[i].first, *hosts_[i].second, table_->workload_))
        Add(form, i, /*told=*/false);
    }
    AddAliases();
    FillEntries();
  }

 private:
  struct Name {
    uint32_t begin = 0, size = 0;
    Entry entry;
  };

  void TakeAddresses() {
    table_->hosts_.resize(hosts_.size());
    known_.resize(hosts_.size());
    for (size_t i = 0; i < hosts_.size(); ++i) {
      const Addresses all = ParseAddresses(*hosts_[i].second);
      known_[i] = !all.v4.empty() || !all.v6.empty();
      if (!known_[i]) Note(hosts_[i].first, "it has no address");
      std::string& bytes = table_->addresses_;
      Host& host = table_->hosts_[i];
      host = {static_cast<uint32_t>(bytes.size()), static_cast<uint32_t>(all.v4.size()),
              static_cast<uint32_t>(bytes.size() + all.v4.size()), static_cast<uint32_t>(all.v6.size())};
      bytes += all.v4;
      bytes += all.v6;
    }
  }

  void Note(std::string_view host, std::string_view why) {
    if (table_->useless_++ == 0) table_->first_useless_ = StrCat(host.substr(0, 300), ": ", why);
  }

  void Add(const std::string& text, size_t host, bool told) {
    if (text.empty()) return;
    const auto name = WireName(text);
    if (!name) {
      if (told) Note(text, "it is no name of DNS");
      return;
    }
    Name added = Append(*name);
    added.entry.host = static_cast<uint32_t>(host);
    written_.push_back({added, text});
  }

  Name Append(std::string_view wire) {
    const Name name{static_cast<uint32_t>(table_->names_.size()), static_cast<uint32_t>(wire.size()), {}};
    table_->names_.append(wire);
    table_->wildcards_ = table_->wildcards_ || wire.starts_with(kWildcard);
    return name;
  }

  // A resolver asks for "a.b" as "a.b.FIRST-DOMAIN" first. The alias ends its search.
  void AddAliases() {
    if (table_->workload_.search.empty()) return;
    const std::string suffix = StrCat(AsciiLower(table_->workload_.search.front()), ".");
    for (const auto& [target, text] : written_) {
      if (text.ends_with(suffix)) continue;
      const auto name = WireName(text + suffix);
      if (!name) continue;
      Name alias = Append(*name);
      alias.entry = {target.entry.host, target.begin, target.size};
      aliases_.push_back(alias);
    }
  }

  // Only now does names_ stay where it is.
  void FillEntries() {
    table_->names_.shrink_to_fit();
    table_->addresses_.shrink_to_fit();
    const std::string_view names = table_->names_;
    table_->entries_.reserve(written_.size() + aliases_.size());
    for (const auto& [name, text] : written_)
      table_->entries_.try_emplace(names.substr(name.begin, name.size), name.entry);
    for (const Name& name : aliases_)
      table_->entries_.try_emplace(names.substr(name.begin, name.size), name.entry);
  }

  struct Written {
    Name name;
    std::string text;
  };

  NameTable* const table_;
  const std::vector<std::pair<std::string_view, const Info*>> hosts_;
  std::vector<bool> known_;
  std::vector<Written> written_;
  std::vector<Name> aliases_;
};

NameTable::NameTable(std::string message, const SearchPath& workload)
    : message_(std::move(message)), workload_(workload) {}

absl::StatusOr<std::shared_ptr<const NameTable>> NameTable::Make(std::string message,
                                                                 const SearchPath& workload) {
  if (message.size() > kMostBytes)
    return absl::ResourceExhaustedError(
        StrCat("a name table of ", message.size(), " bytes; most are ", kMostBytes));
  Message parsed;
  if (!parsed.ParseFromString(message)) return absl::InvalidArgumentError("the bytes are no name table");
  std::shared_ptr<NameTable> table(new NameTable(std::move(message), workload));
  Maker(table.get(), parsed).Make();
  return table;
}

bool NameTable::Find(std::string_view name, Found* found) const {
  auto entry = entries_.find(name);
  if (entry == entries_.end() && wildcards_ && !name.empty()) {
    std::string wildcard;
    std::string_view rest = name;
    while (entry == entries_.end()) {
      rest.remove_prefix(std::min(rest.size(), 1 + static_cast<size_t>(static_cast<uint8_t>(rest.front()))));
      if (rest.size() <= 1) break;  // the root
      wildcard.assign(kWildcard).append(rest);
      entry = entries_.find(std::string_view(wildcard));
    }
  }
  if (entry == entries_.end()) return false;
  const Host& host = hosts_[entry->second.host];
  const std::string_view addresses = addresses_;
  found->v4 = addresses.substr(host.v4, host.v4_size);
  found->v6 = addresses.substr(host.v6, host.v6_size);
  found->target = std::string_view(names_).substr(entry->second.target, entry->second.target_size);
  return true;
}

absl::StatusOr<std::string> NameTable::ToJson() const {
  Message message;
  message.ParseFromString(message_);
  Message forms;
  for (const auto& [host, info] : message.table()) {
    const Addresses all = ParseAddresses(info);
    if (all.v4.empty() && all.v6.empty()) continue;
    std::vector<std::string> names = ShortForms(host, info, workload_);
    names.push_back(FullName(host, info));
    for (const std::string& name : names) {
      if (name.empty() || message.table().contains(name)) continue;
      Info& form = (*forms.mutable_table())[name];
      *form.mutable_ips() = info.ips();
      form.set_registry(std::string(kKubernetes));
    }
  }
  message.MergeFrom(forms);
  return proto::ToJson(kType, message.SerializeAsString());
}

}  // namespace fairlead::dns
