#include "ca/trust_bundle.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/base64.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "ca/secret_file.h"

namespace fairlead::ca {
namespace {

LogScope trust_log("trustBundle");

constexpr std::string_view kNotAnAuthority = "a certificate is not an authority's";

absl::Status Unreadable(std::string_view why) { return absl::InvalidArgumentError(ToAbsl(why)); }

// All of them, or why not.
absl::StatusOr<Certificates> ReadAuthorities(std::string_view pem) {
  auto certificates = ReadCertificates(pem);
  if (!certificates.ok()) return certificates.status();
  if (!std::all_of(certificates->begin(), certificates->end(), IsAuthority))
    return Unreadable(kNotAnAuthority);
  return certificates;
}

std::string UrlOf(const std::string& address) {
  return address.find("://") == std::string::npos ? StrCat("https://", address) : address;
}

}  // namespace

absl::StatusOr<Certificates> ReadSpiffeBundle(std::string_view json) {
  const auto bundle = ParseJson(json);
  if (!bundle || !bundle->is_object() || !bundle->contains("keys") || !(*bundle)["keys"].is_array())
    return Unreadable("not a SPIFFE bundle");
  Certificates all;
  for (const nlohmann::json& key : (*bundle)["keys"]) {
    if (!key.is_object() || JsonString(key, "use") != "x509-svid") continue;
    const auto chain = key.find("x5c");
    if (chain == key.end() || !chain->is_array() || chain->size() != 1 || !chain->front().is_string())
      return Unreadable("a key of use x509-svid has not one certificate");
    const auto der = DecodeBase64(chain->front().get<std::string>());  // RFC 7517, 4.7
    if (!der) return Unreadable("a certificate is no base64");
    auto certificate = ReadCertificateDer(*der);
    if (!certificate.ok()) return certificate.status();
    if (!IsAuthority(*certificate)) return Unreadable(kNotAnAuthority);
    all.push_back(*std::move(certificate));
  }
  if (all.empty()) return Unreadable("no key of use x509-svid");
  return all;
}

TrustBundle::TrustBundle(TrustBundleOptions options, std::function<void(model::TrustBundlePtr)> take)
    : options_(std::move(options)), take_(std::move(take)) {}

TrustBundle::~TrustBundle() { Stop(); }

void TrustBundle::Start() {
  thread_ = RequireThread([this] { Run(); });
}

void TrustBundle::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  watch_.Wake();
  if (thread_.joinable()) thread_.join();
}

void TrustBundle::SetRoots(const Certificates& roots) {
  {
    std::lock_guard lock(mutex_);
    roots_ = roots;
  }
  Tell();
}

void TrustBundle::SetMesh(const std::vector<std::string>& pems, const std::vector<std::string>& addresses) {
  bool more = false;
  {
    std::lock_guard lock(mutex_);
    if (pems != pems_) {
      pems_ = pems;
      of_mesh_.clear();
      for (size_t i = 0; i < pems.size(); ++i) {
        const auto read = ReadAuthorities(pems[i]);
        if (read.ok()) {
          of_mesh_.insert(of_mesh_.end(), read->begin(), read->end());
        } else {
          trust_log.Error("caCertificates of the MeshConfig: pem {} of {}: {}; skipped", i + 1, pems.size(),
                          FromAbsl(read.status().message()));
        }
      }
    }
    std::erase_if(addresses_, [&addresses](const auto& entry) {
      return std::find(addresses.begin(), addresses.end(), entry.first) == addresses.end();
    });
    for (const std::string& address : addresses) more |= addresses_.try_emplace(address).second;
  }
  if (more) watch_.Wake();
  Tell();
}

void TrustBundle::Look(Clock::time_point now) {
  LookAtFile();
  std::vector<std::string> due;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [address, state] : addresses_) {
      if (state.next <= now) due.push_back(address);
    }
  }
  for (const std::string& address : due) Ask(address, now);
}

void TrustBundle::LookAtFile() {
  if (options_.roots_file.empty()) return;
  auto text = ReadSecretFile(options_.roots_file);
  if (!text.ok() || *text == file_text_) return;  // whoever signs with them says what is wrong
  file_text_ = *std::move(text);
  const auto roots = ReadAuthorities(file_text_);
  if (roots.ok()) SetRoots(*roots);
}

// Without the lock while the address is asked.
void TrustBundle::Ask(const std::string& address, Clock::time_point now) {
  auto document = options_.fetch(UrlOf(address));
  auto certificates = document.ok() ? ReadSpiffeBundle(*document) : document.status();
  {
    std::lock_guard lock(mutex_);
    const auto it = addresses_.find(address);
    if (it == addresses_.end()) return;  // nobody's any more
    Address& state = it->second;
    if (certificates.ok()) {
      state.certificates = *std::move(certificates);
      state.next = now + options_.refresh;
      state.retry = std::chrono::milliseconds(0);
      state.broken.clear();
    } else {
      const std::string why(certificates.status().message());
      if (why != state.broken) trust_log.Error("SPIFFE bundle at {}: {}", address, why);
      state.broken = why;
      state.retry = state.retry.count() == 0 ? options_.first_retry : 2 * state.retry;
      state.next = now + std::min(state.retry, options_.refresh);
    }
  }
  Tell();
}

Clock::time_point TrustBundle::NextLook() {
  std::lock_guard lock(mutex_);
  auto next = Clock::time_point::max();
  for (const auto& [address, state] : addresses_) next = std::min(next, state.next);
  return next;
}

void TrustBundle::Run() {
  std::vector<std::string> files;
  if (!options_.roots_file.empty()) files.push_back(options_.roots_file);
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    watch_.Watch(files);  // before it is read, so that no change is missed
    Look(Clock::now());
    watch_.Wait(NextLook());
  }
}

void TrustBundle::Tell() {
  std::lock_guard telling(telling_);
  std::set<std::string> all;
  {
    std::lock_guard lock(mutex_);
    const auto add = [&all](const Certificates& certificates) {
      for (const CertificatePtr& certificate : certificates) all.insert(CertificatePem(certificate));
    };
    add(roots_);
    add(of_mesh_);
    for (const auto& [address, state] : addresses_) add(state.certificates);
  }
  auto bundle = std::make_shared<const model::TrustBundle>(all.begin(), all.end());
  if (told_ != nullptr && *told_ == *bundle) return;
  trust_log.Info("workloads trust {} authorities", bundle->size());
  told_ = bundle;
  take_(std::move(bundle));
}

}  // namespace fairlead::ca
