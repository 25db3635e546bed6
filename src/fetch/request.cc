#include "fetch/request.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead::fetch {
namespace {

constexpr size_t kMostTokenBytes = 64 << 10;

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && byte != '\t') || byte == 0x7f;
  });
}

bool IsToken(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return absl::InvalidArgumentError(StrCat(path, ": ", ErrnoText(errno)));
  std::string text(kMostTokenBytes + 1, '\0');
  size_t size = 0;
  ssize_t got = 0;
  while (size < text.size() && (got = read(file, text.data() + size, text.size() - size)) > 0)
    size += static_cast<size_t>(got);
  const int error = errno;
  close(file);
  if (got < 0) return absl::InvalidArgumentError(StrCat(path, ": ", ErrnoText(error)));
  if (size > kMostTokenBytes)
    return absl::InvalidArgumentError(StrCat(path, ": a token of more than 64 KiB"));
  return std::string(Trim(std::string_view(text).substr(0, size)));
}

}  // namespace

bool IsOfThisMachine(std::string_view url) {
  return url.starts_with("http://127.0.0.1:") || url.starts_with("http://localhost:") ||
         url.starts_with("http://[::1]:");
}

absl::Status CheckRequest(const Request& request) {
  if (!IsToken(request.method))
    return absl::InvalidArgumentError(StrCat("\"", request.method, "\" is no method"));
  if (request.url.empty() || HasControl(request.url)) return absl::InvalidArgumentError("the URL is none");
  for (const std::string& header : request.headers) {
    const std::string_view name = std::string_view(header).substr(0, header.find(':'));
    if (name.size() == header.size() || !IsToken(name) || HasControl(header))
      return absl::InvalidArgumentError(
          StrCat("a header \"", IsToken(name) ? name : "", "\" cannot be sent"));
  }
  if (HasControl(request.tls.server_name) || (request.proxy && HasControl(*request.proxy)))
    return absl::InvalidArgumentError("a name of a server or proxy has control characters");
  if (request.tls.certificate.empty() != request.tls.key.empty())
    return absl::InvalidArgumentError("a certificate needs its key, and a key its certificate");
  return absl::OkStatus();
}

absl::StatusOr<std::string> TokenOf(const Request& request) {
  if (request.bearer == nullptr && request.bearer_file.empty()) return std::string();
  auto token = request.bearer != nullptr ? request.bearer() : ReadToken(request.bearer_file);
  if (!token.ok()) return token.status();
  if (token->empty() || HasControl(*token))
    return absl::InvalidArgumentError("the token is empty, or has control characters");
  return token;
}

}  // namespace fairlead::fetch
