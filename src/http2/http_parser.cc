#include "http2/http_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

#include "base/strings.h"

namespace fairlead::http2 {
namespace {

namespace http = boost::beast::http;
using BeastText = boost::beast::string_view;
using BeastError = boost::beast::error_code;

std::string_view Plain(BeastText text) { return {text.data(), text.size()}; }

}  // namespace

// Puts what Beast finds into a request of ours.
class HttpParser::Impl final : public http::basic_parser<true> {
 public:
  explicit Impl(const HttpLimits& limits) : max_unread_(limits.max_head) {
    header_limit(static_cast<uint32_t>(limits.max_head));
    body_limit(limits.max_body);
    eager(true);
  }

  // What Beast has not understood yet it wants to see again with what follows.
  BeastError Take(std::string_view bytes) {
    unread_.append(bytes);
    BeastError error;
    size_t at = 0;
    while (!is_done() && !error && at < unread_.size())
      at += put(boost::asio::const_buffer(unread_.data() + at, unread_.size() - at), error);
    unread_.erase(0, at);
    if (is_done()) std::string().swap(unread_);
    // What is said of a chunk has no limit of Beast's.
    if (unread_.size() > max_unread_) return http::error::header_limit;
    return error == http::error::need_more ? BeastError() : error;
  }
  size_t held() const { return unread_.capacity() + request.body.capacity() + head_size_; }

  ParsedRequest request;
  bool chunks = false;

 private:
  void on_request_impl(http::verb, BeastText method, BeastText target, int version, BeastError&) override {
    chunks = version >= 11;
    request.method = Plain(method);
    request.target = Plain(target);
    head_size_ += method.size() + target.size();
  }
  void on_response_impl(int, BeastText, int, BeastError&) override {}
  // What comes after the body, as fields, nobody reads.
  void on_field_impl(http::field, BeastText name, BeastText value, BeastError&) override {
    if (has_head_) return;
    request.headers[AsciiLower(Plain(name))] = Plain(value);
    head_size_ += name.size() + value.size();
  }
  void on_header_impl(BeastError&) override { has_head_ = true; }
  void on_body_init_impl(const boost::optional<uint64_t>&, BeastError&) override {}
  size_t on_body_impl(BeastText body, BeastError&) override {
    request.body.append(Plain(body));
    return body.size();
  }
  void on_chunk_header_impl(uint64_t, BeastText, BeastError&) override {}
  size_t on_chunk_body_impl(uint64_t, BeastText body, BeastError&) override {
    request.body.append(Plain(body));
    return body.size();
  }
  void on_finish_impl(BeastError&) override {}

  const size_t max_unread_;
  std::string unread_;
  bool has_head_ = false;
  size_t head_size_ = 0;
};

HttpParser::HttpParser(const HttpLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}
HttpParser::~HttpParser() = default;

HttpParser::State HttpParser::Take(std::string_view bytes) {
  if (state_ != State::kHead && state_ != State::kBody) return state_;
  const BeastError error = impl_->Take(bytes);
  if (error == http::error::header_limit) {
    state_ = State::kHeadTooLarge;
  } else if (error == http::error::body_limit) {
    state_ = State::kBodyTooLarge;
  } else if (error) {
    state_ = State::kWrong;
  } else if (impl_->is_done()) {
    state_ = State::kWhole;
  } else if (impl_->is_header_done()) {
    state_ = State::kBody;
  }
  return state_;
}

bool HttpParser::WantsContinue() const {
  const auto expect = impl_->request.headers.find("expect");
  return expect != impl_->request.headers.end() && EqualsIgnoreCase(expect->second, "100-continue");
}

bool HttpParser::TakesChunks() const { return impl_->chunks; }
size_t HttpParser::held() const { return impl_->held(); }
ParsedRequest& HttpParser::request() { return impl_->request; }

}  // namespace fairlead::http2
