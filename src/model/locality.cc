#include "base/strings.h"
#include "model/endpoint.h"

namespace fairlead::model {

std::string Locality::ToString() const {
  std::string out = region.str();
  if (zone.empty()) return out;
  StrAppend(&out, "/", zone.str());
  if (!subzone.empty()) StrAppend(&out, "/", subzone.str());
  return out;
}

Locality Locality::Parse(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, '/');
  Locality locality;
  locality.region = parts[0];
  if (parts.size() > 1) locality.zone = parts[1];
  if (parts.size() > 2) locality.subzone = parts[2];
  return locality;
}

}  // namespace fairlead::model
