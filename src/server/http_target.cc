#include "server/http_target.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace fairlead::server {
namespace {

constexpr std::string_view kSchemeEnd = "://";

enum class Plus { kIsPlus, kIsSpace };

std::string Decode(std::string_view text, Plus plus) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    unsigned byte = 0;
    if (text.front() == '%' && text.size() > 2 &&
        std::from_chars(text.data() + 1, text.data() + 3, byte, 16).ptr == text.data() + 3) {
      out.push_back(static_cast<char>(byte));
      text.remove_prefix(3);
      continue;
    }
    out.push_back(text.front() == '+' && plus == Plus::kIsSpace ? ' ' : text.front());
    text.remove_prefix(1);
  }
  return out;
}

// Repeated slashes of a path become one, as Go's ServeMux has it: istioctl asks for "//version".
std::string WithSingleSlashes(std::string path) {
  const auto both_slashes = [](char a, char b) { return a == '/' && b == '/'; };
  path.erase(std::unique(path.begin(), path.end(), both_slashes), path.end());
  return path;
}

}  // namespace

HttpTarget ParseTarget(std::string_view target) {
  target = target.substr(0, target.find('#'));
  const size_t scheme = target.find(kSchemeEnd);
  if (!target.starts_with('/') && scheme != std::string_view::npos) {
    const size_t path = target.find('/', scheme + kSchemeEnd.size());
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  HttpTarget out;
  const size_t question = target.find('?');
  out.path = WithSingleSlashes(Decode(target.substr(0, question), Plus::kIsPlus));
  if (question == std::string_view::npos) return out;
  for (const std::string_view pair : Split(target.substr(question + 1), '&')) {
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const std::string_view value = equals == std::string_view::npos ? "" : pair.substr(equals + 1);
    out.query.emplace(Decode(pair.substr(0, equals), Plus::kIsSpace), Decode(value, Plus::kIsSpace));
  }
  return out;
}

}  // namespace fairlead::server
