#include "simulate/value_match.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace fairlead::simulate {
namespace {

using envoy::config::route::v3::HeaderMatcher;
using envoy::config::route::v3::QueryParameterMatcher;
using envoy::type::matcher::v3::MetadataMatcher;
using envoy::type::matcher::v3::RegexMatcher;
using envoy::type::matcher::v3::StringMatcher;
using envoy::type::matcher::v3::ValueMatcher;

bool InRange(const envoy::type::v3::Int64Range& range, std::string_view value) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() && number >= range.start() &&
         number < range.end();
}

// The deprecated specifiers are what an EnvoyFilter may still use.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
// `invert_match` apart.
bool MatchesPresent(const HeaderMatcher& matcher, std::string_view value) {
  switch (matcher.header_match_specifier_case()) {
    case HeaderMatcher::kExactMatch:
      return value == matcher.exact_match();
    case HeaderMatcher::kSafeRegexMatch:
      return Matches(matcher.safe_regex_match(), value);
    case HeaderMatcher::kRangeMatch:
      return InRange(matcher.range_match(), value);
    case HeaderMatcher::kPresentMatch:
      return matcher.present_match();
    case HeaderMatcher::kPrefixMatch:
      return value.starts_with(matcher.prefix_match());
    case HeaderMatcher::kSuffixMatch:
      return value.ends_with(matcher.suffix_match());
    case HeaderMatcher::kContainsMatch:
      return value.find(matcher.contains_match()) != value.npos;
    case HeaderMatcher::kStringMatch:
      return Matches(matcher.string_match(), value);
    case HeaderMatcher::HEADER_MATCH_SPECIFIER_NOT_SET:
      return true;  // present
  }
  return false;
}

#pragma GCC diagnostic pop

std::optional<std::string_view> QueryValue(std::string_view path, std::string_view name) {
  const size_t start = path.find('?');
  if (start == path.npos) return std::nullopt;
  std::string_view query = path.substr(start + 1);
  query = query.substr(0, query.find('#'));
  for (std::string_view pair : Split(query, '&')) {
    const size_t equals = pair.find('=');
    if (pair.substr(0, equals) == name) return equals == pair.npos ? "" : pair.substr(equals + 1);
  }
  return std::nullopt;
}

const google::protobuf::Value* Find(const google::protobuf::Struct& level, std::string_view key) {
  const auto found = level.fields().find(std::string(key));
  return found == level.fields().end() ? nullptr : &found->second;
}

bool MatchesValue(const ValueMatcher& matcher, const google::protobuf::Value* value) {
  using google::protobuf::Value;
  if (matcher.has_present_match()) return (value != nullptr) == matcher.present_match();
  if (matcher.has_or_match()) {
    const auto& all = matcher.or_match().value_matchers();
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return MatchesValue(one, value); });
  }
  if (value == nullptr) return false;
  if (matcher.has_null_match()) return value->kind_case() == Value::kNullValue;
  if (matcher.has_bool_match())
    return value->kind_case() == Value::kBoolValue && value->bool_value() == matcher.bool_match();
  if (matcher.has_string_match())
    return value->kind_case() == Value::kStringValue &&
           Matches(matcher.string_match(), value->string_value());
  if (matcher.has_list_match() && value->kind_case() == Value::kListValue) {
    const auto& all = value->list_value().values();
    return std::any_of(all.begin(), all.end(),
                       [&](const Value& one) { return MatchesValue(matcher.list_match().one_of(), &one); });
  }
  return false;
}

}  // namespace

bool Matches(const RegexMatcher& matcher, std::string_view value) {
  const RE2 pattern(matcher.regex(), RE2::Quiet);
  return pattern.ok() && RE2::FullMatch(re2::StringPiece(value.data(), value.size()), pattern);
}

bool Matches(const StringMatcher& matcher, std::string_view value) {
  if (matcher.has_safe_regex()) return Matches(matcher.safe_regex(), value);
  const auto folded = [&](std::string_view text) {
    return matcher.ignore_case() ? AsciiLower(text) : std::string(text);
  };
  const std::string have = folded(value);
  switch (matcher.match_pattern_case()) {
    case StringMatcher::kExact:
      return have == folded(matcher.exact());
    case StringMatcher::kPrefix:
      return have.starts_with(folded(matcher.prefix()));
    case StringMatcher::kSuffix:
      return have.ends_with(folded(matcher.suffix()));
    case StringMatcher::kContains:
      return have.find(folded(matcher.contains())) != have.npos;
    default:
      return false;
  }
}

bool Matches(const HeaderMatcher& matcher, const SimulatedRequest& request) {
  const std::optional<std::string> value = request.Header(matcher.name());
  if (!value && !matcher.treat_missing_header_as_empty()) {
    // A missing header fails every rule, inverted or not, but those about presence itself.
    const bool about_presence =
        matcher.has_present_match() ||
        matcher.header_match_specifier_case() == HeaderMatcher::HEADER_MATCH_SPECIFIER_NOT_SET;
    const bool wants_presence = !matcher.has_present_match() || matcher.present_match();
    return about_presence && wants_presence == matcher.invert_match();
  }
  return MatchesPresent(matcher, value.value_or("")) != matcher.invert_match();
}

bool Matches(const QueryParameterMatcher& matcher, const SimulatedRequest& request) {
  const std::optional<std::string_view> value = QueryValue(request.path, matcher.name());
  if (matcher.has_present_match()) return value.has_value() == matcher.present_match();
  if (!value) return false;
  return !matcher.has_string_match() || Matches(matcher.string_match(), *value);
}

bool Matches(const MetadataMatcher& matcher, const SimulatedRequest& request) {
  std::vector<std::string_view> keys = {matcher.filter()};
  for (const auto& segment : matcher.path()) keys.push_back(segment.key());
  const google::protobuf::Struct* level = &request.metadata;
  const google::protobuf::Value* value = nullptr;
  for (std::string_view key : keys) {
    value = level == nullptr ? nullptr : Find(*level, key);
    level = value != nullptr && value->has_struct_value() ? &value->struct_value() : nullptr;
  }
  return MatchesValue(matcher.value(), value) != matcher.invert();
}

double Percent(const envoy::type::v3::FractionalPercent& fraction) {
  switch (fraction.denominator()) {
    case envoy::type::v3::FractionalPercent::TEN_THOUSAND:
      return fraction.numerator() / 100.0;
    case envoy::type::v3::FractionalPercent::MILLION:
      return fraction.numerator() / 10000.0;
    default:
      return fraction.numerator();
  }
}

std::string_view PathOnly(std::string_view path) { return path.substr(0, path.find_first_of("?#")); }

}  // namespace fairlead::simulate
