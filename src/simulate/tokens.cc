#include "simulate/tokens.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/strings.h"
#include "envoy/extensions/filters/http/jwt_authn/v3/config.pb.h"
#include "simulate/value_match.h"

namespace fairlead::simulate {
namespace {

using envoy::extensions::filters::http::jwt_authn::v3::JwtAuthentication;
using envoy::extensions::filters::http::jwt_authn::v3::JwtProvider;
using envoy::extensions::filters::http::jwt_authn::v3::JwtRequirement;
using google::protobuf::Struct;
using google::protobuf::Value;

constexpr std::string_view kFilter = "envoy.filters.http.jwt_authn";
constexpr std::string_view kWrongAudience = "Audiences in Jwt are not allowed";  // answered 403, all else 401
constexpr int64_t kClockSkew = 60;                                               // seconds, Envoy's default

// What became of a provider's or a requirement's token.
struct Verified {
  enum class State : uint8_t { kGood, kMissing, kBad } state = State::kMissing;
  std::string reason;  // of kBad: as Envoy words it
};

const Value* Find(const Struct& claims, const std::string& name) {
  const auto found = claims.fields().find(name);
  return found == claims.fields().end() ? nullptr : &found->second;
}

std::string TextOf(const Value& value) {
  if (value.has_string_value()) return value.string_value();
  std::string text;
  return google::protobuf::util::MessageToJsonString(value, &text).ok() ? text : "";
}

std::optional<std::string> Parameter(const std::string& path, std::string_view name) {
  const size_t start = path.find('?');
  if (start == std::string::npos) return std::nullopt;
  const std::string_view query = std::string_view(path).substr(start + 1);
  for (const std::string_view pair : Split(query.substr(0, query.find('#')), '&')) {
    const size_t equals = pair.find('=');
    if (equals != pair.npos && pair.substr(0, equals) == name) return std::string(pair.substr(equals + 1));
  }
  return std::nullopt;
}

std::optional<std::string> Cookie(const SimulatedRequest& request, std::string_view name) {
  const std::string cookies = request.Header("cookie").value_or("");
  for (const std::string_view part : Split(cookies, ';')) {
    const std::string_view pair = Trim(part);
    const size_t equals = pair.find('=');
    if (equals != pair.npos && pair.substr(0, equals) == name) return std::string(pair.substr(equals + 1));
  }
  return std::nullopt;
}

// The first token where the provider looks for one.
std::optional<std::string> FindToken(const JwtProvider& provider, const SimulatedRequest& request) {
  const bool says_where =
      provider.from_headers_size() + provider.from_params_size() + provider.from_cookies_size() > 0;
  const auto header = [&](const std::string& name, std::string_view prefix) -> std::optional<std::string> {
    const std::optional<std::string> value = request.Header(AsciiLower(name));
    if (!value || !value->starts_with(prefix)) return std::nullopt;
    return std::string(Trim(std::string_view(*value).substr(prefix.size())));
  };
  if (!says_where) {
    auto found = header("authorization", "Bearer ");
    return found ? found : Parameter(request.path, "access_token");
  }
  for (const auto& one : provider.from_headers()) {
    if (auto found = header(one.name(), one.value_prefix())) return found;
  }
  for (const std::string& name : provider.from_params()) {
    if (auto found = Parameter(request.path, name)) return found;
  }
  for (const std::string& name : provider.from_cookies()) {
    if (auto found = Cookie(request, name)) return found;
  }
  return std::nullopt;
}

std::string WithoutEnd(std::string_view audience) {
  if (audience.ends_with('/')) audience.remove_suffix(1);
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (audience.starts_with(scheme)) audience.remove_prefix(scheme.size());
  }
  return std::string(audience);
}

bool IsForOne(const Struct& claims, const JwtProvider& provider) {
  if (provider.audiences().empty()) return true;
  std::set<std::string> named;
  if (const Value* audience = Find(claims, "aud")) {
    if (audience->has_string_value()) named.insert(WithoutEnd(audience->string_value()));
    for (const Value& one : audience->list_value().values()) named.insert(WithoutEnd(one.string_value()));
  }
  return std::any_of(provider.audiences().begin(), provider.audiences().end(),
                     [&](const std::string& wanted) { return named.contains(WithoutEnd(wanted)); });
}

// "" where the claims are those of a good token.
std::string WhyBad(const Struct& claims, const JwtProvider& provider, int64_t now) {
  const Value* issuer = Find(claims, "iss");
  if (!provider.issuer().empty() && (issuer == nullptr || issuer->string_value() != provider.issuer()))
    return "Jwt issuer is not configured";
  const Value *from = Find(claims, "nbf"), *until = Find(claims, "exp");
  if (from != nullptr && from->number_value() > static_cast<double>(now + kClockSkew))
    return "Jwt not yet valid";
  if (until != nullptr && until->number_value() < static_cast<double>(now - kClockSkew))
    return "Jwt is expired";
  return IsForOne(claims, provider) ? "" : std::string(kWrongAudience);
}

class Filter {
 public:
  Filter(const JwtAuthentication& config, SimulatedRequest* request, SimulationOutcome* outcome)
      : config_(config), request_(*request), outcome_(*outcome) {}

  // Whether the requirement is met; `siblings` are those beside it in a list of alternatives.
  Verified Check(const JwtRequirement& requirement, bool any_token) {
    switch (requirement.requires_type_case()) {
      case JwtRequirement::kProviderName:
        return CheckProvider(requirement.provider_name());
      case JwtRequirement::kRequiresAny:
        return CheckAny(requirement.requires_any().requirements());
      case JwtRequirement::kRequiresAll:
        return CheckAll(requirement.requires_all().requirements());
      case JwtRequirement::kAllowMissing:
        return {any_token ? Verified::State::kMissing : Verified::State::kGood, ""};
      default:
        return {Verified::State::kGood, ""};
    }
  }

 private:
  using Requirements = google::protobuf::RepeatedPtrField<JwtRequirement>;

  Verified CheckAny(const Requirements& all) {
    Verified worst;
    for (const JwtRequirement& one : all) {
      Verified verified = Check(one, worst.state == Verified::State::kBad);
      if (verified.state == Verified::State::kGood) return verified;
      // A token of another issuer says less than what is wrong with one of this.
      const bool tells_more =
          worst.state != Verified::State::kBad || worst.reason == "Jwt issuer is not configured";
      if (verified.state == Verified::State::kBad && tells_more) worst = verified;
    }
    return worst;
  }
  Verified CheckAll(const Requirements& all) {
    for (const JwtRequirement& one : all) {
      if (Verified verified = Check(one, false); verified.state != Verified::State::kGood) return verified;
    }
    return {Verified::State::kGood, ""};
  }

  Verified CheckProvider(const std::string& name) {
    const auto found = config_.providers().find(name);
    if (found == config_.providers().end()) return {};
    const JwtProvider& provider = found->second;
    std::optional<Struct> claims = request_.claims;
    if (!claims) {
      const std::optional<std::string> token = FindToken(provider, request_);
      if (!token) return {};
      claims = ClaimsOf(*token);
      if (!claims) {
        return {Verified::State::kBad,
                "Jwt is not in the form of Header.Payload.Signature with two dots and 3 sections"};
      }
    }
    std::string why = WhyBad(*claims, provider, request_.time);
    if (!why.empty()) return {Verified::State::kBad, std::move(why)};
    if (taken_.insert(name).second) Take(provider, *std::move(claims));
    return {Verified::State::kGood, ""};
  }

  void Take(const JwtProvider& provider, Struct claims) {
    outcome_.steps.push_back({"token of", provider.issuer()});
    if (!request_.claims) {
      outcome_.notes.push_back(
          StrCat("the signature of the token of ", provider.issuer(), " is taken for good"));
    }
    SetHeaders(provider, claims);
    for (const std::string& name : provider.normalize_payload_in_metadata().space_delimited_claims()) {
      const auto claim = claims.mutable_fields()->find(name);
      if (claim == claims.mutable_fields()->end() || !claim->second.has_string_value()) continue;
      const std::string text = claim->second.string_value();
      auto* list = claim->second.mutable_list_value();
      for (const std::string_view part : Split(text, ' ')) {
        if (!part.empty()) list->add_values()->set_string_value(std::string(part));
      }
    }
    auto& of_filter = (*request_.metadata.mutable_fields())[std::string(kFilter)];
    *(*of_filter.mutable_struct_value()->mutable_fields())[provider.payload_in_metadata()]
         .mutable_struct_value() = std::move(claims);
  }

  void SetHeaders(const JwtProvider& provider, const Struct& claims) {
    for (const auto& wanted : provider.claim_to_headers()) {
      if (const Value* claim = Find(claims, wanted.claim_name()))
        SetHeader(wanted.header_name(), TextOf(*claim));
    }
    if (!provider.forward_payload_header().empty()) {
      outcome_.changes.push_back(
          {"request header", StrCat("set ", provider.forward_payload_header(), ": the token's payload")});
    }
  }
  void SetHeader(const std::string& name, const std::string& value) {
    const std::string lower = AsciiLower(name);
    std::erase_if(request_.headers, [&](const auto& header) { return header.first == lower; });
    request_.headers.emplace_back(lower, value);
    outcome_.changes.push_back({"request header", StrCat("set ", lower, ": ", value)});
  }

  const JwtAuthentication& config_;
  SimulatedRequest& request_;
  SimulationOutcome& outcome_;
  std::set<std::string> taken_;
};

bool IsPreflight(const SimulatedRequest& request) {
  return request.method == "OPTIONS" && request.Header("origin") &&
         request.Header("access-control-request-method");
}

}  // namespace

std::optional<Struct> ClaimsOf(std::string_view token) {
  const std::vector<std::string_view> parts = Split(token, '.');
  if (parts.size() != 3) return std::nullopt;
  const std::optional<std::string> payload = DecodeBase64(parts[1]);
  Struct claims;
  if (!payload || !google::protobuf::util::JsonStringToMessage(*payload, &claims).ok()) return std::nullopt;
  return claims;
}

bool RefusedForToken(const google::protobuf::Any& config, SimulatedRequest* request,
                     SimulationOutcome* outcome) {
  JwtAuthentication authentication;
  if (!config.UnpackTo(&authentication)) return false;
  if (authentication.bypass_cors_preflight() && IsPreflight(*request)) return false;
  const auto& rules = authentication.rules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const auto& one) {
    return request->path.starts_with(one.match().prefix());
  });
  if (rule == rules.end() || !rule->has_requires_()) return false;
  const Verified verified = Filter(authentication, request, outcome).Check(rule->requires_(), false);
  if (verified.state == Verified::State::kGood) return false;
  outcome->verdict = CallVerdict::kDirectResponse;
  outcome->status = verified.reason == kWrongAudience ? 403 : 401;
  outcome->reason = verified.state == Verified::State::kMissing ? "Jwt is missing" : verified.reason;
  return true;
}

}  // namespace fairlead::simulate
