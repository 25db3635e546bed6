#ifndef FAIRLEAD_SOURCE_PLATFORM_SOURCE_URL_H_
#define FAIRLEAD_SOURCE_PLATFORM_SOURCE_URL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fetch/request.h"
#include "source/platform/label_query.h"

namespace fairlead::source {

// "consul://10.0.0.1:8500?dc=east&tls=true": which platform objects come from, where it is, and options.
struct SourceUrl {
  std::string scheme;                                  // "consul"
  std::vector<std::pair<std::string, int>> addresses;  // host and port, at least one; several with ","
  std::string path = {};                               // "/fleet"; "" for none
  std::multimap<std::string, std::string, std::less<>> options = {};  // decoded, in the order of the names

  // "consul://10.0.0.1:8500/fleet": without options, for people and metrics.
  std::string Name() const;
};

// InvalidArgument says what is wrong with which part. `default_port`: where none is written. At most 8 KiB.
absl::StatusOr<SourceUrl> ParseSourceUrl(std::string_view text, int default_port);

// "a://b?x=1,2,c://d" is two of them: a comma separates where a scheme follows.
std::vector<std::string> SplitSourceUrls(std::string_view text);

// The scheme alone; "" where there is none.
std::string_view SchemeOf(std::string_view text);

// Takes a platform's options out of a URL, then says which are left. The first mistake stays.
class OptionReader {
 public:
  explicit OptionReader(const SourceUrl& url) : url_(url) {}

  std::string Text(const std::string& name, std::string fallback = "");
  // Of an option that may be repeated, or has commas.
  std::vector<std::string> List(const std::string& name);
  bool Flag(const std::string& name, bool fallback);
  int64_t Number(const std::string& name, int64_t fallback, int64_t least, int64_t most);
  std::string OneOf(const std::string& name, const std::vector<std::string>& values);  // the first: default
  void Fail(const std::string& name, const std::string& why);
  // OK where every option was read and none had a mistake.
  absl::Status Finish();

 private:
  const std::string* Find(const std::string& name);
  const SourceUrl& url_;
  std::set<std::string> read_;
  absl::Status status_;
};

// What options of every platform say.
struct PlatformOptions {
  bool tls = false;
  fetch::TlsSettings tls_settings = {};              // roots and server name
  std::string certificate_file = {}, key_file = {};  // of the client; read for each connection
  std::string token_file = {};                       // read for each request
  std::string ns = {};                               // of the objects that are made
  LabelQuery selector = {};                          // of instances or objects that count
  std::vector<std::string> names = {};               // templates of host names
};

// What the files of the client's certificate have; empty where there are none.
struct ClientCertificate {
  std::string chain, key;
};
// They may be renewed at any time: to be read for each connection.
absl::StatusOr<ClientCertificate> ReadClientCertificate(const PlatformOptions& options);

// tls, caFile, certFile, keyFile, serverName, tokenFile, namespace, selector, names. A template may have
// `places` in braces, and must have the first.
PlatformOptions ReadPlatformOptions(OptionReader& reader, const std::string& default_namespace,
                                    const std::vector<std::string>& default_names,
                                    const std::vector<std::string>& places);

// "web.service.consul" of "{name}.service.consul".
std::string ExpandTemplate(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_SOURCE_URL_H_
