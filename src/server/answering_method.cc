#include "server/answering_method.h"

#include <memory>
#include <utility>
#include <vector>

namespace fairlead::server {
namespace {

class AnsweringHandler : public StreamHandler, public std::enable_shared_from_this<AnsweringHandler> {
 public:
  AnsweringHandler(std::shared_ptr<ServerStream> stream, Calls calls, Answer answer, Executor* executor)
      : stream_(std::move(stream)), calls_(calls), answer_(std::move(answer)), executor_(executor) {}

  void OnMessage(std::string_view bytes) override {
    executor_->Submit(Urgency::kPatient, [self = shared_from_this(), bytes = std::string(bytes)] {
      auto answer = self->answer_(bytes, self->stream_->peer());
      if (!answer.ok()) return self->stream_->Close(answer.status());
      auto owner = std::make_shared<const std::string>(*std::move(answer));
      self->stream_->Send({{owner, *owner}});
    });
  }
  void OnSent(bool ok) override {
    if (calls_ == Calls::kUnary) return stream_->Close(absl::OkStatus());
    if (ok) stream_->Read();
  }
  void OnClosed() override {}

 private:
  const std::shared_ptr<ServerStream> stream_;
  const Calls calls_;
  const Answer answer_;
  Executor* const executor_;
};

}  // namespace

GrpcMethod AnsweringMethod(std::string path, Calls calls, Answer answer, Executor* executor) {
  return {std::move(path),
          [calls, answer = std::move(answer),
           executor](std::shared_ptr<ServerStream> stream) -> std::shared_ptr<StreamHandler> {
            stream->Read();
            return std::make_shared<AnsweringHandler>(std::move(stream), calls, answer, executor);
          }};
}

}  // namespace fairlead::server
