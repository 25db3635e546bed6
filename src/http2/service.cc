#include "http2/service.h"

#include <utility>

#include "base/strings.h"

namespace fairlead::http2 {

ServedMethods::ServedMethods(ServerOptions options) : options_(std::move(options)) {
  for (const Method& method : options_.methods) methods_.emplace(method.path, &method);
}

const Method* ServedMethods::Find(std::string_view path) const {
  const auto found = methods_.find(path);
  return found == methods_.end() ? nullptr : found->second;
}

absl::Status ServedMethods::Refuse(std::string_view path) const {
  if (options_.refuse) return options_.refuse(path);
  return absl::UnimplementedError(StrCat(path, " is not served"));
}

}  // namespace fairlead::http2
