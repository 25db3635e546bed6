#include "source/srv/srv_fake.h"

#include <arpa/inet.h>

#include <utility>

#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/platform/contract_fixture.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using dns::Two;

std::string Four(size_t number) { return Two(number >> 16) + Two(number & 0xffff); }

std::string RecordBytes(const std::string& owner, uint16_t type, uint32_t ttl, const std::string& data) {
  return *dns::WireName(owner) + Two(type) + Two(dns::kClassIn) + Four(ttl) + Two(data.size()) + data;
}

std::string AddressBytes(const std::string& text) {
  const bool v6 = text.find(':') != std::string::npos;
  std::string bytes(v6 ? 16 : 4, '\0');
  inet_pton(v6 ? AF_INET6 : AF_INET, text.c_str(), bytes.data());
  return bytes;
}

std::string NameOf(const std::string& query, size_t* end) {
  std::string name;
  size_t at = 12;
  while (query[at] != 0) {
    const auto size = static_cast<size_t>(static_cast<uint8_t>(query[at]));
    StrAppend(&name, name.empty() ? "" : ".", query.substr(at + 1, size));
    at += 1 + size;
  }
  *end = at + 5;
  return name;
}

}  // namespace

SrvFake::SrvFake()
    : resolver_([this](const std::string& query, bool tcp) {
        return away_ ? std::vector<std::string>() : std::vector<std::string>{Reply(query, tcp)};
      }) {}

std::string SrvFake::Reply(const std::string& query, bool tcp) {
  size_t end = 0;
  const std::string name = NameOf(query, &end);
  const bool srv = query[end - 3] == dns::kTypeSrv;
  const uint16_t type = static_cast<uint8_t>(query[end - 3]);
  std::string answers, more;
  size_t answer_count = 0, more_count = 0;
  std::lock_guard lock(mutex_);
  const auto add_addresses = [&](const std::string& owner, bool v4, bool v6, std::string* out,
                                 size_t* count) {
    const auto it = addresses_.find(owner);
    if (it == addresses_.end()) return;
    for (const std::string& address : it->second) {
      const bool is_v6 = address.find(':') != std::string::npos;
      if (is_v6 ? !v6 : !v4) continue;
      *out += RecordBytes(owner, is_v6 ? dns::kTypeAaaa : dns::kTypeA, ttl_, AddressBytes(address));
      ++*count;
    }
  };
  if (srv) {
    for (const Record& record : services_[name]) {
      answers += RecordBytes(
          name, dns::kTypeSrv, ttl_,
          Two(record.priority) + Two(record.weight) + Two(record.port) + *dns::WireName(record.target));
      ++answer_count;
      if (along_) add_addresses(record.target, true, true, &more, &more_count);
    }
  } else {
    add_addresses(name, type == dns::kTypeA, type == dns::kTypeAaaa, &answers, &answer_count);
  }
  const bool cut = cut_ && !tcp;
  const bool refused = refuses_ipv6_ && type == dns::kTypeAaaa;
  const int rcode = refused ? 5 : error_ != 0 ? error_.load() : answer_count == 0 && srv ? 3 : 0;
  if (cut || error_ != 0) {
    answers.clear();
    more.clear();
    answer_count = more_count = 0;
  }
  const size_t flags = 0x8180u | static_cast<size_t>(rcode) | (cut ? 0x0200u : 0u);
  return query.substr(0, 2) + Two(flags) + Two(1) + Two(answer_count) + Two(0) + Two(more_count) +
         query.substr(12, end - 12) + answers + more;
}

SrvOptions SrvFake::Options(const std::string& url) const {
  SrvOptions options = *ParseSrvOptions(url);
  options.resolvers = {resolver_.address()};
  options.least = 20ms;
  options.most = 5s;
  options.answer = 300ms;
  options.first_backoff = 10ms;
  options.most_backoff = 50ms;
  return options;
}

std::unique_ptr<PlatformFollower> SrvFake::MakeFollower() {
  SrvOptions options = Options("dns+srv://_http._tcp.a");
  const auto add = [&options](const std::string& service, const std::string& domain) {
    options.names.push_back({StrCat("_", service, "._tcp.", domain), service, "tcp", domain, 0});
  };
  for (const char* name : {"b", "c", "d", "e", "old", "new"}) add("http", name);
  for (int i = 0; i < 20; ++i) add("http", StrCat("t", i));
  add("web", "a");
  return std::make_unique<SrvFollower>(std::move(options));
}

void SrvFake::SetServices(const std::string& name, std::vector<Record> records) {
  std::lock_guard lock(mutex_);
  services_[name] = std::move(records);
}

void SrvFake::SetAddresses(const std::string& name, std::vector<std::string> addresses) {
  std::lock_guard lock(mutex_);
  addresses_[name] = std::move(addresses);
}

void SrvFake::Remove(const std::string& name) {
  std::lock_guard lock(mutex_);
  services_.erase(name);
  addresses_.erase(name);
}

void SrvFake::Put(const std::string& name, const std::string& version) {
  along_ = true;
  SetAddresses("target", {"10.0.0.1"});
  SetServices(StrCat("_http._tcp.", name), {{0, 0, static_cast<uint16_t>(std::stoi(version) + 1), "target"}});
}

void SrvFake::PutTwin(const std::string& name, const std::string& version) {
  SetServices(StrCat("_web._tcp.", name), {{0, 0, static_cast<uint16_t>(std::stoi(version) + 1), "target"}});
}

void SrvFake::Delete(const std::string& name) { Remove(StrCat("_http._tcp.", name)); }

std::string SrvFake::VersionOf(const config::ConfigObject& object) const {
  const auto& entry = object.Spec<istio::networking::v1alpha3::ServiceEntry>();
  return StrCat(entry.endpoints(0).ports().begin()->second - 1);
}

INSTANTIATE_TEST_SUITE_P(Srv, PlatformContractTest,
                         ::testing::Values(PeerCase{"srv", [] { return std::make_unique<SrvFake>(); }}),
                         NameOfPeer);

}  // namespace fairlead::source
