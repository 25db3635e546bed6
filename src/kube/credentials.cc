#include "kube/credentials.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "config/read/json_reader.h"
#include "kube/program.h"

namespace fairlead::kube {
namespace {

using config::Node;

// Renewed that long before they end.
constexpr int64_t kMarginSeconds = 10;

int64_t UnixNow() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// What KUBERNETES_EXEC_INFO says.
std::string ExecInfo(const ServerAccess& access) {
  nlohmann::json spec = {{"interactive", false}};
  if (access.exec->tell_cluster) {
    nlohmann::json cluster = {{"server", access.server}};
    if (access.tls.unverified) cluster["insecure-skip-tls-verify"] = true;
    if (!access.tls.server_name.empty()) cluster["tls-server-name"] = access.tls.server_name;
    if (access.proxy) cluster["proxy-url"] = *access.proxy;
    spec["cluster"] = std::move(cluster);
  }
  const nlohmann::json info = {
      {"apiVersion", access.exec->api_version}, {"kind", "ExecCredential"}, {"spec", spec}};
  return JsonText(info);
}

bool HasLineEnd(std::string_view text) { return text.find_first_of("\r\n") != std::string_view::npos; }

}  // namespace

absl::StatusOr<ClientCredentials::Given> ClientCredentials::Ask(const std::atomic<bool>* stopping) const {
  const ExecPlugin& plugin = *access_.exec;
  Program program;
  program.command = plugin.command;
  program.arguments = plugin.arguments;
  program.environment = plugin.environment;
  program.environment["KUBERNETES_EXEC_INFO"] = ExecInfo(access_);
  const absl::StatusOr<std::string> text = RunProgram(program, stopping);
  if (absl::IsNotFound(text.status()) && !plugin.install_hint.empty())
    return absl::NotFoundError(StrCat(FromAbsl(text.status().message()), ": ", plugin.install_hint));
  if (!text.ok()) return text.status();
  config::JsonReader reader;
  const absl::StatusOr<config::Tree> answer = reader.Read(*text);
  const Node status = answer.ok() ? answer->Find("status") : Node();
  if (!status.IsMapping())
    return absl::UnavailableError(
        StrCat(plugin.command, ": what it wrote is no ExecCredential with a status"));
  Given given{std::string(Trim(status.Find("token").String())),
              std::string(status.Find("clientCertificateData").String()),
              std::string(status.Find("clientKeyData").String())};
  if (given.token.empty() && given.certificate.empty())
    return absl::UnavailableError(StrCat(plugin.command, ": it gave neither a token nor a certificate"));
  if (HasLineEnd(given.token) || given.certificate.empty() != given.key.empty())
    return absl::UnavailableError(StrCat(plugin.command, ": it gave a token or a certificate that is none"));
  if (const auto time = ParseTimestamp(status.Find("expirationTimestamp").String()))
    given.expires = time->seconds;
  return given;
}

absl::Status ClientCredentials::TakeGiven(fetch::Request* request, const std::atomic<bool>* stopping) {
  if (!access_.exec) return absl::OkStatus();
  if (!given_ || (given_->expires && *given_->expires - kMarginSeconds <= UnixNow())) {
    absl::StatusOr<Given> given = Ask(stopping);
    if (!given.ok()) return given.status();
    given_ = *std::move(given);
    asked_ = Clock::now();
  }
  if (!given_->token.empty()) request->headers.push_back(StrCat("Authorization: Bearer ", given_->token));
  if (given_->certificate.empty()) return absl::OkStatus();
  request->tls.certificate = given_->certificate;
  request->tls.key = given_->key;
  return absl::OkStatus();
}

absl::Status ClientCredentials::TakeFiles(fetch::Request* request) const {
  for (const auto& [file, text] : {std::pair(&access_.certificate_file, &request->tls.certificate),
                                   std::pair(&access_.key_file, &request->tls.key)}) {
    if (file->empty()) continue;
    absl::StatusOr<std::string> read = ReadSmallFile(*file);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  return absl::OkStatus();
}

absl::StatusOr<fetch::Request> ClientCredentials::Get(const std::string& target,
                                                      const std::atomic<bool>* stopping) {
  fetch::Request request;
  request.url = access_.server + target;
  request.headers = access_.headers;
  request.tls = access_.tls;
  request.proxy = access_.proxy;
  request.bearer_file = access_.token_file;
  request.plaintext = true;  // whoever writes http into a kubeconfig means it
  if (!access_.token.empty()) request.headers.push_back(StrCat("Authorization: Bearer ", access_.token));
  if (absl::Status status = TakeFiles(&request); !status.ok()) return status;
  if (absl::Status status = TakeGiven(&request, stopping); !status.ok()) return status;
  return request;
}

void ClientCredentials::OnUnauthorized() {
  constexpr std::chrono::seconds kPause(10);
  if (Clock::now() - asked_ >= kPause) given_.reset();
}

}  // namespace fairlead::kube
