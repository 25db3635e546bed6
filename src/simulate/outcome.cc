#include "simulate/outcome.h"

#include <charconv>

#include "base/strings.h"

namespace fairlead::simulate {
namespace {

std::string Shares(const std::vector<Destination>& destinations) {
  std::vector<std::string> parts;
  parts.reserve(destinations.size());
  for (const Destination& one : destinations) {
    parts.push_back(destinations.size() == 1 ? one.cluster
                                             : StrCat(one.cluster, " ", ToText(one.percent), "%"));
  }
  return Join(parts, ", ");
}

void AddValues(const std::vector<Fact>& facts, std::string_view key, std::vector<std::string>* out) {
  for (const Fact& fact : facts) {
    if (fact.key == key) out->push_back(fact.value);
  }
}

}  // namespace

std::string_view ToText(CallVerdict verdict) {
  switch (verdict) {
    case CallVerdict::kHttp:
      return "http";
    case CallVerdict::kTcp:
      return "tcp";
    case CallVerdict::kRedirect:
      return "redirect";
    case CallVerdict::kDirectResponse:
      return "direct response";
    case CallVerdict::kNotFound:
      return "not found";
    case CallVerdict::kUnavailable:
      return "unavailable";
    case CallVerdict::kClosed:
      return "closed";
    case CallVerdict::kNobody:
      return "nobody";
  }
  return "";
}

std::string ToText(double number) {
  char digits[32];
  constexpr int kPrecision = 4;
  const auto [end, error] =
      std::to_chars(digits, digits + sizeof digits, number, std::chars_format::general, kPrecision);
  return error == std::errc() ? std::string(digits, end) : std::string();
}

std::string ToText(const Transport& transport) {
  const std::string_view kind = !transport.tls && transport.passes_tls ? "the client's own TLS"
                                : !transport.tls                       ? "plaintext"
                                : transport.certificate == Transport::Certificate::kMesh ? "mutual TLS"
                                : transport.certificate == Transport::Certificate::kOwn
                                    ? "TLS with client certificate"
                                    : "TLS";
  return StrCat(kind, transport.server_name.empty() ? "" : StrCat(" (SNI ", transport.server_name, ")"));
}

std::string ToText(const ObjectName& object) {
  return StrCat(object.kind, " ", object.ns, object.ns.empty() ? "" : "/", object.name);
}

std::string SimulationOutcome::Summary() const {
  if (reached()) return Shares(destinations);
  if (verdict == CallVerdict::kRedirect) return StrCat("redirect ", status, " ", location);
  if (verdict == CallVerdict::kClosed) return StrCat("closed: ", reason);
  if (verdict == CallVerdict::kNobody) return reason;
  return StrCat("response ", status, reason.empty() ? "" : ": ", reason);
}

std::vector<std::string> SimulationOutcome::Values(std::string_view key) const {
  std::vector<std::string> out;
  AddValues(steps, key, &out);
  AddValues(changes, key, &out);
  if (key == "object") {
    for (const ObjectName& object : objects) out.push_back(ToText(object));
  }
  for (const Destination& destination : destinations) {
    AddValues(destination.changes, key, &out);
    for (const Candidate& one : destination.candidates) {
      if (key == "endpoint") out.push_back(one.address);
      if (key == "transport") out.push_back(ToText(one.transport));
    }
  }
  return out;
}

}  // namespace fairlead::simulate
