#include "agent/google_token.h"

#include <chrono>
#include <ctime>
#include <utility>

#include "base/base64.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"

namespace fairlead::agent {
namespace {

LogScope token_log("gcecred");

constexpr int64_t kGrace = 25 * 60;
constexpr std::chrono::minutes kLook{5};
constexpr std::chrono::seconds kRetry{5};
constexpr std::chrono::milliseconds kPatience{5'000};
constexpr size_t kMostBytes = 16 << 10;

}  // namespace

int64_t EndOfToken(std::string_view token) {
  const auto parts = Split(token, '.');
  if (parts.size() != 3) return 0;
  const auto text = DecodeBase64(parts[1]);
  const auto claims = text ? ParseJson(*text) : std::nullopt;
  if (!claims || !claims->is_object()) return 0;
  const auto end = claims->find("exp");
  return end != claims->end() && end->is_number_integer() ? end->get<int64_t>() : 0;
}

GoogleToken::GoogleToken(std::string server, std::string audience, std::string file, AskMetadata ask)
    : server_(std::move(server)),
      audience_(std::move(audience)),
      file_(std::move(file)),
      ask_(std::move(ask)) {}

GoogleToken::~GoogleToken() { Stop(); }

void GoogleToken::Start() {
  thread_ = RequireThread([this] {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      lock.unlock();
      const absl::Status status = Refresh(std::time(nullptr));
      if (!status.ok()) token_log.Warn("{}", std::string(status.message()));
      lock.lock();
      const std::chrono::seconds wait = status.ok() ? std::chrono::seconds(kLook) : kRetry;
      stop_.wait_for(lock, wait, [this] { return stopping_; });
    }
  });
}

void GoogleToken::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::Status GoogleToken::Refresh(int64_t now) {
  if (ends_ > now + kGrace) return absl::OkStatus();
  const std::string url =
      StrCat(server_, "/computeMetadata/v1/instance/service-accounts/default/identity?audience=", audience_,
             "&format=full");
  const auto answer = ask_({"GET", url, {"Metadata-Flavor: Google"}, kPatience});
  const std::string token(Trim(answer.value_or("")));
  if (token.empty() || token.size() > kMostBytes)
    return absl::UnavailableError(StrCat("no token of the machine: ", url, " does not answer with one"));
  if (const size_t slash = file_.rfind('/'); slash != std::string::npos && slash > 0) {
    if (absl::Status status = CreatePrivateFolder(file_.substr(0, slash)); !status.ok()) return status;
  }
  if (absl::Status status = WritePrivateFile(file_, token); !status.ok()) return status;
  ends_ = EndOfToken(token);
  token_log.Info("a token of the machine for {}s", ends_ - now);
  return absl::OkStatus();
}

}  // namespace fairlead::agent
