#include "serving/node_list.h"

#include <utility>
#include <vector>

#include "base/files.h"
#include "base/log.h"
#include "base/strings.h"
#include "config/read/proto_reader.h"
#include "config/read/yaml.h"
#include "config/report.h"
#include "envoy/config/core/v3/base.pb.h"
#include "source/file/file_source.h"
#include "source/file/read_file.h"

namespace fairlead::serving {
namespace {

LogScope files_log("files");

std::vector<std::string> FilesOf(const std::string& path) {
  if (!IsFolder(path)) return {path};
  const auto names = ListFolder(path);
  if (!names.ok()) {
    files_log.Warn("{}", FromAbsl(names.status().message()));
    return {};
  }
  std::vector<std::string> files;
  for (const std::string& name : *names) {
    if (source::IsManifestName(name)) files.push_back(StrCat(path, "/", name));
  }
  return files;
}

absl::Status AddNode(config::Node document, std::map<std::string, model::ProxyPtr>* nodes) {
  envoy::config::core::v3::Node node;
  config::Report report{Interned("nodes")};
  if (!config::ReadProto(document, {}, report, &node, config::UnknownFields::kWarning))
    return absl::InvalidArgumentError(ToText(report.Take().front()));
  auto proxy = model::ParseProxy(node);
  if (!proxy.ok()) return proxy.status();
  nodes->insert_or_assign(node.id(), *std::move(proxy));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::map<std::string, model::ProxyPtr>> ParseNodes(const std::string& text) {
  std::map<std::string, model::ProxyPtr> nodes;
  config::YamlStream stream(text);
  for (;;) {
    const auto step = stream.Next();
    if (step == config::YamlStream::Step::kEnd) return nodes;
    if (!stream.problems().empty()) {
      const config::YamlProblem& problem = stream.problems().front();
      return absl::InvalidArgumentError(StrCat("line ", problem.line, ": ", problem.message));
    }
    std::vector<config::Node> documents;
    for (config::Node element : stream.root().elements()) documents.push_back(element);
    if (!stream.root().IsSequence()) documents.push_back(stream.root());
    for (config::Node document : documents) {
      if (absl::Status status = AddNode(document, &nodes); !status.ok()) return status;
    }
  }
}

std::vector<std::string> NodeList::Files() const {
  std::vector<std::string> files = FilesOf(path_);
  files.push_back(IsFolder(path_) ? StrCat(path_, "/new") : path_);
  return files;
}

bool NodeList::Refresh() {
  std::vector<std::pair<std::string, std::string>> texts;
  std::string seen;
  for (const std::string& file : FilesOf(path_)) {
    auto text = source::ReadFile(file);
    StrAppend(&seen, file, "\n", text.ok() ? *text : FromAbsl(text.status().message()), "\n");
    if (text.ok()) {
      texts.emplace_back(file, *std::move(text));
    } else if (seen != seen_) {
      files_log.Warn("{}: {}", file, FromAbsl(text.status().message()));
    }
  }
  if (seen == seen_) return false;
  seen_ = std::move(seen);
  nodes_.clear();
  for (const auto& [file, text] : texts) {
    auto nodes = ParseNodes(text);
    if (nodes.ok()) {
      nodes_.merge(*nodes);
    } else {
      files_log.Error("{}: {}", file, FromAbsl(nodes.status().message()));
    }
  }
  files_log.Info("{} nodes in {}", nodes_.size(), path_);
  return true;
}

}  // namespace fairlead::serving
