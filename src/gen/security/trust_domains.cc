#include "gen/security/trust_domains.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/strings.h"

namespace fairlead::gen::security {
namespace {

constexpr std::string_view kOwn = "cluster.local";  // the mesh's own domain, whatever its name
constexpr size_t kPartsOfAPrincipal = 5;

bool StartsLike(std::string_view text, std::string_view pattern) {
  return pattern.ends_with('*') && text.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool EndsLike(std::string_view text, std::string_view pattern) {
  return pattern.starts_with('*') && text.ends_with(pattern.substr(1));
}

// Either may be the pattern.
bool Alike(std::string_view a, std::string_view b) {
  return a == b || StartsLike(a, b) || StartsLike(b, a) || EndsLike(a, b) || EndsLike(b, a);
}

void AddNew(std::string value, Values* out) {
  if (std::find(out->begin(), out->end(), value) == out->end()) *out->Add() = std::move(value);
}

// The principal's domain; "" where it has none, or says nothing of it.
std::string_view DomainOf(std::string_view principal) {
  const std::vector<std::string_view> parts = Split(principal, '/');
  return parts.size() != kPartsOfAPrincipal || parts[0] == "*" ? std::string_view() : parts[0];
}

Values InAllDomains(const std::string& principal, std::string_view domain, TrustDomains trust_domains) {
  Values out;
  const std::string_view rest = std::string_view(principal).substr(domain.size());
  for (const std::string& other : trust_domains) {
    AddNew(EndsLike(other, domain) ? principal : StrCat(other, rest), &out);
  }
  return out;
}

}  // namespace

Values PrincipalsWithAliases(const Values& principals, TrustDomains trust_domains) {
  Values out;
  for (const std::string& principal : principals) {
    const std::string_view domain = DomainOf(principal);
    const auto is_it = [domain](const std::string& own) { return Alike(domain, own); };
    const bool ours = domain == kOwn || std::any_of(trust_domains.begin(), trust_domains.end(), is_it);
    const bool stays = domain.empty() || !ours;
    if (stays) {
      *out.Add() = principal;
    } else {
      out.MergeFrom(InAllDomains(principal, domain, trust_domains));
    }
  }
  return out;
}

Values TrustDomainsWithAliases(const Values& names, TrustDomains trust_domains) {
  Values out;
  for (const std::string& name : names) {
    const bool ours = std::find(trust_domains.begin(), trust_domains.end(), name) != trust_domains.end();
    if (!ours) {
      AddNew(name, &out);
      continue;
    }
    for (const std::string& domain : trust_domains) AddNew(domain, &out);
  }
  return out;
}

}  // namespace fairlead::gen::security
