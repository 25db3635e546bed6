#include "redirect/routes.h"

#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "base/errno_text.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::redirect {
namespace {

LogScope routes_log("iptables");

constexpr size_t kMostRequest = 256;
constexpr uint16_t kCreate = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;

// One request to the kernel: a header, a body of fixed size, then attributes.
class NetlinkRequest {
 public:
  template <typename Body>
  NetlinkRequest(uint16_t type, const Body& body) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = kCreate;
    header.nlmsg_seq = 1;
    Add(&header, sizeof header);
    Add(&body, sizeof body);
  }

  template <typename Value>
  void Attribute(uint16_t type, const Value& value) {
    const rtattr head{static_cast<uint16_t>(RTA_LENGTH(sizeof value)), type};
    Add(&head, sizeof head);
    Add(&value, sizeof value);
  }

  // 0, or the errno value of the kernel's answer.
  int Send() {
    const auto size = static_cast<uint32_t>(size_);
    std::memcpy(bytes_.data(), &size, sizeof size);
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return errno;
    const int error = SendBy(fd);
    close(fd);
    return error;
  }

 private:
  void Add(const void* data, size_t size) {
    const size_t end = NLMSG_ALIGN(size_ + size);
    if (end > bytes_.size()) return;  // no request of ours is as long
    std::memcpy(bytes_.data() + size_, data, size);
    size_ = end;
  }

  int SendBy(int fd) const {
    const timeval limit{5, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (send(fd, bytes_.data(), size_, 0) < 0) return errno;
    alignas(nlmsghdr) char answer[4096];
    const ssize_t count = recv(fd, answer, sizeof answer, 0);
    if (count < 0) return errno;
    nlmsghdr header{};
    if (static_cast<size_t>(count) < sizeof header + sizeof(int)) return EPROTO;
    std::memcpy(&header, answer, sizeof header);
    if (header.nlmsg_type != NLMSG_ERROR) return EPROTO;
    int error = 0;
    std::memcpy(&error, answer + NLMSG_HDRLEN, sizeof error);
    return -error;
  }

  alignas(nlmsghdr) std::array<char, kMostRequest> bytes_{};
  size_t size_ = 0;
};

absl::Status Result(std::string_view action, int error, bool may_exist) {
  if (error == 0 || (may_exist && error == EEXIST)) return absl::OkStatus();
  return absl::UnavailableError(StrCat(action, ": ", ErrnoText(error)));
}

// `ip -6 address add ::6/128 dev lo`
absl::Status AddInboundSource(uint32_t loopback) {
  ifaddrmsg body{};
  body.ifa_family = AF_INET6;
  body.ifa_prefixlen = 128;
  body.ifa_index = loopback;
  in6_addr address{};
  inet_pton(AF_INET6, "::6", &address);
  NetlinkRequest request(RTM_NEWADDR, body);
  request.Attribute(IFA_LOCAL, address);
  request.Attribute(IFA_ADDRESS, address);
  return Result("the address ::6 cannot be added to lo", request.Send(), true);
}

// `ip rule add fwmark MARK lookup TABLE`
absl::Status AddRule(uint8_t family, uint32_t mark, uint32_t table) {
  fib_rule_hdr body{};
  body.family = family;
  body.action = FR_ACT_TO_TBL;
  body.table = table < 256 ? static_cast<uint8_t>(table) : static_cast<uint8_t>(RT_TABLE_UNSPEC);
  NetlinkRequest request(RTM_NEWRULE, body);
  request.Attribute(FRA_TABLE, table);
  if (mark != 0) request.Attribute(FRA_FWMARK, mark);
  return Result("the routing rule for marked packets cannot be added", request.Send(), false);
}

// `ip route add local default dev lo table TABLE`
absl::Status AddRoute(uint8_t family, uint32_t loopback, uint32_t table) {
  rtmsg body{};
  body.rtm_family = family;
  body.rtm_table = table < 256 ? static_cast<uint8_t>(table) : static_cast<uint8_t>(RT_TABLE_UNSPEC);
  body.rtm_protocol = RTPROT_BOOT;
  body.rtm_scope = RT_SCOPE_HOST;
  body.rtm_type = RTN_LOCAL;
  NetlinkRequest request(RTM_NEWROUTE, body);
  request.Attribute(RTA_TABLE, table);
  request.Attribute(RTA_OIF, loopback);
  return Result("the route for marked packets cannot be added", request.Send(), true);
}

absl::Status ParseNumber(std::string_view flag, std::string_view text, uint32_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error == std::errc() && end == text.data() + text.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(flag, ": \"", text, "\" is no number"));
}

absl::Status ApplyTproxy(const RedirectOptions& options, uint32_t loopback) {
  uint32_t mark = 0, table = 0;
  absl::Status status = ParseNumber("--istio-inbound-tproxy-route-table", options.tproxy_table, &table);
  if (status.ok()) status = ParseNumber("--istio-inbound-tproxy-mark", options.tproxy_mark, &mark);
  if (status.ok()) status = AddRule(AF_INET, mark, table);
  if (status.ok() && options.ipv6) status = AddRule(AF_INET6, mark, table);
  if (status.ok()) status = AddRoute(AF_INET, loopback, table);
  if (status.ok() && options.ipv6) status = AddRoute(AF_INET6, loopback, table);
  return status;
}

}  // namespace

absl::Status ApplyRoutes(const RedirectOptions& options) {
  const bool tproxy = UsesTproxy(options) && !options.inbound_ports.empty();
  if (!options.ipv6 && !tproxy) return absl::OkStatus();
  const uint32_t loopback = if_nametoindex("lo");
  if (loopback == 0) return absl::UnavailableError("there is no interface lo");
  if (options.ipv6) {
    if (absl::Status status = AddInboundSource(loopback); !status.ok()) return status;
    routes_log.Info("::6 is an address of lo");
  }
  return tproxy ? ApplyTproxy(options, loopback) : absl::OkStatus();
}

}  // namespace fairlead::redirect
