#include "http2/http_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <utility>

namespace fairlead::http2 {

void HttpSession::Receive(std::string_view bytes, Clock::time_point now) {
  constexpr std::string_view kPreface = NGHTTP2_CLIENT_MAGIC;
  if (known_) return spoken_->Receive(bytes, now);
  const size_t part = std::min(bytes.size(), kPreface.size() - first_.size());
  first_.append(bytes.substr(0, part));
  const bool may_begin = kPreface.starts_with(first_);
  if (may_begin && first_.size() < kPreface.size()) return;
  known_ = true;
  if (may_begin) spoken_ = make_http2_(now);
  spoken_->Receive(std::exchange(first_, {}), now);
  if (part < bytes.size()) spoken_->Receive(bytes.substr(part), now);
}

}  // namespace fairlead::http2
