#include "agent/dns_proxy.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "agent/notice.h"
#include "agent/status/from_here.h"
#include "base/ip_address.h"
#include "base/log.h"
#include "base/own_addresses.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

LogScope dns_log("dns");

constexpr char kType[] = "type.googleapis.com/istio.networking.nds.v1.NameTable";
constexpr char kOwnResolverFile[] = "/var/lib/istio/resolv.conf";

bool IsOne(const dns::SocketAddress& address, bool (IpAddress::*what)() const) {
  const auto parsed = IpAddress::Parse(address.host());
  return parsed && ((*parsed).*what)();
}

std::string Texts(const std::vector<dns::SocketAddress>& addresses) {
  std::vector<std::string> texts;
  for (const dns::SocketAddress& address : addresses) texts.push_back(address.ToString());
  return Join(texts, ", ");
}

// Sockets are files. Half of them, and a quarter, are for DNS at most.
void ShareFiles(dns::DnsServerOptions* server) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return;
  const auto limit = static_cast<size_t>(files.rlim_cur);
  server->most_sockets = std::min(server->most_sockets, std::max<size_t>(limit / 2, 1));
  server->most_connections = std::min(server->most_connections, std::max<size_t>(limit / 4, 1));
}

void WarnOfResolvers(const std::string& file, const dns::ResolverFile& read,
                     const std::vector<dns::SocketAddress>& used) {
  for (const std::string& text : read.not_servers)
    dns_log.Warn("{}: nameserver '{}' is no address; it is passed over", file, text);
  if (used.size() < read.servers.size())
    dns_log.Warn("{}: a nameserver is this DNS proxy itself; it is passed over", file);
  if (used.empty()) dns_log.Warn("{}: no nameserver is left: names outside of the mesh are not found", file);
}

}  // namespace

DnsPlace PlaceOfDns(const std::string& address, bool is_root, bool own_file) {
  DnsPlace place;
  place.address = address;
  if (!address.ends_with(":53")) return place;
  if (!is_root) {
    place.address = Options().dns_address;
    place.remark =
        StrCat("DNS_PROXY_ADDR: only root can listen at ", address, "; the DNS proxy is at ", place.address);
    return place;
  }
  place.forwards_before_table = true;
  if (own_file) place.resolver_file = kOwnResolverFile;
  return place;
}

absl::StatusOr<std::vector<dns::SocketAddress>> DnsAddresses(const std::string& address,
                                                             const dns::ResolverFile& resolvers) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(
        StrCat("DNS_PROXY_ADDR: '", address, "' is not IP:PORT, localhost:PORT or :PORT"));
  };
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return wrong();
  std::string host = address.substr(0, colon);
  const std::string_view digits = std::string_view(address).substr(colon + 1);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0) return wrong();
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::vector<std::string> hosts = {host};
  if (host == "localhost") {
    const auto has = [&](bool v6) {
      return std::any_of(resolvers.servers.begin(), resolvers.servers.end(),
                         [v6](const dns::SocketAddress& server) { return server.is_v6() == v6; });
    };
    hosts.clear();
    if (has(false) || !has(true)) hosts.push_back("127.0.0.1");
    if (has(true)) hosts.push_back("::1");
  } else if (host.empty()) {
    hosts = {"0.0.0.0"};
    if (access("/proc/net/if_inet6", F_OK) == 0) hosts.push_back("::");
  }
  std::vector<dns::SocketAddress> all;
  for (const std::string& one : hosts) {
    const auto parsed = dns::SocketAddress::Parse(one, port);
    if (!parsed) return wrong();
    all.push_back(*parsed);
  }
  return all;
}

std::vector<dns::SocketAddress> ForeignResolvers(const std::vector<dns::SocketAddress>& resolvers,
                                                 const std::vector<dns::SocketAddress>& listen,
                                                 const std::vector<std::string>& own) {
  const auto is_own = [&](const dns::SocketAddress& resolver) {
    return std::any_of(listen.begin(), listen.end(), [&](const dns::SocketAddress& address) {
      if (address == resolver) return true;
      const bool here = IsOne(resolver, &IpAddress::is_loopback) ||
                        std::find(own.begin(), own.end(), resolver.host()) != own.end();
      return here && address.port() == resolver.port() && address.family() == resolver.family() &&
             IsOne(address, &IpAddress::is_unspecified);
    });
  };
  std::vector<dns::SocketAddress> foreign = resolvers;
  std::erase_if(foreign, is_own);
  return foreign;
}

absl::StatusOr<std::unique_ptr<DnsProxy>> DnsProxy::Start(const Options& options, bool relayed) {
  const DnsPlace place = PlaceOfDns(options.dns_address, geteuid() == 0, access(kOwnResolverFile, R_OK) == 0);
  if (!place.remark.empty()) dns_log.Error("{}", place.remark);
  const auto file = dns::ReadResolverFile(place.resolver_file);
  if (!file.ok())
    return absl::UnavailableError(
        StrCat("the DNS proxy needs resolvers: ", FromAbsl(file.status().message())));
  auto listen = DnsAddresses(place.address, *file);
  if (!listen.ok()) return listen.status();
  dns::DnsServerOptions server;
  server.listen = *std::move(listen);
  server.resolvers = ForeignResolvers(file->servers, server.listen, OwnAddresses());
  server.parallel = options.dns_parallel;
  server.timeout = options.dns_timeout;
  ShareFiles(&server);
  server.forwards_before_table = place.forwards_before_table || !relayed;
  WarnOfResolvers(place.resolver_file, *file, server.resolvers);
  if (!relayed)
    Say("the DNS proxy gets no name table, because Envoy asks the control plane itself: all names go to the "
        "resolvers");
  const std::string domain =
      options.domain.empty() ? StrCat(options.pod_namespace, ".svc.cluster.local") : options.domain;
  const bool needs_table = !server.forwards_before_table;
  dns_log.Info("DNS at {}, resolvers {}, search domains {}", Texts(server.listen), Texts(server.resolvers),
               Join(file->search, ", "));
  std::unique_ptr<DnsProxy> proxy(
      new DnsProxy(std::move(server), {options.pod_namespace, domain, file->search}, needs_table));
  if (absl::Status status = proxy->server_.Start(); !status.ok()) return status;
  return proxy;
}

DnsProxy::DnsProxy(dns::DnsServerOptions server, dns::SearchPath workload, bool needs_table)
    : workload_(std::move(workload)), needs_table_(needs_table), server_(std::move(server)) {}

RelayTap DnsProxy::Tap() {
  return {kType, [this](std::string message) { return Take(std::move(message)); }};
}

absl::Status DnsProxy::Take(std::string message) {
  auto table = dns::NameTable::Make(std::move(message), workload_);
  if (!table.ok()) return table.status();
  std::string remark;
  if ((*table)->useless() > 0)
    remark = StrCat((*table)->useless(), " names of the control plane's table have no use, such as ",
                    (*table)->first_useless());
  dns_log.Debug("a name table of {} names", (*table)->size());
  server_.SetTable(*std::move(table));
  std::lock_guard lock(mutex_);
  if (!remark.empty() && remark != last_remark_) dns_log.Warn("{}", remark);
  last_remark_ = std::move(remark);
  return absl::OkStatus();
}

absl::Status DnsProxy::Check() const {
  if (!needs_table_ || server_.table() != nullptr) return absl::OkStatus();
  return absl::UnavailableError("DNS is captured, and the control plane has sent no name table yet");
}

void DnsProxy::AddTo(server::HttpServer* server) const {
  server->Get("/debug/ndsz", [this](const server::HttpRequest& request) -> server::HttpResponse {
    if (!IsFromHere(request)) return OnlyFromHere();
    const auto table = server_.table();
    if (table == nullptr) return {.status = 404, .body = "{}", .content_type = "application/json"};
    const auto json = table->ToJson();
    if (!json.ok()) return {.status = 500, .body = StrCat(FromAbsl(json.status().message()), "\n")};
    return {.body = *json, .content_type = "application/json"};
  });
}

}  // namespace fairlead::agent
