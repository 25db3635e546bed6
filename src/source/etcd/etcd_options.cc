#include "source/etcd/etcd_options.h"

#include <utility>

#include "base/strings.h"

namespace fairlead::source {

absl::StatusOr<EtcdOptions> ParseEtcdOptions(std::string_view url) {
  absl::StatusOr<SourceUrl> parsed = ParseSourceUrl(url, kEtcdPort);
  if (!parsed.ok()) return parsed.status();
  EtcdOptions options;
  options.url = *std::move(parsed);
  if (options.url.path.empty())
    return absl::InvalidArgumentError(ToAbsl(
        StrCat(options.url.Name(), ": the prefix of the keys is missing: ", options.url.Name(), "/PREFIX")));
  OptionReader reader(options.url);
  options.platform = ReadPlatformOptions(reader, "", {}, {});
  if (!options.platform.token_file.empty())
    reader.Fail("tokenFile", "is not etcd's: user and passwordFile are");
  if (!options.platform.ns.empty()) reader.Fail("namespace", "is not etcd's: each object says its own");
  options.user = reader.Text("user");
  options.password_file = reader.Text("passwordFile");
  if (options.user.empty() != options.password_file.empty())
    reader.Fail(options.user.empty() ? "passwordFile" : "user",
                "needs the other one of user and passwordFile");
  options.writes = reader.Flag("writes", false);
  options.ca_key_file = reader.Text("caKeyFile");
  if (!options.ca_key_file.empty() && !options.writes) reader.Fail("caKeyFile", "needs writes=true");
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return options;
}

}  // namespace fairlead::source
