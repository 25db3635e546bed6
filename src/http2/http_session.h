#ifndef FAIRLEAD_HTTP2_HTTP_SESSION_H_
#define FAIRLEAD_HTTP2_HTTP_SESSION_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http2/protocol.h"

namespace fairlead::http2 {

// A connection of a listener of pages: HTTP/2 where the client begins by its preface, else HTTP/1.1. Source:
// RFC 9113, 3.4
class HttpSession final : public SpokenProtocol {
 public:
  // Makes the session of HTTP/2, at the time of the first byte.
  using MakeHttp2 = std::function<std::unique_ptr<SpokenProtocol>(Clock::time_point now)>;

  HttpSession(std::unique_ptr<SpokenProtocol> http1, MakeHttp2 make_http2)
      : spoken_(std::move(http1)), make_http2_(std::move(make_http2)) {}

  void Receive(std::string_view bytes, Clock::time_point now) override;
  void Produce(size_t most, Batch* batch) override { spoken_->Produce(most, batch); }
  void Written(size_t bytes) override { spoken_->Written(bytes); }
  Clock::time_point Check(Clock::time_point now) override { return spoken_->Check(now); }
  void End(Clock::time_point now, Clock::time_point end) override { spoken_->End(now, end); }
  bool EndSome() override { return spoken_->EndSome(); }
  bool Done() const override { return spoken_->Done(); }
  bool Cut() const override { return spoken_->Cut(); }
  const std::string& failure() const override { return spoken_->failure(); }
  size_t Appetite() const override { return spoken_->Appetite(); }
  bool greeted() const override { return spoken_->greeted(); }
  Standing standing() const override { return spoken_->standing(); }
  size_t streams() const override { return spoken_->streams(); }
  size_t held() const override { return spoken_->held(); }

 private:
  std::unique_ptr<SpokenProtocol> spoken_;  // HTTP/1.1 until the preface has come
  const MakeHttp2 make_http2_;
  std::string first_;  // bytes that may begin the preface
  bool known_ = false;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_HTTP_SESSION_H_
