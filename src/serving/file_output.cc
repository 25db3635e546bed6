#include "serving/file_output.h"

#include <unistd.h>

#include <set>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "proto/json.h"
#include "push/stream/config_source.h"
#include "source/file/folder_scanner.h"
#include "source/file/read_file.h"

namespace fairlead::serving {
namespace {

using xds::TypeId;

LogScope files_log("files");

// The node list is looked at this often.
constexpr std::chrono::seconds kAgain{2};  // what could not be written is tried again
constexpr char kResponseType[] = "envoy.service.discovery.v3.DiscoveryResponse";

// The types that a proxy asks for as a whole, and those that are named by the former.
constexpr TypeId kRoots[] = {TypeId::kCluster, TypeId::kListener, TypeId::kNameTable};

std::string Flatten(const xds::Frame& frame) {
  std::string bytes;
  for (const xds::Piece& piece : frame) bytes.append(piece.bytes);
  return bytes;
}

}  // namespace

// The files of one node.
class FileOutput::NodeFolder {
 public:
  NodeFolder(std::string folder, const model::ProxyPtr& proxy)
      : folder_(std::move(folder)), proxy_(ReadingFrom(folder_, *proxy)) {}

  // Whether every file is as it should be. What could not be written is written at the next call.
  bool Write(const push::Pusher& pusher) {
    const auto view = pusher.ViewOf(proxy_, scope_);
    if (!view) return true;
    scope_ = view->scope;
    const bool failed_before = std::exchange(failed_, false);
    std::set<std::string> written;
    for (const TypeId root : kRoots) {
      if (!view->Serves(root)) continue;
      const xds::ResourceSetPtr resources = view->Make(root, nullptr);
      WriteChildren(*view, *resources, &written);
      WriteResponse(root, "", resources, &written);
    }
    RemoveOthers(written);
    if (failed_before && !failed_) files_log.Info("{}: all files are written again", folder_);
    return !failed_;
  }

 private:
  static model::ProxyPtr ReadingFrom(const std::string& folder, const model::Proxy& proxy) {
    auto reading = std::make_shared<model::Proxy>(proxy);
    reading->source = {model::ConfigSource::Kind::kFiles, folder};
    return reading;
  }

  std::string PathOf(TypeId type, std::string_view name) const {
    return push::ResourcePath(folder_, type, name);
  }

  void WriteChildren(const push::ProxyView& view, const xds::ResourceSet& resources,
                     std::set<std::string>* written) {
    for (const xds::ResourceListPtr& list : resources.parts()) {
      for (const cache::Reference& reference : list->References()) {
        if (!view.Serves(reference.type)) continue;
        const std::string name(reference.name);
        if (written->contains(PathOf(reference.type, name))) continue;
        WriteResponse(reference.type, name, view.Make(reference.type, xds::NameSet::Of({name})), written);
      }
    }
  }

  // Its version is its content's, so that equal contents are equal files.
  void WriteResponse(TypeId type, const std::string& name, const xds::ResourceSetPtr& resources,
                     std::set<std::string>* written) {
    const std::string path = PathOf(type, name);
    written->insert(path);
    const auto [known, fresh] = hashes_.try_emplace(path, resources->hash());
    if (!fresh && known->second == resources->hash()) return;
    known->second = resources->hash();
    xds::Response response;
    response.type = type;
    response.version = ToHex(resources->hash());
    response.lists = resources->parts();
    const auto json = proto::ToJson(kResponseType, Flatten(Encode(xds::Framing::kStateOfTheWorld, response)),
                                    proto::JsonLayout::kPretty);
    if (!json.ok()) return files_log.Error("{}: {}", path, FromAbsl(json.status().message()));
    const auto old = source::ReadFile(path);
    if (old.ok() && *old == *json) return;  // an earlier process wrote it
    absl::Status status = CreateFolders(source::ParentOf(path));
    if (status.ok()) status = WriteFileAtomically(path, *json);
    if (!status.ok()) {
      if (!std::exchange(failed_, true)) files_log.Error("{}", FromAbsl(status.message()));
      hashes_.erase(path);
      return;
    }
    files_log.Debug("{}: version {}", path, response.version);
  }

  void RemoveOthers(const std::set<std::string>& written) {
    std::erase_if(hashes_, [&](const auto& entry) { return !written.contains(entry.first); });
    for (const char* child : {"eds", "rds", "ecds"}) {
      const std::string folder = StrCat(folder_, "/", child);
      const auto names = ListFolder(folder);
      if (!names.ok()) continue;  // none of the type, or it is looked at again in the next round
      for (const std::string& name : *names) {
        const std::string path = StrCat(folder, "/", name);
        if (written.contains(path)) continue;
        if (absl::Status status = RemoveFile(path); !status.ok())
          files_log.Error("{}", FromAbsl(status.message()));
      }
    }
  }

  const std::string folder_;
  const model::ProxyPtr proxy_;
  mesh::ProxyScopePtr scope_;
  std::map<std::string, Hash128> hashes_;  // of the resources, by path
  bool failed_ = false;                    // something could not be written in the last round
};

FileOutput::FileOutput(Options options, const push::Pusher* pusher)
    : options_(std::move(options)), pusher_(pusher), nodes_(options_.nodes) {}

FileOutput::~FileOutput() { Stop(); }

absl::Status FileOutput::Start() {
  if (absl::Status status = CreateFolders(options_.folder); !status.ok())
    return absl::UnavailableError(status.message());
  if (access(options_.folder.c_str(), W_OK) != 0)
    return absl::UnavailableError(StrCat("cannot write to ", options_.folder));
  auto thread = StartThread([this] { Run(); });
  if (thread.ok()) thread_ = std::move(*thread);
  return thread.status();
}

void FileOutput::OnPublished() {
  std::lock_guard lock(mutex_);
  published_ = true;
  watch_.Wake();
}

void FileOutput::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  watch_.Wake();
  if (thread_.joinable()) thread_.join();
}

void FileOutput::Run() {
  for (bool all_written = true;;) {
    watch_.Watch(nodes_.Files());  // before they are read, so that no change is missed
    bool published = false;
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
      published = std::exchange(published_, false);
    }
    const bool nodes = nodes_.Refresh();
    if (nodes) ReadNodes();
    if (published || nodes || !all_written) all_written = WriteAll();
    watch_.Wait(all_written ? Clock::time_point::max() : Clock::now() + kAgain);
  }
}

// Folders of nodes that are no longer listed stay as they are.
void FileOutput::ReadNodes() {
  const std::string root = AbsolutePath(options_.folder);
  std::map<std::string, std::unique_ptr<NodeFolder>> folders;
  for (const auto& [id, proxy] : nodes_.nodes())
    folders[id] = std::make_unique<NodeFolder>(StrCat(root, "/", push::FileNameOf(id)), proxy);
  folders_ = std::move(folders);
}

bool FileOutput::WriteAll() {
  bool all = true;
  for (const auto& [id, folder] : folders_) all &= folder->Write(*pusher_);
  return all;
}

}  // namespace fairlead::serving
