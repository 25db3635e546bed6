#include "source/platform/source_url.h"

#include <algorithm>
#include <charconv>

#include "base/closest_name.h"
#include "base/strings.h"
#include "kube/access.h"

namespace fairlead::source {
namespace {

constexpr size_t kMostBytes = 8 << 10;
constexpr size_t kMostAddresses = 16;

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(ToAbsl(text)); }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Percent encoding; a "+" is itself.
std::optional<std::string> Decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : HexDigit(text[i + 2]);
    if (low < 0 || high * 16 + low < ' ') return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

bool IsHost(std::string_view host) {
  return !host.empty() && host.find_first_of("/?#@\"'<>\\ ") == std::string_view::npos;
}

absl::StatusOr<std::pair<std::string, int>> ParseAddress(std::string_view text, int default_port) {
  std::string_view host = text, port;
  const bool bracketed = text.starts_with('[');
  const size_t end = bracketed ? text.find(']') : 0;
  if (end == std::string_view::npos) return Wrong(StrCat("\"", text, "\" is no address"));
  if (const size_t colon = text.find(':', end); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) return Wrong(StrCat("\"", text, "\" has no port after its colon"));
  }
  int number = default_port;
  if (!port.empty()) {
    const auto [rest, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || rest != port.data() + port.size() || number < 1 || number > 65535)
      return Wrong(StrCat("\"", port, "\" is no port"));
  }
  if (!IsHost(host) || (!bracketed && host.find_first_of("[]:") != std::string_view::npos))
    return Wrong(StrCat("\"", text, "\" is no HOST:PORT"));
  return std::pair(std::string(host), number);
}

absl::Status ReadOptions(std::string_view query, SourceUrl* url) {
  for (const std::string_view pair : Split(query, '&')) {
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const auto name = Decode(pair.substr(0, equals));
    const auto value =
        equals == std::string_view::npos ? std::string("true") : Decode(pair.substr(equals + 1));
    if (!name || !value) return Wrong(StrCat("\"", pair, "\" is not percent-encoded as it should be"));
    url->options.emplace(*name, *value);
  }
  return absl::OkStatus();
}

}  // namespace

std::string SourceUrl::Name() const {
  std::vector<std::string> hosts;
  for (const auto& [host, port] : addresses) hosts.push_back(StrCat(host, ":", port));
  return StrCat(scheme, "://", Join(hosts, ","), path);
}

std::string_view SchemeOf(std::string_view text) {
  const size_t at = text.find("://");
  return at == std::string_view::npos ? "" : text.substr(0, at);
}

absl::StatusOr<SourceUrl> ParseSourceUrl(std::string_view text, int default_port) {
  if (text.size() > kMostBytes) return Wrong("the URL of a source is too long");
  SourceUrl url;
  url.scheme = std::string(SchemeOf(text));
  if (url.scheme.empty()) return Wrong(StrCat("\"", text, "\" is no PLATFORM://HOST:PORT"));
  std::string_view rest = text.substr(url.scheme.size() + 3);
  if (rest.find('#') != std::string_view::npos) return Wrong(StrCat("\"", text, "\" has a fragment (#)"));
  if (const size_t query = rest.find('?'); query != std::string_view::npos) {
    if (absl::Status status = ReadOptions(rest.substr(query + 1), &url); !status.ok()) return status;
    rest = rest.substr(0, query);
  }
  if (rest.find('@') != std::string_view::npos)
    return Wrong("a secret does not belong into the URL of a source: tokenFile names a file");
  if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
    url.path = std::string(rest.substr(slash));
    while (url.path.ends_with('/')) url.path.pop_back();
    rest = rest.substr(0, slash);
  }
  for (const std::string_view address : Split(rest, ',')) {
    auto parsed = ParseAddress(address, default_port);
    if (!parsed.ok()) return parsed.status();
    if (url.addresses.size() == kMostAddresses) return Wrong("a source has too many addresses");
    url.addresses.push_back(*std::move(parsed));
  }
  return url;
}

std::vector<std::string> SplitSourceUrls(std::string_view text) {
  std::vector<std::string> urls;
  for (const std::string_view piece : Split(text, ',')) {
    const std::string_view scheme = SchemeOf(piece);
    const bool begins = !scheme.empty() && std::all_of(scheme.begin(), scheme.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || c == '+' || c == '-';
    });
    if (begins || urls.empty()) {
      urls.emplace_back(piece);
    } else {
      StrAppend(&urls.back(), ",", piece);
    }
  }
  return urls;
}

const std::string* OptionReader::Find(const std::string& name) {
  read_.insert(name);
  const auto [first, last] = url_.options.equal_range(name);
  if (first == last) return nullptr;
  if (std::next(first) != last) Fail(name, "is there twice");
  return &first->second;
}

std::string OptionReader::Text(const std::string& name, std::string fallback) {
  const std::string* text = Find(name);
  return text == nullptr ? std::move(fallback) : *text;
}

std::vector<std::string> OptionReader::List(const std::string& name) {
  read_.insert(name);
  std::vector<std::string> list;
  const auto [first, last] = url_.options.equal_range(name);
  for (auto it = first; it != last; ++it) {
    for (const std::string_view piece : Split(it->second, ',')) {
      if (!Trim(piece).empty()) list.emplace_back(Trim(piece));
    }
  }
  return list;
}

bool OptionReader::Flag(const std::string& name, bool fallback) {
  const std::string* text = Find(name);
  if (text == nullptr) return fallback;
  if (*text != "true" && *text != "false") Fail(name, StrCat("is \"", *text, "\", not true or false"));
  return *text == "true";
}

int64_t OptionReader::Number(const std::string& name, int64_t fallback, int64_t least, int64_t most) {
  const std::string* text = Find(name);
  if (text == nullptr) return fallback;
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || rest != text->data() + text->size() || number < least || number > most) {
    Fail(name, StrCat("is \"", *text, "\", not a number from ", least, " to ", most));
    return fallback;
  }
  return number;
}

std::string OptionReader::OneOf(const std::string& name, const std::vector<std::string>& values) {
  std::string text = Text(name, values.front());
  if (std::find(values.begin(), values.end(), text) == values.end())
    Fail(name, StrCat("is \"", text, "\", not one of ", Join(values, ", ")));
  return text;
}

void OptionReader::Fail(const std::string& name, const std::string& why) {
  if (status_.ok()) status_ = Wrong(StrCat(url_.Name(), ": option ", name, " ", why));
}

absl::Status OptionReader::Finish() {
  for (const auto& [name, value] : url_.options) {
    if (read_.contains(name)) continue;
    const std::string meant = ClosestName(name, {read_.begin(), read_.end()});
    Fail(name, StrCat("is not known", meant.empty() ? "" : StrCat("; did you mean ", meant, "?")));
  }
  return status_;
}

PlatformOptions ReadPlatformOptions(OptionReader& reader, const std::string& default_namespace,
                                    const std::vector<std::string>& default_names,
                                    const std::vector<std::string>& places) {
  PlatformOptions options;
  options.tls_settings.roots_file = reader.Text("caFile");
  options.tls_settings.server_name = reader.Text("serverName");
  options.certificate_file = reader.Text("certFile");
  options.key_file = reader.Text("keyFile");
  if (options.certificate_file.empty() != options.key_file.empty())
    reader.Fail(options.key_file.empty() ? "certFile" : "keyFile",
                "needs the other one of certFile and keyFile");
  const bool needs_tls = !options.tls_settings.roots_file.empty() || !options.certificate_file.empty() ||
                         !options.tls_settings.server_name.empty();
  options.tls = reader.Flag("tls", needs_tls);
  if (needs_tls && !options.tls) reader.Fail("tls", "is false, but other options are about TLS");
  options.token_file = reader.Text("tokenFile");
  options.ns = reader.Text("namespace", default_namespace);
  auto selector = LabelQuery::Parse(reader.Text("selector"));
  if (selector.ok()) {
    options.selector = *std::move(selector);
  } else {
    reader.Fail("selector", StrCat("cannot be read: ", FromAbsl(selector.status().message())));
  }
  if (places.empty()) return options;
  options.names = reader.List("names");
  if (options.names.empty()) options.names = default_names;
  std::map<std::string, std::string> values;
  for (const std::string& place : places) values.emplace(place, "x");
  for (const std::string& name : options.names) {
    if (name.find(StrCat("{", places.front(), "}")) == std::string::npos)
      reader.Fail("names", StrCat("has \"", name, "\" without {", places.front(), "}"));
    if (ExpandTemplate(name, values).find_first_of("{}") != std::string::npos)
      reader.Fail("names", StrCat("has \"", name, "\"; known are {", Join(places, "}, {"), "}"));
  }
  return options;
}

std::string ExpandTemplate(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string out(text);
  for (const auto& [place, value] : values) out = ReplaceAll(out, StrCat("{", place, "}"), value);
  return out;
}

absl::StatusOr<ClientCertificate> ReadClientCertificate(const PlatformOptions& options) {
  if (options.certificate_file.empty()) return ClientCertificate();
  auto chain = kube::ReadSmallFile(options.certificate_file), key = kube::ReadSmallFile(options.key_file);
  if (!chain.ok()) return chain.status();
  if (!key.ok()) return key.status();
  return ClientCertificate{*std::move(chain), *std::move(key)};
}

}  // namespace fairlead::source
