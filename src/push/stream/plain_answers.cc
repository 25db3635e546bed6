#include "push/stream/plain_answers.h"

#include <charconv>

#include "base/hash.h"
#include "base/strings.h"

namespace fairlead::push {

bool PlainAnswers::Gave(std::string_view nonce) const {
  if (!nonce.starts_with(nonce_prefix_)) return false;
  const std::string_view digits = nonce.substr(nonce_prefix_.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number > 0 && number <= count_;
}

void PlainAnswers::Set(xds::PlainResponse response) {
  std::string content;
  for (const xds::PlainResource& resource : response.resources) content += resource.any;
  response.version = ToHex(StableHash(content));
  response.nonce = StrCat(nonce_prefix_, ++count_);
  next_ = xds::Encode(framing_, response);
}

}  // namespace fairlead::push
