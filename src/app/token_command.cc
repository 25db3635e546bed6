#include "app/token_command.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "app/state_folder.h"
#include "base/duration.h"
#include "base/strings.h"
#include "ca/authority.h"
#include "ca/token_issuer.h"

namespace fairlead::app {
namespace {

constexpr int kWrongCall = 2;

struct Options {
  std::string account, state_dir, folder, expires = "24h";
  ca::TokenRequest request;
};

void AddFlags(Options* o, CLI::App* command) {
  o->state_dir = DefaultStateFolder([](const char* name) { return std::getenv(name); });
  command->add_option("ACCOUNT", o->account, "NAMESPACE/ACCOUNT: the service account that the token is of")
      ->required();
  command->add_option("--audience", o->request.audiences, "Whom the token is for; may be given often")
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--expires", o->expires, "How long it holds: 10m, 24h; 366 days at most")
      ->capture_default_str();
  command
      ->add_option("--issuer", o->request.issuer, "Who says so; another name needs discovery's TOKEN_ISSUER")
      ->capture_default_str();
  command
      ->add_option("--stateDir", o->state_dir,
                   "Folder that discovery keeps its state in; the key is in its "
                   "sub-folder tokens")
      ->default_str(kStateDirText);
  command->add_option("--keyDir", o->folder, "Folder of the key in place of that one; made at first use");
}

// As arguments say; the message of what they do not.
absl::Status Read(Options* o) {
  const size_t slash = o->account.find('/');
  if (slash == std::string::npos)
    return absl::InvalidArgumentError(
        ToAbsl(StrCat("\"", o->account, "\" is not NAMESPACE/ACCOUNT, like shop/web")));
  o->request.ns = o->account.substr(0, slash);
  o->request.service_account = o->account.substr(slash + 1);
  const auto expires = ParseGoDuration(o->expires);
  if (!expires)
    return absl::InvalidArgumentError(ToAbsl(StrCat("--expires: \"", o->expires, "\" is no duration (24h)")));
  o->request.lifetime = std::chrono::duration_cast<std::chrono::seconds>(*expires);
  if (o->folder.empty()) o->folder = TokenFolder(o->state_dir);
  if (o->folder.empty()) return absl::InvalidArgumentError("--stateDir or --keyDir says where the key is");
  return absl::OkStatus();
}

int Fail(const absl::Status& status, int code) {
  std::cerr << "fairlead token: " << FromAbsl(status.message()) << std::endl;
  return code;
}

}  // namespace

int RunToken(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App command(
      "Prints a token by which an agent proves which service account it is, for tests and small fleets. The "
      "key "
      "is made at first use; discovery believes its tokens while the key is in the state folder",
      "fairlead token");
  AddFlags(&options, &command);
  try {
    command.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? 0 : kWrongCall;
  }
  if (absl::Status status = Read(&options); !status.ok()) return Fail(status, kWrongCall);
  const auto key = ca::LoadIssuerKey(options.folder);
  if (!key.ok()) return Fail(key.status(), 1);
  const auto token = ca::MakeToken(*key, options.request, ca::UnixNow());
  if (!token.ok()) return Fail(token.status(), kWrongCall);
  std::cout << *token << std::endl;
  return std::cout.good() ? 0 : 1;
}

}  // namespace fairlead::app
