#include "dns/udp_listener.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead::dns {
namespace {

constexpr size_t kBatch = 32, kMostQuery = 4096;
constexpr int kRounds = 8;  // of batches, before other sockets have their turn
constexpr size_t kMostWaiting = 1 << 20;
constexpr int kSocketBuffer = 4 << 20;  // the system may give less
constexpr size_t kKeptAnswer = 4096;    // larger buffers are given back

bool IsUnspecified(const SocketAddress& address) {
  static constexpr in6_addr kAny = IN6ADDR_ANY_INIT;
  if (!address.is_v6())
    return reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_addr.s_addr == INADDR_ANY;
  return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(&address.bytes)->sin6_addr, &kAny, sizeof kAny) ==
         0;
}

void Enable(int socket, int level, int option) {
  const int on = 1;
  setsockopt(socket, level, option, &on, sizeof on);
}

// The answer leaves from the address that was asked, by whatever interface leads to the client.
void ForgetInterface(msghdr* header) {
  for (cmsghdr* part = CMSG_FIRSTHDR(header); part != nullptr; part = CMSG_NXTHDR(header, part)) {
    if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO)
      reinterpret_cast<in_pktinfo*>(CMSG_DATA(part))->ipi_ifindex = 0;
    auto* const v6 = reinterpret_cast<in6_pktinfo*>(CMSG_DATA(part));
    if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO &&
        !IN6_IS_ADDR_LINKLOCAL(&v6->ipi6_addr))
      v6->ipi6_ifindex = 0;
  }
}

void Fill(UdpPeer* peer, socklen_t name_size, size_t control_size, iovec* piece, msghdr* header) {
  *header = {};
  header->msg_name = &peer->name;
  header->msg_namelen = name_size;
  header->msg_iov = piece;
  header->msg_iovlen = 1;
  header->msg_controllen = control_size;
  header->msg_control = control_size > 0 ? peer->control : nullptr;
}

}  // namespace

// Memory of messages and answers, used again and again.
struct UdpListener::Batch {
  std::array<std::array<char, kMostQuery>, kBatch> messages;
  std::array<UdpPeer, kBatch> peers, answer_peers;
  std::array<std::string, kBatch> answers;
  std::array<iovec, kBatch> pieces;
  std::array<mmsghdr, kBatch> headers;
};

absl::StatusOr<std::unique_ptr<UdpListener>> UdpListener::Open(const SocketAddress& address, Poller* poller,
                                                               Handle handle, OnBatch on_batch) {
  const auto failed = [&] {
    return absl::UnavailableError(StrCat("DNS over UDP at ", address.ToString(), ": ", ErrnoText(errno)));
  };
  http2::File socket(::socket(address.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return failed();
  if (address.is_v6()) Enable(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  if (IsUnspecified(address)) {
    Enable(socket.get(), address.is_v6() ? int{IPPROTO_IPV6} : int{IPPROTO_IP},
           address.is_v6() ? IPV6_RECVPKTINFO : IP_PKTINFO);
  }
  for (const int buffer : {SO_RCVBUF, SO_SNDBUF})
    setsockopt(socket.get(), SOL_SOCKET, buffer, &kSocketBuffer, sizeof kSocketBuffer);
  if (bind(socket.get(), address.get(), address.size()) != 0) return failed();
  std::unique_ptr<UdpListener> listener(
      new UdpListener(std::move(socket), poller, std::move(handle), std::move(on_batch)));
  if (!poller->Add(listener->socket_.get(), EPOLLIN, listener.get())) return failed();
  return listener;
}

UdpListener::UdpListener(http2::File socket, Poller* poller, Handle handle, OnBatch on_batch)
    : socket_(std::move(socket)),
      poller_(poller),
      handle_(std::move(handle)),
      on_batch_(std::move(on_batch)),
      batch_(std::make_unique<Batch>()) {}

UdpListener::~UdpListener() = default;

SocketAddress UdpListener::address() const {
  SocketAddress address;
  socklen_t size = sizeof address.bytes;
  getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address.bytes), &size);
  return address;
}

void UdpListener::OnReady(uint32_t events) {
  if (events & EPOLLOUT) SendWaiting();
  for (int round = 0; round < kRounds && ReadBatch() == kBatch; ++round) {
  }
}

size_t UdpListener::ReadBatch() {
  Batch& batch = *batch_;
  for (size_t i = 0; i < kBatch; ++i) {
    batch.pieces[i] = {batch.messages[i].data(), kMostQuery};
    Fill(&batch.peers[i], sizeof batch.peers[i].name, UdpPeer::kControlSize, &batch.pieces[i],
         &batch.headers[i].msg_hdr);
  }
  const int got = recvmmsg(socket_.get(), batch.headers.data(), kBatch, MSG_DONTWAIT, nullptr);
  if (got <= 0) return 0;
  const auto count = static_cast<size_t>(got);
  size_t answered = 0;
  for (size_t i = 0; i < count; ++i) {
    msghdr& header = batch.headers[i].msg_hdr;
    UdpPeer& peer = batch.peers[i];
    peer.name_size = header.msg_namelen;
    peer.control_size = header.msg_controllen;
    if (peer.control_size > 0) ForgetInterface(&header);
    if (header.msg_flags & MSG_TRUNC) continue;  // longer than any query
    if (!handle_({batch.messages[i].data(), batch.headers[i].msg_len}, peer, &batch.answers[answered]))
      continue;
    batch.answer_peers[answered++] = peer;
  }
  on_batch_(count);
  SendBatch(answered);
  return count;
}

void UdpListener::SendBatch(size_t count) {
  Batch& batch = *batch_;
  for (size_t i = 0; i < count; ++i) {
    UdpPeer& peer = batch.answer_peers[i];
    batch.pieces[i] = {batch.answers[i].data(), batch.answers[i].size()};
    Fill(&peer, peer.name_size, peer.control_size, &batch.pieces[i], &batch.headers[i].msg_hdr);
  }
  for (size_t sent = 0; sent < count;) {
    const int taken = waiting_.empty() ? sendmmsg(socket_.get(), batch.headers.data() + sent,
                                                  static_cast<unsigned>(count - sent), MSG_DONTWAIT)
                                       : -1;
    if (taken > 0) {
      sent += static_cast<size_t>(taken);
    } else {
      // Of an error the first one is the cause: a client that cannot be reached, or a full buffer.
      if (!waiting_.empty() || errno == EAGAIN || errno == ENOBUFS)
        Keep(batch.answer_peers[sent], batch.answers[sent]);
      ++sent;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (batch.answers[i].capacity() > kKeptAnswer) batch.answers[i] = std::string();
  }
}

void UdpListener::Keep(const UdpPeer& peer, std::string_view answer) {
  if (waiting_bytes_ + answer.size() > kMostWaiting) return;
  if (waiting_.empty()) poller_->Change(socket_.get(), EPOLLIN | EPOLLOUT, this);
  waiting_.push_back({peer, std::string(answer)});
  waiting_bytes_ += answer.size();
}

void UdpListener::SendWaiting() {
  while (!waiting_.empty()) {
    Waiting& next = waiting_.front();
    iovec piece = {next.answer.data(), next.answer.size()};
    msghdr header;
    Fill(&next.peer, next.peer.name_size, next.peer.control_size, &piece, &header);
    if (sendmsg(socket_.get(), &header, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == ENOBUFS)) return;
    waiting_bytes_ -= next.answer.size();
    waiting_.pop_front();
  }
  poller_->Change(socket_.get(), EPOLLIN, this);
}

void UdpListener::Send(const UdpPeer& peer, std::string answer) {
  Keep(peer, answer);
  if (!waiting_.empty()) SendWaiting();
}

}  // namespace fairlead::dns
