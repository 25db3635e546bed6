#ifndef FAIRLEAD_WASM_REGISTRY_FAKE_H_
#define FAIRLEAD_WASM_REGISTRY_FAKE_H_

#include <httplib.h>

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "wasm/digest.h"

// For tests.
namespace fairlead::wasm {

// An HTTP server on loopback with a registry of one repository "team/filter", and with files. Thread-safe.
class FakeRegistry {
 public:
  enum class Login { kNone, kBasic, kBearer };

  // `address`: of loopback, that it listens on.
  explicit FakeRegistry(std::string address = "127.0.0.1") : address_(std::move(address)) {
    server_.Get(
        R"(/v2/team/filter/(manifests|blobs)/(.+))",
        [this](const httplib::Request& request, httplib::Response& response) { Serve(request, response); });
    server_.Get("/token", [this](const httplib::Request& request, httplib::Response& response) {
      Note("token");
      const bool known = request.get_header_value("Authorization") == "Basic YW5uOnNlc2FtZQ==";
      const bool scoped = request.get_param_value("scope") == "repository:team/filter:pull";
      if (!known || !scoped) return void(response.status = 401);
      response.set_content(R"({"token": "let-me-in"})", "application/json");
    });
    server_.Get(R"(/files/(.+))", [this](const httplib::Request& request, httplib::Response& response) {
      Note(request.path);
      std::lock_guard lock(mutex_);
      shown_.push_back(request.get_header_value("Authorization"));
      if (failures_ > 0) {
        --failures_;
        return void(response.status = 503);
      }
      const auto found = files_.find(request.matches[1]);
      if (found == files_.end()) return void(response.status = 404);
      response.set_content(found->second, "application/wasm");
    });
    port_ = server_.bind_to_any_port(address_);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~FakeRegistry() {
    server_.stop();
    thread_.join();
  }

  std::string host() const { return StrCat(address_, ":", port_); }
  std::string Url(const std::string& file) const { return StrCat("http://", host(), "/files/", file); }
  std::string Image(const std::string& name) const { return StrCat("oci://", host(), "/team/filter", name); }
  void PutFile(const std::string& name, const std::string& bytes) {
    std::lock_guard lock(mutex_);
    files_[name] = bytes;
  }
  void FailNext(int times) {
    std::lock_guard lock(mutex_);
    failures_ = times;
  }
  void Want(Login login) {
    std::lock_guard lock(mutex_);
    login_ = login;
  }
  // Where tokens are had; "": here.
  void SetRealm(const std::string& realm) {
    std::lock_guard lock(mutex_);
    realm_ = realm;
  }
  // A blob or manifest that is elsewhere.
  void Redirect(const std::string& name, const std::string& url) {
    std::lock_guard lock(mutex_);
    redirects_[name] = url;
  }
  // Authorization headers of all that was asked for, "" for none.
  std::vector<std::string> Shown() {
    std::lock_guard lock(mutex_);
    return shown_;
  }
  // Gives the digest with its algorithm.
  std::string PutBlob(const std::string& bytes) {
    std::lock_guard lock(mutex_);
    std::string digest = StrCat("sha256:", Sha256Hex(bytes));
    things_[digest] = bytes;
    return digest;
  }
  // A blob that is not what its digest says.
  void Falsify(const std::string& digest, const std::string& bytes) {
    std::lock_guard lock(mutex_);
    things_[digest] = bytes;
  }
  std::string PutManifest(const std::string& tag, const std::string& text) {
    std::string digest = PutBlob(text);
    std::lock_guard lock(mutex_);
    things_[tag] = text;
    return digest;
  }
  std::string PutImage(const std::string& tag, const std::string& layer_type, const std::string& layer) {
    return PutManifest(
        tag, StrCat(R"({"schemaVersion": 2, "layers": [{"mediaType": ")", layer_type, R"(", "digest": ")",
                    PutBlob(layer), R"(", "size": )", layer.size(), "}]}"));
  }
  // What was asked for since the last time.
  std::vector<std::string> TakeAsked() {
    std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }

 private:
  void Note(const std::string& what) {
    std::lock_guard lock(mutex_);
    asked_.push_back(what);
  }
  void Serve(const httplib::Request& request, httplib::Response& response) {
    const std::string authorization = request.get_header_value("Authorization");
    Note(request.matches[1]);
    std::lock_guard lock(mutex_);
    shown_.push_back(authorization);
    if (login_ == Login::kBasic && authorization != "Basic YW5uOnNlc2FtZQ==") {
      response.set_header("WWW-Authenticate", "Basic realm=\"registry\"");
      return void(response.status = 401);
    }
    if (login_ == Login::kBearer && authorization != "Bearer let-me-in") {
      response.set_header(
          "WWW-Authenticate",
          StrCat("Bearer realm=\"", realm_.empty() ? StrCat("http://", host(), "/token") : realm_,
                 "\",service=\"registry\""));
      return void(response.status = 401);
    }
    if (const auto to = redirects_.find(request.matches[2]); to != redirects_.end())
      return response.set_redirect(to->second);
    const auto found = things_.find(request.matches[2]);
    if (found == things_.end()) return void(response.status = 404);
    response.set_content(found->second, "application/octet-stream");
  }

  const std::string address_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::map<std::string, std::string> files_, things_, redirects_;  // guarded by mutex_
  std::string realm_;                                              // guarded by mutex_
  std::vector<std::string> shown_;                                 // guarded by mutex_
  std::vector<std::string> asked_;                                 // guarded by mutex_
  int failures_ = 0;                                               // guarded by mutex_
  Login login_ = Login::kNone;                                     // guarded by mutex_
};

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_REGISTRY_FAKE_H_
