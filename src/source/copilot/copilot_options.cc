#include "source/copilot/copilot_options.h"

#include <utility>

#include "base/strings.h"

namespace fairlead::source {

absl::StatusOr<CopilotOptions> ParseCopilotOptions(std::string_view url) {
  absl::StatusOr<SourceUrl> parsed = ParseSourceUrl(url, kCopilotPort);
  if (!parsed.ok()) return parsed.status();
  CopilotOptions options;
  options.url = *std::move(parsed);
  if (!options.url.path.empty())
    return absl::InvalidArgumentError(ToAbsl(StrCat(options.url.Name(), ": Copilot has no path")));
  OptionReader reader(options.url);
  options.platform = ReadPlatformOptions(reader, "cloudfoundry", {}, {});
  if (!options.platform.token_file.empty())
    reader.Fail("tokenFile", "is not Copilot's: certFile and keyFile are");
  if (options.url.options.contains("selector"))
    reader.Fail("selector", "is not Copilot's, which has no labels");
  const bool proves = !options.platform.certificate_file.empty();
  if (!proves && !(options.url.options.contains("tls") && !options.platform.tls))
    reader.Fail("certFile", "is needed: Copilot speaks mutual TLS; tls=false is for one without");
  options.port = static_cast<uint32_t>(reader.Number("port", options.port, 1, 65'535));
  options.internal_protocol = reader.OneOf("internalProtocol", {"http", "tcp"});
  options.gateways = reader.List("gateways");
  options.interval = std::chrono::seconds(reader.Number("intervalSeconds", 5, 1, 3'600));
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  return options;
}

}  // namespace fairlead::source
