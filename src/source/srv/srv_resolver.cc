#include "source/srv/srv_resolver.h"

#include <algorithm>

#include "base/strings.h"
#include "dns/message.h"

namespace fairlead::source {
namespace {

constexpr size_t kMostTargets = 512;
constexpr int kNoError = 0, kNoName = 3, kRefused = 5;

dns::Forwarder::Options ForwarderOptions(const SrvResolver::Options& options) {
  dns::Forwarder::Options forwarder;
  forwarder.resolvers = options.resolvers;
  forwarder.timeout = options.answer;
  return forwarder;
}

std::string_view TypeName(uint16_t type) {
  if (type == dns::kTypeSrv) return "SRV";
  return type == dns::kTypeA ? "A" : "AAAA";
}

}  // namespace

SrvResolver::SrvResolver(Options options, dns::Poller* poller, Done done)
    : done_(std::move(done)),
      forwarder_(ForwarderOptions(options), poller,
                 [this](const dns::ReplyPath& origin, const std::string& message) {
                   OnAnswer(origin.connection, message);
                 }) {}

void SrvResolver::Look(size_t name, const std::string& text) {
  lookups_[name] = {};
  Ask({name, text, dns::kTypeSrv, false});
}

// The forwarder gives each question an id of its own.
void SrvResolver::Ask(Question question) {
  const auto message = dns::MakeLookup(question.text, question.type, 1);
  if (!message) return Finish(question.name, absl::UnavailableError("no name that DNS could have"));
  dns::ReplyPath origin;
  origin.transport = question.tcp ? dns::DnsTransport::kTcp : dns::DnsTransport::kUdp;
  origin.connection = ++last_;
  asked_.emplace(last_, std::move(question));
  forwarder_.Ask(*message, dns::kMostTcp, origin);
}

void SrvResolver::OnAnswer(uint64_t number, const std::string& message) {
  auto node = asked_.extract(number);
  if (node.empty() || !lookups_.contains(node.mapped().name)) return;  // the lookup has failed before
  Question question = std::move(node.mapped());
  const auto answer = dns::ReadLookup(message);
  if (answer && answer->truncated && !question.tcp) {
    question.tcp = true;
    return Ask(std::move(question));
  }
  const size_t name = question.name;
  absl::Status status =
      answer ? Take(question, *answer) : absl::UnavailableError("its answer cannot be read");
  const auto lookup = lookups_.find(name);
  if (lookup == lookups_.end()) return;  // a question that could not be asked has ended it
  if (!status.ok()) {
    status = absl::UnavailableError(
        ToAbsl(StrCat(question.text, " ", TypeName(question.type), ": ", FromAbsl(status.message()))));
  } else if (lookup->second.waits_for > 0) {
    return;
  }
  Finish(name, status);
}

absl::Status SrvResolver::Take(const Question& question, const dns::LookupAnswer& answer) {
  // A resolver of small networks may know nothing of IPv6, and refuses to be asked for it.
  const bool refused = question.type == dns::kTypeAaaa && answer.rcode == kRefused;
  if (answer.rcode != kNoError && answer.rcode != kNoName && !refused)
    return absl::UnavailableError(ToAbsl(answer.rcode == dns::kRcodeServerFailure
                                             ? std::string("no resolver has an answer")
                                             : StrCat("the resolver says error ", answer.rcode)));
  Lookup& lookup = lookups_[question.name];
  if (question.type == dns::kTypeSrv) return TakeServices(question, answer);
  --lookup.waits_for;
  for (const dns::AddressRecord& record : answer.addresses) {
    lookup.addresses[question.text].insert(record.address);
    lookup.ttl = std::min(lookup.ttl, record.ttl);
  }
  if (answer.addresses.empty() && answer.negative_ttl)
    lookup.ttl = std::min(lookup.ttl, *answer.negative_ttl);
  return absl::OkStatus();
}

absl::Status SrvResolver::TakeServices(const Question& question, const dns::LookupAnswer& answer) {
  Lookup& lookup = lookups_[question.name];
  std::set<std::string> targets;
  for (const dns::SrvRecord& record : answer.services) {
    lookup.ttl = std::min(lookup.ttl, record.ttl);
    if (record.target.empty()) continue;  // decidedly no service
    targets.insert(record.target);
    lookup.records.push_back(record);
  }
  if (answer.services.empty()) lookup.ttl = answer.negative_ttl.value_or(0);
  if (targets.size() > kMostTargets)
    return absl::UnavailableError(ToAbsl(StrCat("more than ", kMostTargets, " targets")));
  for (const dns::AddressRecord& record : answer.addresses) {
    if (!targets.contains(record.owner)) continue;
    lookup.addresses[record.owner].insert(record.address);
    lookup.ttl = std::min(lookup.ttl, record.ttl);
  }
  std::erase_if(targets, [&](const std::string& target) { return lookup.addresses.contains(target); });
  lookup.waits_for = 2 * targets.size();
  for (const std::string& target : targets) {
    for (const uint16_t type : {dns::kTypeA, dns::kTypeAaaa}) {
      // One that cannot be asked may have ended the lookup.
      if (lookups_.contains(question.name)) Ask({question.name, target, type, false});
    }
  }
  return absl::OkStatus();
}

void SrvResolver::Finish(size_t name, const absl::Status& status) {
  const auto node = lookups_.extract(name);
  if (node.empty()) return;
  std::erase_if(asked_, [name](const auto& one) { return one.second.name == name; });
  if (!status.ok()) return done_(name, status);
  const Lookup& lookup = node.mapped();
  SrvFound found;
  found.ttl = std::chrono::seconds(lookup.ttl);
  for (const dns::SrvRecord& record : lookup.records) {
    const auto addresses = lookup.addresses.find(record.target);
    if (addresses == lookup.addresses.end()) continue;
    for (const std::string& address : addresses->second)
      found.instances.push_back({record.priority, record.weight, record.port, record.target, address});
  }
  done_(name, std::move(found));
}

}  // namespace fairlead::source
