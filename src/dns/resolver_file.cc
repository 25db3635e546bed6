#include "dns/resolver_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "base/strings.h"
#include "http2/socket.h"

namespace fairlead::dns {
namespace {

constexpr size_t kMostServers = 16, kMostDomains = 32, kMostBytes = 64 << 10;
constexpr uint16_t kPort = 53;

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kSpace = " \t\r";
  while (true) {
    const size_t begin = line.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(kSpace), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string Domain(std::string_view text) {
  while (text.ends_with('.')) text.remove_suffix(1);
  return AsciiLower(text);
}

}  // namespace

ResolverFile ParseResolverFile(std::string_view text) {
  ResolverFile file;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.starts_with('#') || line.starts_with(';')) continue;
    const std::vector<std::string_view> words = Words(line);
    if (words.size() < 2) continue;
    if (words[0] == "nameserver") {
      const auto address = SocketAddress::Parse(std::string(words[1]), kPort);
      if (!address) file.not_servers.emplace_back(words[1].substr(0, 100));
      if (address && file.servers.size() < kMostServers) file.servers.push_back(*address);
    } else if (words[0] == "search" || words[0] == "domain") {
      file.search.clear();
      const size_t count = words[0] == "domain" ? 2 : words.size();
      for (size_t i = 1; i < count && file.search.size() < kMostDomains; ++i) {
        if (std::string domain = Domain(words[i]); !domain.empty()) file.search.push_back(std::move(domain));
      }
    }
    if (file.not_servers.size() > kMostServers) file.not_servers.pop_back();
  }
  return file;
}

absl::StatusOr<ResolverFile> ReadResolverFile(const std::string& path) {
  const http2::File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    const std::string message = StrCat(path, ": ", ErrnoText(errno));
    return errno == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
  }
  std::string text(kMostBytes, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::UnavailableError(StrCat(path, ": ", ErrnoText(errno)));
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return ParseResolverFile(text);
}

}  // namespace fairlead::dns
