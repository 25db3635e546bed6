#include "source/consul/consul_intentions.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/strings.h"
#include "config/check/names.h"
#include "config/content_hash.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "proto/messages.h"

namespace fairlead::source {
namespace {

using config::Node;
using istio::security::v1beta1::AuthorizationPolicy;
using istio::security::v1beta1::Rule;

constexpr char kAny[] = "*";
constexpr size_t kMostPermissions = 256;

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(ToAbsl(text)); }

// Characters that Istio would read as a pattern.
bool IsPlain(std::string_view text) { return text.find_first_of("*{}") == std::string_view::npos; }

// Of what identities, paths, methods and headers are made, so that a policy of them is one that Istio admits.
bool IsOf(std::string_view text, std::string_view also) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [also](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != std::string_view::npos;
  });
}
bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

void Refuse(const std::string& what, ConsulIntention* intention) {
  if (intention->unknown.empty()) intention->unknown = what;
}

std::optional<ConsulPermission::Header> ReadHeader(Node node) {
  ConsulPermission::Header header;
  header.name = AsciiLower(node.Find("Name").String());
  header.invert = node.Find("Invert").Bool();
  const std::string_view exact = node.Find("Exact").String(), prefix = node.Find("Prefix").String(),
                         suffix = node.Find("Suffix").String();
  if (node.Find("Present").Bool()) {
    header.value = kAny;
  } else if (!exact.empty()) {
    header.value = exact;
  } else if (!prefix.empty()) {
    header.value = StrCat(prefix, "*");
  } else if (!suffix.empty()) {
    header.value = StrCat("*", suffix);
  }
  const bool known = node.Find("Regex").String().empty() && node.Find("Contains").String().empty() &&
                     !node.Find("IgnoreCase").Bool();
  const bool plain = IsPlain(exact) && IsPlain(prefix) && IsPlain(suffix) && IsVisible(header.value);
  if (!known || !plain || header.value.empty() || !IsOf(header.name, "-_.")) return std::nullopt;
  return header;
}

bool ReadAction(Node node, bool* allow) {
  const std::string_view action = node.String();
  *allow = action == "allow";
  return *allow || action == "deny";
}

absl::Status ReadPermission(Node node, ConsulIntention* intention) {
  ConsulPermission permission;
  if (!ReadAction(node.Find("Action"), &permission.allow))
    return Wrong("a permission has no action that is known");
  const Node http = node.Find("HTTP");
  permission.path_exact = http.Find("PathExact").String();
  permission.path_prefix = http.Find("PathPrefix").String();
  if (!http.Find("PathRegex").String().empty()) Refuse("a pattern of paths", intention);
  for (const std::string& path : {permission.path_exact, permission.path_prefix}) {
    if (!path.empty() && (!path.starts_with('/') || !IsPlain(path) || !IsVisible(path)))
      Refuse("a path that Istio reads as a pattern, or as none", intention);
  }
  if (node.Find("JWT")) Refuse("a permission by tokens", intention);
  for (const Node method : http.Find("Methods").elements()) {
    permission.methods.emplace_back(method.String());
    if (!IsOf(permission.methods.back(), "-")) Refuse("a method that is none", intention);
  }
  for (const Node header : http.Find("Header").elements()) {
    auto read = ReadHeader(header);
    if (!read) Refuse("a pattern of headers", intention);
    if (read) permission.headers.push_back(*std::move(read));
  }
  intention->permissions.push_back(std::move(permission));
  return absl::OkStatus();
}

absl::StatusOr<ConsulIntention> ReadSource(Node node, bool by_token) {
  ConsulIntention intention;
  const Node permissions = node.Find("Permissions");
  if (permissions.size() == 0) {
    if (!ReadAction(node.Find("Action"), &intention.allow))
      return Wrong("a source has no action that is known");
  }
  if (permissions.size() > kMostPermissions)
    return Wrong(StrCat("a source has more than ", kMostPermissions, " permissions"));
  for (const Node permission : permissions.elements()) {
    if (absl::Status status = ReadPermission(permission, &intention); !status.ok()) return status;
  }
  if (by_token) Refuse("tokens (JWT)", &intention);
  return intention;
}

// What a rule allows; the conditions are one of each list, all of them.
struct Clause {
  std::vector<std::string> paths, not_paths, methods, not_methods;
  std::vector<ConsulPermission::Header> headers;
};

std::vector<std::string> PathsOf(const ConsulPermission& permission) {
  if (!permission.path_exact.empty()) return {permission.path_exact};
  if (!permission.path_prefix.empty()) return {StrCat(permission.path_prefix, "*")};
  return {};
}

// The clause where the permission does not match: any of its conditions fails.
std::vector<Clause> Without(const Clause& clause, const ConsulPermission& permission) {
  std::vector<Clause> out;
  if (const auto paths = PathsOf(permission); !paths.empty()) {
    Clause& other = out.emplace_back(clause);
    other.not_paths.insert(other.not_paths.end(), paths.begin(), paths.end());
  }
  if (!permission.methods.empty()) {
    Clause& other = out.emplace_back(clause);
    other.not_methods.insert(other.not_methods.end(), permission.methods.begin(), permission.methods.end());
  }
  for (ConsulPermission::Header header : permission.headers) {
    header.invert = !header.invert;
    out.emplace_back(clause).headers.push_back(std::move(header));
  }
  return out;
}

// The first permission that matches counts: each that allows does so where none of the earlier ones denies.
// Nothing where that takes too many clauses.
std::optional<std::vector<Clause>> ClausesOf(const std::vector<ConsulPermission>& permissions) {
  std::vector<Clause> all;
  for (size_t i = 0; i < permissions.size(); ++i) {
    if (!permissions[i].allow) continue;
    std::vector<Clause> mine = {
        {PathsOf(permissions[i]), {}, permissions[i].methods, {}, permissions[i].headers}};
    for (size_t earlier = 0; earlier < i; ++earlier) {
      if (permissions[earlier].allow) continue;
      std::vector<Clause> next;
      for (const Clause& clause : mine) {
        for (Clause& one : Without(clause, permissions[earlier])) next.push_back(std::move(one));
      }
      mine = std::move(next);
      if (mine.size() > kMostIntentionRules) return std::nullopt;
    }
    for (Clause& one : mine) all.push_back(std::move(one));
    if (all.size() > kMostIntentionRules) return std::nullopt;
  }
  return all;
}

void AddClause(const Clause& clause, Rule* rule) {
  if (!clause.paths.empty() || !clause.not_paths.empty() || !clause.methods.empty() ||
      !clause.not_methods.empty()) {
    auto& operation = *rule->add_to()->mutable_operation();
    for (const std::string& path : clause.paths) operation.add_paths(path);
    for (const std::string& path : clause.not_paths) operation.add_not_paths(path);
    for (const std::string& method : clause.methods) operation.add_methods(method);
    for (const std::string& method : clause.not_methods) operation.add_not_methods(method);
  }
  for (const ConsulPermission::Header& header : clause.headers) {
    auto& condition = *rule->add_when();
    condition.set_key(StrCat("request.headers[", header.name, "]"));
    if (header.invert) {
      condition.add_not_values(header.value);
    } else {
      condition.add_values(header.value);
    }
  }
}

// What counts at a destination: of each source that is named there or for all destinations, and of all
// others.
struct Decision {
  std::map<std::string, ConsulIntention> named;
  ConsulIntention others;
};

// The destination that is named goes before all destinations, and there the source before all sources.
// Source: developer.hashicorp.com/consul/docs/secure-mesh/intention#precedence-and-match-order
Decision Decide(const ConsulIntentions& intentions, const std::string& service, bool allowed_by_default) {
  Decision decision;
  decision.others.allow = allowed_by_default;
  bool own_others = false;
  for (const std::string& destination : {service, std::string(kAny)}) {
    const auto found = intentions.find(destination);
    if (found == intentions.end()) continue;
    for (const auto& [source, intention] : found->second) {
      // A source of all destinations gives way to all sources of this one.
      if (source != kAny && !own_others) decision.named.emplace(source, intention);
    }
    const auto others = found->second.find(kAny);
    if (others == found->second.end() || own_others) continue;
    decision.others = others->second;
    own_others = true;
  }
  return decision;
}

class PolicyMaker {
 public:
  PolicyMaker(const ConsulOptions& options, const std::string& service)
      : options_(options), service_(service) {
    origin_.file = Interned(StrCat(options.url.Name(), "/v1/config/service-intentions/", service));
    origin_.api_version = Interned("security.istio.io/v1");
  }
  PlatformPart Make(const Decision& decision);

 private:
  void Allow(const std::string& source, const ConsulIntention& intention, const Decision& decision);
  Rule NewRule(const std::string& source, const Decision& decision) const;
  std::string PrincipalOf(const std::string& source) const;
  void Warn(std::string code, const std::string& text);

  const ConsulOptions& options_;
  const std::string& service_;
  config::Origin origin_;
  std::shared_ptr<AuthorizationPolicy> policy_ = std::make_shared<AuthorizationPolicy>();
  PlatformPart part_;
};

void PolicyMaker::Warn(std::string code, const std::string& text) {
  config::Diagnostic diagnostic;
  diagnostic.severity = config::Severity::kWarning;
  diagnostic.code = std::move(code);
  diagnostic.file = origin_.file.str();
  diagnostic.message = text;
  part_.diagnostics.push_back(std::move(diagnostic));
}

std::string PolicyMaker::PrincipalOf(const std::string& source) const {
  return ExpandTemplate(options_.principal, {{"name", source}, {"namespace", options_.platform.ns}});
}

Rule PolicyMaker::NewRule(const std::string& source, const Decision& decision) const {
  Rule rule;
  auto& from = *rule.add_from()->mutable_source();
  if (source != kAny) {
    from.add_principals(PrincipalOf(source));
    return rule;
  }
  from.add_principals(kAny);
  for (const auto& [name, intention] : decision.named) {
    if (name.find('/') == std::string::npos) from.add_not_principals(PrincipalOf(name));
  }
  return rule;
}

void PolicyMaker::Allow(const std::string& source, const ConsulIntention& intention,
                        const Decision& decision) {
  if (!intention.unknown.empty())
    return Warn("unsupported-intention", StrCat("the intention of ", source, " has ", intention.unknown,
                                                ", for which there is no policy: it allows nothing"));
  if (intention.permissions.empty()) {
    if (intention.allow) *policy_->add_rules() = NewRule(source, decision);
    return;
  }
  const auto clauses = ClausesOf(intention.permissions);
  if (!clauses)
    return Warn("unsupported-intention", StrCat("the permissions of ", source, " take more than ",
                                                kMostIntentionRules, " rules: they allow nothing"));
  for (const Clause& clause : *clauses) {
    Rule rule = NewRule(source, decision);
    AddClause(clause, &rule);
    *policy_->add_rules() = std::move(rule);
  }
}

PlatformPart PolicyMaker::Make(const Decision& decision) {
  policy_->set_action(AuthorizationPolicy::ALLOW);
  (*policy_->mutable_selector()->mutable_match_labels())[options_.intention_label] = service_;
  for (const auto& [source, intention] : decision.named) Allow(source, intention, decision);
  Allow(kAny, decision.others, decision);
  config::ObjectMeta meta;
  meta.name = StrCat("intentions-", AsciiLower(service_));
  meta.ns = options_.platform.ns;
  meta.labels.emplace("fairlead.dev/registry", "consul");
  if (!config::check::IsDns1123Subdomain(std::string_view(meta.name)) ||
      !config::check::LabelProblem(options_.intention_label, service_).empty()) {
    Warn("invalid-name", "the service's name is no label of workloads: its intentions are not in force");
    return std::move(part_);
  }
  config::ContentHash hash;
  hash.Add(static_cast<uint8_t>(config::Kind::kAuthorizationPolicy))
      .Add(meta)
      .Add(proto::DeterministicBytes(*policy_));
  part_.objects.push_back(std::make_shared<const config::ConfigObject>(
      config::Kind::kAuthorizationPolicy, std::move(meta), origin_, policy_, hash.value()));
  return std::move(part_);
}

}  // namespace

absl::StatusOr<ConsulIntentions> ReadConsulIntentions(config::JsonReader& reader, std::string_view text) {
  const absl::StatusOr<config::Tree> tree = reader.Read(text);
  if (!tree.ok()) return tree.status();
  if (!tree->root().IsSequence() && !tree->root().IsNull()) return Wrong("the list of intentions is no list");
  ConsulIntentions intentions;
  size_t count = 0;
  for (const Node entry : tree->root().elements()) {
    const std::string destination(entry.Find("Name").String());
    if (destination.empty()) return Wrong("intentions have no destination");
    for (const Node source : entry.Find("Sources").elements()) {
      if (++count > kMostConsulIntentions)
        return Wrong(StrCat("more than ", kMostConsulIntentions, " intentions"));
      std::string name(source.Find("Name").String());
      if (name != kAny && !IsOf(name, "-_."))
        return Wrong(StrCat("an intention of ", destination, " has no source with a name"));
      auto read = ReadSource(source, static_cast<bool>(entry.Find("JWT")));
      if (!read.ok())
        return Wrong(StrCat(destination, ", source ", name, ": ", FromAbsl(read.status().message())));
      const std::string_view peer = source.Find("Peer").String(),
                             group = source.Find("SamenessGroup").String();
      if (!peer.empty() || !group.empty()) {
        Refuse("a source of another cluster", &*read);
        name = StrCat(peer, group, "/", name);
      }
      intentions[destination].insert_or_assign(name, *std::move(read));
    }
  }
  return intentions;
}

PlatformPart MakeIntentionPolicy(const ConsulOptions& options, const ConsulIntentions& intentions,
                                 const std::string& service) {
  const Decision decision = Decide(intentions, service, options.allowed_by_default);
  const bool plain =
      decision.named.empty() && options.allowed_by_default && decision.others == ConsulIntention{true};
  return plain ? PlatformPart() : PolicyMaker(options, service).Make(decision);
}

}  // namespace fairlead::source
