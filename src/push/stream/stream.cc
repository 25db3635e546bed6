#include "push/stream/stream.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "push/stream/push_metrics.h"
#include "push/stream/pusher.h"
#include "push/stream/shutdown.h"

namespace fairlead::push {
namespace {

LogScope ads_log("ads");

// Answers to a response of another process must not look like answers to one of ours.
std::string NoncePrefix(uint64_t stream) {
  static const auto start =
      static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  return StrCat(start % 1000000007, "-", stream, "-");
}

// Whether the workload itself became another one, in what its proxy cannot know by itself.
bool OwnChange(const mesh::ProxyScope& before, const mesh::ProxyScope& now) {
  return &before != &now && (before.labels != now.labels || before.locality != now.locality);
}

// Whether the proxy may be another one, or see something else, than in that scope.
bool MadeFrom(const TouchedReads& touched, const mesh::ProxyScope& scope) {
  const auto reads = scope.reads();
  return scope.own_reads == nullptr || std::any_of(reads.begin(), reads.end(), [&touched](const auto* one) {
           return touched.Contains(*one);
         });
}

xds::AnswerWhen AnswersOf(Exchange exchange) {
  switch (exchange) {
    case Exchange::kStream:
      return xds::AnswerWhen::kWhatDiffers;
    case Exchange::kFetch:
      return xds::AnswerWhen::kAlways;
    case Exchange::kPoll:
      return xds::AnswerWhen::kNewVersionOnly;
  }
  return xds::AnswerWhen::kWhatDiffers;
}

}  // namespace

Stream::Stream(Pusher* pusher, uint64_t number, StreamOptions options)
    : pusher_(pusher),
      number_(number),
      options_(std::move(options)),
      sending_(&pusher->traffic_, {pusher->options_.send_timeout, pusher->options_.slowest_rate}),
      core_(options_.framing,
            options_.only ? pusher->maker_.served() & xds::MaskOf(*options_.only) : pusher->maker_.served(),
            NoncePrefix(number), AnswersOf(options_.exchange), pusher->options_.limits),
      share_(options_.peer.identities.empty() ? pusher->unproven_->Open(HostOfPeer(options_.peer.address))
                                              : nullptr),
      position_(&pusher->live_),
      answers_(options_.framing, StrCat(core_.nonce_prefix(), "a")) {}

Stream::~Stream() {
  if (connected_ != nullptr) connected_->Add(-1);
}

void Stream::Start(std::shared_ptr<StreamConnection> connection) {
  {
    std::lock_guard lock(mutex_);
    connection_ = std::move(connection);
  }
  if (pusher_->Stopping()) {  // it may have closed all streams before this one had a connection
    Close(ShuttingDown());
    return;
  }
  if (pusher_->live_.number() == 0) {
    Close(absl::UnavailableError("server is not ready to serve discovery information"));
    return;
  }
  if (options_.only && !pusher_->maker_.Serves(*options_.only)) {
    Close(absl::UnimplementedError(StrCat(xds::InfoOf(*options_.only).url, " is not served")));
    return;
  }
  if (options_.exchange == Exchange::kPoll) return Read();
  pusher_->Admit(shared_from_this());
}

void Stream::Read() {
  std::shared_ptr<StreamConnection> connection;
  {
    std::lock_guard lock(mutex_);
    connection = connection_;
  }
  if (connection != nullptr) connection->Read();
}

void Stream::OnRequest(std::string_view bytes) {
  if (TakeAtOnce(bytes)) return Read();
  if (TurnAway(bytes)) return;
  {
    std::lock_guard lock(mutex_);
    request_ = std::string(bytes);
  }
  Schedule();
}

void Stream::OnSent(bool ok) {
  {
    std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    sending_.End(ok, now);
    Metrics().send_time.Observe(Seconds(now - sending_.start()));
    if (!ok) return;
    if (converges_)
      Metrics().convergence_time.Observe(Seconds(now - *std::exchange(converges_, std::nullopt)));
    const bool more = std::exchange(waits_for_sent_, false);
    if (options_.exchange == Exchange::kStream && !(more && MarkScheduled())) return;
  }
  if (options_.exchange != Exchange::kStream) return Close(absl::OkStatus());
  Submit(UrgencyNow());
}

void Stream::OnClosed() {
  {
    std::lock_guard lock(mutex_);
    if (connection_ == nullptr) return;
    connection_ = nullptr;
    sending_.End(false, Clock::now());
  }
  pusher_->Forget(shared_from_this());
}

void Stream::OnPublished() { Schedule(); }

void Stream::Follow(Track* track) {
  position_.Follow(track);
  Schedule();
}

void Stream::ForgetInterests() { position_.ForgetInterests(shared_from_this()); }

void Stream::Check(Clock::time_point now) {
  CheckDeadline(now);
  CheckQuiet(now);
  CheckReview(now);
  std::lock_guard lock(mutex_);
  needs_check_ = holds_back_ || review_waits_ || sending_.under_way();
}

void Stream::CheckDeadline(Clock::time_point now) {
  std::shared_ptr<StreamConnection> connection;
  {
    std::lock_guard lock(mutex_);
    if (connection_ == nullptr || !sending_.GiveUp(now)) return;
    connection = connection_;
  }
  Metrics().write_timeouts.Add();
  Warn(StrCat("cutting stream ", number_, " of ", options_.peer.address, ": it does not read what is sent"));
  connection->Abort();
}

void Stream::Excuse(Clock::duration lost) {
  std::lock_guard lock(mutex_);
  sending_.Excuse(lost);
}

void Stream::CheckQuiet(Clock::time_point now) {
  {
    std::lock_guard lock(mutex_);
    const Clock::duration idle = now - idle_since_;
    if (!holds_back_ || scheduled_ || sending_.under_way() || idle < pusher_->options_.time_to_let_go) return;
    holds_back_ = false;
    quiet_ = true;
    if (!MarkScheduled()) return;
  }
  Submit(UrgencyNow());
}

bool Stream::Busy() const {
  std::lock_guard lock(mutex_);
  return connection_ != nullptr && (scheduled_ || sending_.under_way() || request_.has_value());
}

void Stream::Close(const absl::Status& status) {
  std::shared_ptr<StreamConnection> connection;
  {
    std::lock_guard lock(mutex_);
    connection = connection_;
  }
  if (connection != nullptr) connection->Close(status);
}

void Stream::Schedule() {
  {
    std::lock_guard lock(mutex_);
    if (!MarkScheduled()) return;
  }
  Submit(UrgencyNow());
}

// REQUIRES: mutex_ held.
bool Stream::MarkScheduled() {
  if (connection_ == nullptr) return false;
  if (scheduled_) {
    again_ = true;
    return false;
  }
  return scheduled_ = true;
}

// A proxy that has its configuration and waits for a change goes before those that are still being set up: a
// thousand new streams must not hold up a change for the others.
Urgency Stream::UrgencyNow() const {
  if (share_.IsLate()) return Urgency::kLate;
  return pushing_ || !position_.IsAtNewest() ? Urgency::kUrgent : Urgency::kPatient;
}

void Stream::Submit(Urgency urgency) {
  pusher_->rest_.Disturb();
  pusher_->executor_.Submit(urgency, [self = shared_from_this()] { self->Run(); });
}

void Stream::Run() {
  double start = StreamShare::ThreadTime();
  while (Step()) {
    if (share_.GivesWay(&start)) return Submit(Urgency::kLate);
  }
  share_.GivesWay(&start);
  {
    std::lock_guard work(work_mutex_);
    ReleaseSnapshot();
    NoteIdle();
  }
  {
    std::lock_guard lock(mutex_);
    if (!again_) {
      scheduled_ = false;
      return;
    }
    again_ = false;
  }
  Submit(Urgency::kUrgent);
}

// Says what the stream is to be woken for, and lets the snapshot go. REQUIRES: work_mutex_ held.
void Stream::ReleaseSnapshot() {
  if (pusher_->options_.shadow) pusher_->CountMismatches();
  if (position_.publication() == nullptr || pushing_) return;
  Interests::AllReads reads;
  for (const mesh::ReadsPtr* one : scope_->reads()) {
    if (*one != nullptr) reads.push_back(one);
  }
  for (const LastResources& made : made_) made.AddReads(&reads);
  if (objects_ != nullptr) objects_->AddReads(&reads);
  position_.Release();
  // Under the lock, so that a stream whose connection has ended is not noted after it was forgotten.
  std::lock_guard lock(mutex_);
  if (connection_ == nullptr) return;
  position_.SetInterests(shared_from_this(), std::move(reads));
  if (!position_.IsAtNewest()) again_ = true;
}

// REQUIRES: work_mutex_ held.
void Stream::NoteIdle() {
  const bool holds_back = core_.HoldsBack();
  std::lock_guard lock(mutex_);
  holds_back_ = holds_back;
  if (holds_back) needs_check_ = true;
  idle_since_ = Clock::now();
}

bool Stream::Step() {
  std::lock_guard work(work_mutex_);
  if (TakeRequest()) return true;
  bool quiet = false, late = false;
  {
    std::lock_guard lock(mutex_);
    if (connection_ == nullptr) return false;
    if (sending_.under_way()) {
      waits_for_sent_ = WaitsForSent();
      return false;
    }
    if (!answers_.waits()) {
      quiet = std::exchange(quiet_, false);
      late = std::exchange(review_late_, false);
    }
  }
  if (answers_.waits()) {
    SendAnswer();
    return true;
  }
  if (proxy_ == nullptr) return false;
  const bool left = position_.publication() == nullptr;
  if (!pushing_ && !position_.Reacquire()) {
    BeginPush();
  } else {
    if (left) FindScope();
    if (quiet) core_.OnQuiet();
    if (late) EndWait();
  }
  const auto wanted = core_.Next();
  if (!wanted) {
    if (objects_ != nullptr && SendObjects()) return true;
    if (!pushing_) return false;
    EndPush();
    return true;
  }
  const Clock::time_point start = Clock::now();
  gen::Generator& generator = pusher_->maker_.GeneratorFor(wanted->type, *proxy_);
  const mesh::World world = World();
  LastResources& made = made_[static_cast<size_t>(wanted->type)];
  const bool spared = pushing_ && (compared_ & xds::MaskOf(wanted->type)) == 0;
  if (pusher_->options_.shadow && spared && !made.Holds(world)) mesh::ReportMismatch(proxy_->id);
  const xds::ResourceSetPtr now =
      wanted->part ? pusher_->maker_.parts().MakeSome(generator, world, *wanted->names, &made)
                   : pusher_->maker_.parts().Make(generator, world, wanted->names, &made,
                                                  touched_ ? &*touched_ : nullptr);
  if (wanted->type == xds::TypeId::kSecret && AwaitsReview(made)) {
    core_.Wait(xds::MaskOf(xds::TypeId::kSecret));
    return true;
  }
  if (const auto response = core_.Offer(wanted->type, now)) {
    Send(*response,
         {xds::InfoOf(wanted->type).name, Metrics().Of(wanted->type),
          times_[static_cast<size_t>(wanted->type)]},
         start);
  }
  if (pushing_ && objects_ == nullptr && !core_.Due()) EndPush();
  return true;
}

// While a message is under way. REQUIRES: work_mutex_ held.
bool Stream::WaitsForSent() const {
  return pushing_ || core_.Due() || answers_.waits() || objects_ != nullptr || !position_.IsAtNewest();
}

// The types of which something may differ, as a mask of xds::MaskOf.
uint32_t Stream::TypesMadeFrom(const TouchedReads& touched) const {
  uint32_t types = 0;
  for (const xds::TypeInfo& type : xds::kTypes) {
    const LastResources& made = made_[static_cast<size_t>(type.id)];
    const bool as_it_was =
        made.set != nullptr && !touched.ContainsAnyOf(made.reads) && !touched.ContainsAnyOf(made.more_reads);
    if (!as_it_was) types |= xds::MaskOf(type.id);
  }
  return types;
}

// There is a newer snapshot than the one the client was brought to: what it subscribes to is due, but for the
// types of which nothing can have changed. A push that is under way is finished first, so that a stream of
// changes does not keep a slow client at its first types for ever.
void Stream::BeginPush() {
  const mesh::ProxyScopePtr before = scope_;
  TrackPosition::Passed passed = position_.BringToNewest(shared_from_this());
  const bool shadow = pusher_->options_.shadow,
             scope_holds = passed.touched && !MadeFrom(*passed.touched, *before);
  reasons_ = passed.reasons;
  touched_ = scope_holds ? std::move(passed.touched) : std::nullopt;
  compared_ = touched_ ? TypesMadeFrom(*touched_) : ~0u;
  if (shadow && scope_holds && !mesh::ScopeHolds(*position_.publication()->snapshot, *before))
    mesh::ReportMismatch(proxy_->id);
  if (shadow || !scope_holds) FindScope();
  if (OwnChange(*before, *scope_)) reasons_.Add(Reason::kProxy);
  if (reasons_.Total() == 0) reasons_.Add(Reason::kUnknown);
  reasons_.everything ? core_.OnResend() : core_.OnChange(shadow ? ~0u : compared_);
  EndWait();
  if (objects_ != nullptr) reasons_.everything ? objects_->OnResend() : objects_->OnChange();
  pushing_ = true;
  pushed_any_ = false;
  Metrics().queue_time.Observe(Seconds(Clock::now() - position_.publication()->published_at));
  for (size_t i = 0; i < kReasonCount; ++i) {
    if (reasons_.counts[i] != 0) Metrics().triggers[i]->Add();
  }
}

void Stream::EndPush() {
  pushing_ = false;
  touched_.reset();
  if (!pushed_any_) return;
  std::lock_guard lock(mutex_);
  if (sending_.under_way()) {
    converges_ = reasons_.first;
  } else {
    Metrics().convergence_time.Observe(Seconds(Clock::now() - reasons_.first));
  }
}

void Stream::FindScope() {
  scope_ = pusher_->maker_.ScopeOf(*position_.publication()->snapshot, proxy_, scope_);
}

mesh::World Stream::World() const {
  return pusher_->maker_.WorldOf(*position_.publication()->snapshot, *scope_);
}

model::ProxyPtr Stream::proxy() const {
  std::lock_guard work(work_mutex_);
  return proxy_;
}

std::optional<StreamReport> Stream::Report() const {
  std::lock_guard work(work_mutex_);
  if (proxy_ == nullptr) return std::nullopt;
  StreamReport report;
  report.number = number_;
  report.connection = name_;
  report.peer = options_.peer.address;
  report.track = position_.following()->name();
  report.connected_at = connected_at_;
  report.framing = core_.framing();
  report.only = options_.only;
  report.scope = scope_;
  for (const xds::TypeInfo& type : xds::kTypes) {
    const size_t i = static_cast<size_t>(type.id);
    report.types[i] = {core_.Status(type.id), times_[i]};
  }
  if (objects_ != nullptr) report.objects = objects_->Report();
  return report;
}

void Stream::Send(const xds::Response& response, const SentAs& as, Clock::time_point start) {
  xds::Frame frame = xds::Encode(core_.framing(), response);
  const size_t size = xds::SizeOf(frame);
  const double took = Seconds(Clock::now() - start);
  as.metrics.pushes.Add();
  as.metrics.push_time.Observe(took);
  as.metrics.config_size.Observe(static_cast<double>(size));
  if (!pushing_) Metrics().requests_triggered.Add();
  pushed_any_ = true;
  as.times.sent = std::chrono::system_clock::now();
  LogSend(response, as.name, size, took);
  Transmit(std::move(frame), &as.metrics.send_errors);
}

void Stream::LogSend(const xds::Response& response, std::string_view name, size_t size, double took) const {
  const bool quiet = pushing_ && reasons_.Only(Reason::kEndpoint);
  if (!ads_log.Enabled(quiet ? LogLevel::kDebug : LogLevel::kInfo)) return;
  const std::string line = fmt::format(
      "{}: PUSH for node:{} resources:{} removed:{} size:{:.1f}kB time:{:.1f}ms reason:{} version:{} "
      "nonce:{}",
      name, name_, response.ResourceCount(), response.removed.size(), static_cast<double>(size) / 1e3,
      took * 1e3, pushing_ ? reasons_.ToText() : std::string("request"), response.version, response.nonce);
  quiet ? ads_log.Debug("{}", line) : ads_log.Info("{}", line);
}

// Unless the stream is closed.
void Stream::Transmit(xds::Frame frame, metrics::Counter* errors) {
  std::shared_ptr<StreamConnection> connection;
  {
    std::lock_guard lock(mutex_);
    if (connection_ == nullptr) return;
    connection = connection_;
    sending_.Begin(Clock::now(), xds::SizeOf(frame), errors);
    needs_check_ = true;
  }
  pusher_->rest_.Disturb();
  connection->Send(std::move(frame));
}

}  // namespace fairlead::push
