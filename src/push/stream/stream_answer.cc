#include <utility>

#include "base/excerpt.h"
#include "base/hash.h"
#include "base/strings.h"
#include "proto/descriptors.h"
#include "push/stream/pusher.h"
#include "push/stream/stream.h"

// What a stream answers to types that hold no configuration of proxies.
namespace fairlead::push {
namespace {

std::vector<std::string> Copies(const std::vector<std::string_view>& names) {
  return {names.begin(), names.end()};
}

// Whether the type is one of the APIs that this server knows of, served or not.
bool IsApiType(std::string_view url) {
  constexpr std::string_view kPrefix = "type.googleapis.com/";
  if (!url.starts_with(kPrefix)) return false;
  const std::string name(url.substr(kPrefix.size()));
  return name.starts_with("istio.") || proto::WholeApiPool().FindMessageTypeByName(name) != nullptr;
}

}  // namespace

void Stream::Inspect(const xds::DecodedRequest& request) {
  if (!pusher_->options_.inspector) {
    return Close(absl::UnimplementedError(StrCat(Excerpt(request.type_url), " is not served")));
  }
  Inspection inspection{std::string(request.type_url), Copies(request.subscribe), options_.peer, identity_};
  const Hash128 question = StableHash(StrCat(request.type_url, "\n", Join(request.subscribe, "\n")));
  if (answers_.Gave(request.nonce) && (question == inspected_ || request.subscribe.empty())) return;
  inspected_ = question;
  read_later_ = true;
  // It looks at all streams, this one too: not while this one's lock is held.
  pusher_->executor_.Submit(Urgency::kPatient,
                            [self = shared_from_this(), inspection = std::move(inspection)] {
                              auto resources = self->pusher_->options_.inspector(inspection);
                              if (!resources.ok()) return self->Close(resources.status());
                              {
                                std::lock_guard work(self->work_mutex_);
                                self->answers_.Set({.type_url = inspection.type_url,
                                                    .resources = *std::move(resources),
                                                    .control_plane = self->pusher_->options_.control_plane});
                              }
                              self->Schedule();
                            });
}

void Stream::TakeObjectRequest(const xds::DecodedRequest& request) {
  if (objects_ == nullptr) {
    const absl::Status status = pusher_->maker_.objects().authorize(options_.peer, identity_);
    if (!status.ok()) {
      Warn(StrCat("refusing ", Excerpt(request.type_url), " of node:", name_, ": ",
                  FromAbsl(status.message())));
      return Close(status);
    }
    objects_ = std::make_unique<ObjectSubscriptions>(core_.framing(), StrCat(core_.nonce_prefix(), "o"),
                                                     &pusher_->maker_.objects(), pusher_->options_.limits);
  }
  const auto [type, meant] = objects_->OnRequest(request);
  const xds::RequestVerdict::Kind verdict = meant.kind;
  if (verdict == xds::RequestVerdict::kTooMuch) return Refuse(request.type_url, meant.excess);
  if (verdict == xds::RequestVerdict::kStale) type->metrics.expired_nonces.Add();
  if (verdict == xds::RequestVerdict::kNack) type->metrics.rejects.Add();
  NoteTimes(request, verdict, &type->times);
  LogRequest(request, verdict, request.type_url);
}

bool Stream::SendObjects() {
  const Clock::time_point start = Clock::now();
  const auto offer = objects_->Next(&pusher_->maker_.parts(), World());
  if (!offer) return false;
  Send(offer->response, {offer->response.url, offer->type->metrics, offer->type->times}, start);
  return true;
}

// An aggregated stream carries all that a proxy needs: it does not end because of a type that is not served
// here. In the incremental variant the client is told that there are no such resources; in the other, where
// only a type whose responses are complete can say so, one that asks for everything is.
void Stream::AnswerUnknown(const xds::DecodedRequest& request) {
  if (!IsApiType(request.type_url) && proxy_->metadata.generator != kObjectGenerator) {
    return Close(absl::InvalidArgumentError(StrCat(Excerpt(request.type_url), " is no type of resource")));
  }
  const bool ack = answers_.Gave(request.nonce);
  if (ack && request.subscribe.empty()) return;
  if (core_.framing() == xds::Framing::kDelta) {
    answers_.Set({.type_url = request.type_url, .removed = Copies(request.subscribe)});
  } else if (!ack && request.subscribe.empty()) {
    answers_.Set({.type_url = request.type_url});
  } else {
    return;
  }
  read_later_ = true;
}

void Stream::SendAnswer() {
  Transmit(answers_.Take(), nullptr);
  Read();
}

}  // namespace fairlead::push
