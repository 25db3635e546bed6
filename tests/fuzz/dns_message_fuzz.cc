#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dns/answer.h"
#include "dns/message.h"
#include "dns/name_table.h"
#include "istio/networking/nds/v1/nds.pb.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: the messages of a DNS client and the replies of a resolver. The first byte chooses the way;
// the rest is a message or a name table. Answers are well-formed, of the query, and as long as the client
// takes.
namespace fairlead::dns {
namespace {

const SearchPath& Shop() {
  static const SearchPath workload{"shop", "shop.svc.cluster.local", {"shop.svc.cluster.local"}};
  return workload;
}

std::shared_ptr<const NameTable> Table() {
  static const auto table = [] {
    istio::networking::nds::v1::NameTable message;
    auto& names = *message.mutable_table();
    for (const char* name : {"www.example.com", "*.example.com", "a", "web.shop.svc.cluster.local"}) {
      for (int i = 0; i < 60; ++i) names[name].add_ips(i % 2 == 0 ? "10.0.0.1" : "fd00::1");
    }
    auto& web = names["web.shop.svc.cluster.local"];
    web.set_registry("Kubernetes");
    web.set_shortname("web");
    web.set_namespace_("shop");
    return NameTable::Make(message.SerializeAsString(), Shop()).value();
  }();
  return table;
}

void TryQuery(DnsTransport transport, std::string_view message) {
  Dice dice(1);
  Query query;
  std::string out;
  const TableAnswer outcome =
      AnswerFromTable(message, Table().get(), /*forwards_all=*/false, transport, &dice, &query, &out);
  if (outcome == TableAnswer::kIgnored) return;
  if (outcome == TableAnswer::kForward) {
    const std::string error = ErrorAnswer(message, kRcodeServerFailure);
    fuzz::Require(Answers(error, message, query.id), "an error that is no answer to its query");
    return;
  }
  Query read;
  fuzz::Require(out.size() >= 12 && out.substr(0, 2) == message.substr(0, 2), "an answer with another id");
  if (ReadQuery(message, &read) != QueryKind::kQuery) return;
  fuzz::Require(out.size() <= LimitOf(transport, read), "an answer longer than the client takes");
  fuzz::Require(Answers(out, message, read.id), "an answer that cannot be read, or of another question");
}

void TryReply(size_t limit, std::string_view message) {
  std::string reply(message);
  const bool whole = Answers(reply, reply, 7);
  if (!Truncate(limit, &reply)) return;
  fuzz::Require(reply.size() <= limit, "a reply longer than the client takes");
  if (whole) fuzz::Require(Answers(reply, message, 7), "a reply that is broken once it is cut");
}

void TryTable(std::string_view message) {
  const google::protobuf::LogSilencer silence;  // texts that are not UTF-8
  const auto table = NameTable::Make(std::string(message), Shop());
  if (!table.ok()) return;
  NameTable::Found found;
  (*table)->Find(*WireName("a.b.example.com"), &found);
  fuzz::Require((*table)->size() <= 40 * message.size(), "more names than the bytes can hold");
  (*table)->ToJson().IgnoreError();
}

}  // namespace
}  // namespace fairlead::dns

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::dns::DnsTransport;
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      fairlead::dns::TryQuery(DnsTransport::kUdp, rest);
      break;
    case 1:
      fairlead::dns::TryQuery(DnsTransport::kTcp, rest);
      break;
    case 2:
      fairlead::dns::TryReply(512 + data[0], rest);
      break;
    default:
      fairlead::dns::TryTable(rest);
  }
  return 0;
}
