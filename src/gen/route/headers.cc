#include "gen/route/headers.h"

#include "base/strings.h"

namespace fairlead::gen::route {

bool IsInternalHeader(std::string_view name) {
  return name.starts_with(':') || EqualsIgnoreCase(name, "host");
}

bool IsAuthorityHeader(std::string_view name) {
  return EqualsIgnoreCase(name, ":authority") || EqualsIgnoreCase(name, "host");
}

std::vector<std::pair<std::string, std::string>> SortedEntries(
    const google::protobuf::Map<std::string, std::string>& map) {
  std::vector<std::pair<std::string, std::string>> out(map.begin(), map.end());
  std::sort(out.begin(), out.end());
  return out;
}

void SetHeaderOption(const std::string& name, const std::string& value, bool append,
                     envoy::config::core::v3::HeaderValueOption* out) {
  using Option = envoy::config::core::v3::HeaderValueOption;
  out->mutable_header()->set_key(name);
  out->mutable_header()->set_value(value);
  out->set_append_action(append ? Option::APPEND_IF_EXISTS_OR_ADD : Option::OVERWRITE_IF_EXISTS_OR_ADD);
}

}  // namespace fairlead::gen::route
