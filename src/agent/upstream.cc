#include "agent/upstream.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "agent/grpc_request.h"
#include "base/strings.h"
#include "base/thread.h"
#include "transport/message_reader.h"

namespace fairlead::agent {
namespace {

constexpr size_t kMostMessage = 24 << 20;  // less than the 32 MiB that libcurl lets a server send at once
constexpr size_t kMostUndone = 4 << 20;    // bytes that came and are not dealt with, until reading pauses
// What libcurl has to say of the server's window may wait until it sends.
constexpr size_t kMostUnflushed = 4 << 20;
constexpr long kConnectMilliseconds = 10'000;
constexpr long kIdleSeconds = 30, kProbeSeconds = 5;
constexpr unsigned kVanishedMilliseconds = 20'000;

}  // namespace

// The thread's side of all calls.
struct Upstream::Loop {
  ~Loop() {
    if (multi != nullptr) curl_multi_cleanup(multi);
  }
  void Run();
  void Wake(const std::shared_ptr<UpstreamCall::State>& call);
  void Begin(const std::shared_ptr<UpstreamCall::State>& call);
  void End(const std::shared_ptr<UpstreamCall::State>& call, bool tell);

  CURLM* multi = nullptr;
  std::atomic<bool> stopping{false};
  std::thread thread;
  std::mutex mutex;
  std::vector<std::shared_ptr<UpstreamCall::State>> woken;  // guarded by mutex
  // Of the thread.
  std::map<CURL*, std::shared_ptr<UpstreamCall::State>> calls;
};

struct UpstreamCall::State : std::enable_shared_from_this<State> {
  // Set before the call begins.
  std::shared_ptr<Upstream::Loop> loop;
  std::string url, connect_to, crl_file, roots;
  Secret own;
  bool tls = false;

  std::mutex mutex;
  std::shared_ptr<UpstreamHandler> handler;  // null: cancelled or over; guarded by mutex
  std::string to_send;                       // guarded by mutex
  size_t sent = 0;                           // of to_send; guarded by mutex
  size_t undone = 0;                         // guarded by mutex

  // Of the thread.
  CURL* curl = nullptr;
  curl_slist *fields = nullptr, *place = nullptr;
  transport::MessageReader reader;
  std::string problem = std::string(CURL_ERROR_SIZE, '\0');
  GrpcEnd end;
  absl::Status broken;  // why we end it
  bool sending_paused = false, reading_paused = false;
  size_t unflushed = 0;  // bytes that came since something was sent

  std::shared_ptr<UpstreamHandler> Handler() {
    std::lock_guard lock(mutex);
    return handler;
  }
  bool Over() const { return end.ended() || !broken.ok(); }
  bool Configure();
  void Resume();
  void Flush();
  absl::Status Outcome(CURLcode code) const;
  size_t TakeBody(std::string_view bytes);
  void TakeField(std::string_view line);
  size_t Give(char* out, size_t most);

  ~State() {
    if (curl != nullptr) curl_easy_cleanup(curl);
    curl_slist_free_all(fields);
    curl_slist_free_all(place);
  }
};

namespace {

using State = UpstreamCall::State;

size_t OnBody(char* data, size_t size, size_t count, void* self) {
  return static_cast<State*>(self)->TakeBody({data, size * count});
}
size_t OnField(char* data, size_t size, size_t count, void* self) {
  static_cast<State*>(self)->TakeField({data, size * count});
  return size * count;
}
size_t OnGive(char* out, size_t size, size_t count, void* self) {
  return static_cast<State*>(self)->Give(out, size * count);
}
// What was sent and is not acknowledged for so long ends the connection, probes included.
int OnSocket(void*, curl_socket_t socket, curlsocktype) {
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kVanishedMilliseconds, sizeof kVanishedMilliseconds);
  return CURL_SOCKOPT_OK;
}

}  // namespace

bool UpstreamCall::State::Configure() {
  curl = curl_easy_init();
  for (const char* field : {"content-type: application/grpc", "te: trailers", "expect:"}) {
    curl_slist* const more = curl_slist_append(fields, field);
    if (more == nullptr) return false;
    fields = more;
  }
  if (curl == nullptr) return false;
  const auto set = [this](CURLoption option, auto value) { curl_easy_setopt(curl, option, value); };
  const auto set_bytes = [&](CURLoption option, const std::string& bytes) {
    curl_blob blob{const_cast<char*>(bytes.data()), bytes.size(), CURL_BLOB_COPY};
    set(option, &blob);
  };
  set(CURLOPT_URL, url.c_str());
  if (!connect_to.empty()) set(CURLOPT_CONNECT_TO, place = curl_slist_append(nullptr, connect_to.c_str()));
  set(CURLOPT_PROXY, "");
  set(CURLOPT_HTTP_VERSION,
      static_cast<long>(tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
  if (tls) {
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set_bytes(CURLOPT_CAINFO_BLOB, roots);
    set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
    if (access(crl_file.c_str(), R_OK) == 0) set(CURLOPT_CRLFILE, crl_file.c_str());
    if (!own.key.empty()) {
      set_bytes(CURLOPT_SSLCERT_BLOB, own.chain);
      set_bytes(CURLOPT_SSLKEY_BLOB, own.key);
    }
  }
  // A connection of its own: it was made with this certificate.
  set(CURLOPT_FRESH_CONNECT, 1L);
  set(CURLOPT_FORBID_REUSE, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, kIdleSeconds);
  set(CURLOPT_TCP_KEEPINTVL, kProbeSeconds);
  set(CURLOPT_SOCKOPTFUNCTION, &OnSocket);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTPHEADER, fields);
  set(CURLOPT_POST, 1L);
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(-1));
  set(CURLOPT_READFUNCTION, &OnGive);
  set(CURLOPT_READDATA, this);
  set(CURLOPT_WRITEFUNCTION, &OnBody);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_HEADERFUNCTION, &OnField);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_ERRORBUFFER, problem.data());
  reader.Start(kMostMessage, /*compressed=*/false);
  return true;
}

size_t UpstreamCall::State::TakeBody(std::string_view bytes) {
  const size_t size = bytes.size();
  {
    std::lock_guard lock(mutex);
    reading_paused = undone > kMostUndone;
  }
  if (reading_paused) return CURL_WRITEFUNC_PAUSE;
  unflushed += size;
  while (!bytes.empty()) {
    const auto found = reader.Take(&bytes);
    if (found == transport::MessageReader::Found::kError) {
      broken = reader.error();
      return 0;
    }
    if (found != transport::MessageReader::Found::kMessage) continue;
    std::string whole(reader.message());
    reader.Release();
    {
      std::lock_guard lock(mutex);
      undone += whole.size();
    }
    if (const auto to_tell = Handler()) to_tell->OnReply(std::move(whole));
  }
  return size;
}

void UpstreamCall::State::TakeField(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    const auto words = Split(Trim(line), ' ');
    if (words.size() < 2 || !words[1].starts_with("2"))
      broken = absl::UnavailableError(StrCat("the control plane answers ", Trim(line)));
    return;
  }
  end.TakeField(line);
}

size_t UpstreamCall::State::Give(char* out, size_t most) {
  size_t given = 0;
  bool all = false;
  {
    std::lock_guard lock(mutex);
    given = to_send.copy(out, most, sent);
    sent += given;
    all = given > 0 && sent == to_send.size();
    if (all) {
      to_send.clear();
      sent = 0;
    }
    sending_paused = given == 0;
  }
  if (all) {
    if (const auto to_tell = Handler()) to_tell->OnTaken();
  }
  return given == 0 ? CURL_READFUNC_PAUSE : given;
}

// Goes on with what there is something to do for.
void UpstreamCall::State::Resume() {
  bool send = false, read = false;
  {
    std::lock_guard lock(mutex);
    send = sending_paused && sent < to_send.size();
    read = reading_paused && undone <= kMostUndone;
  }
  if (!send && !read) return;
  if (send) sending_paused = false;
  if (read) reading_paused = false;
  curl_easy_pause(curl, (sending_paused ? CURLPAUSE_SEND : 0) | (reading_paused ? CURLPAUSE_RECV : 0));
}

// Lets libcurl ask for something to send, by which it sends what it has.
void UpstreamCall::State::Flush() {
  if (unflushed <= kMostUnflushed || !sending_paused) return;
  unflushed = 0;
  sending_paused = false;
  curl_easy_pause(curl, reading_paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
}

absl::Status UpstreamCall::State::Outcome(CURLcode code) const {
  if (!broken.ok()) return broken;
  if (end.ended()) return end.Said();
  if (code == CURLE_OK) return absl::UnavailableError("the control plane ended the stream");
  const char* const said = problem.c_str();
  return absl::UnavailableError(*said == '\0' ? curl_easy_strerror(code) : said);
}

void Upstream::Loop::Wake(const std::shared_ptr<UpstreamCall::State>& call) {
  if (stopping) return;
  {
    std::lock_guard lock(mutex);
    woken.push_back(call);
  }
  curl_multi_wakeup(multi);
}

void Upstream::Loop::Begin(const std::shared_ptr<UpstreamCall::State>& call) {
  if (!call->Configure()) {
    if (const auto handler = call->Handler()) handler->OnEnd(absl::InternalError("libcurl cannot be used"));
    return;
  }
  calls.emplace(call->curl, call);
  curl_multi_add_handle(multi, call->curl);
}

void Upstream::Loop::End(const std::shared_ptr<UpstreamCall::State>& call, bool tell) {
  curl_multi_remove_handle(multi, call->curl);
  calls.erase(call->curl);
  const auto handler = call->Handler();
  if (tell && handler != nullptr) handler->OnEnd(call->Outcome(CURLE_OK));
  std::lock_guard lock(call->mutex);
  call->handler = nullptr;
}

void Upstream::Loop::Run() {
  constexpr int kLongestWait = 60'000;
  while (!stopping) {
    std::vector<std::shared_ptr<UpstreamCall::State>> now;
    {
      std::lock_guard lock(mutex);
      now.swap(woken);
    }
    for (const auto& call : now) {
      const bool wanted = call->Handler() != nullptr;
      if (call->curl == nullptr && wanted) Begin(call);
      if (call->curl == nullptr || !calls.contains(call->curl)) continue;
      if (wanted) {
        call->Resume();
      } else {
        End(call, false);
      }
    }
    int running = 0, left = 0;
    curl_multi_perform(multi, &running);
    while (const CURLMsg* done = curl_multi_info_read(multi, &left)) {
      if (done->msg != CURLMSG_DONE) continue;
      const auto call = calls.at(done->easy_handle);
      call->broken.Update(call->Outcome(done->data.result));
      End(call, true);
    }
    // A server that has ended a stream waits for us to end it, too, where sending pauses.
    std::vector<std::shared_ptr<UpstreamCall::State>> over;
    for (const auto& [curl, call] : calls) {
      call->Over() ? over.push_back(call) : call->Flush();
    }
    for (const auto& call : over) End(call, true);
    curl_multi_poll(multi, nullptr, 0, kLongestWait, nullptr);
  }
}

Upstream::Upstream(UpstreamOptions options) : options_(std::move(options)), loop_(std::make_shared<Loop>()) {}

Upstream::~Upstream() { Stop(); }

void Upstream::Start() {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  loop_->multi = curl_multi_init();
  loop_->thread = RequireThread([loop = loop_] { loop->Run(); });
}

void Upstream::Stop() {
  if (loop_->stopping.exchange(true) || loop_->multi == nullptr) return;
  curl_multi_wakeup(loop_->multi);
  loop_->thread.join();
  for (const auto& [curl, call] : loop_->calls) curl_multi_remove_handle(loop_->multi, curl);
  loop_->calls.clear();
  std::lock_guard lock(loop_->mutex);
  loop_->woken.clear();
}

std::unique_ptr<UpstreamCall> Upstream::Open(const std::string& path, const Secret& own,
                                             const std::string& roots,
                                             std::shared_ptr<UpstreamHandler> handler) {
  const auto authority = [this](const std::string& name) {
    return StrCat(name.find(':') == std::string::npos ? name : StrCat("[", name, "]"), ":", options_.port);
  };
  auto state = std::make_shared<UpstreamCall::State>();
  state->loop = loop_;
  const std::string& name = options_.server_name.empty() ? options_.host : options_.server_name;
  state->url = StrCat(options_.tls ? "https://" : "http://", authority(name), path);
  if (name != options_.host) state->connect_to = StrCat(authority(name), ":", authority(options_.host));
  state->tls = options_.tls;
  state->crl_file = options_.crl_file;
  state->own = own;
  state->roots = roots;
  state->handler = std::move(handler);
  loop_->Wake(state);
  return std::make_unique<UpstreamCall>(std::move(state));
}

void UpstreamCall::Send(std::string_view message) {
  {
    std::lock_guard lock(state_->mutex);
    state_->to_send += GrpcFrame(message);
  }
  state_->loop->Wake(state_);
}

void UpstreamCall::Done(size_t bytes) {
  bool read = false;
  {
    std::lock_guard lock(state_->mutex);
    const bool much = state_->undone > kMostUndone;
    state_->undone -= std::min(bytes, state_->undone);
    read = much && state_->undone <= kMostUndone;
  }
  if (read) state_->loop->Wake(state_);
}

void UpstreamCall::Cancel() {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->handler == nullptr) return;
    state_->handler = nullptr;
  }
  state_->loop->Wake(state_);
}

}  // namespace fairlead::agent
