#include "wasm/module_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/files.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "wasm/digest.h"
#include "wasm/registry.h"
#include "wasm/unbox.h"

namespace fairlead::wasm {
namespace {

LogScope wasm_log("wasm");

constexpr std::string_view kEnding = ".wasm";

}  // namespace

struct ModuleCache::Place {
  std::string source;
  std::optional<ImageReference> image;  // else over HTTP
};

struct ModuleCache::Fetched {
  std::string checksum;
  std::optional<std::string> module;  // nothing: the cache has it
};

ModuleCache::ModuleCache(Options options) : options_(std::move(options)) { RemoveLeftovers(); }

ModuleCache::~ModuleCache() { Stop(); }

void ModuleCache::Start() {
  thread_ = RequireThread([this] {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, options_.purge_interval, [this] { return stopping_.load(); })) {
      lock.unlock();
      Purge();
      lock.lock();
    }
  });
}

void ModuleCache::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

size_t ModuleCache::size() const {
  std::lock_guard lock(mutex_);
  return modules_.size();
}

// Of an agent that ran before. Those of another that shares the folder are fetched again when it wants them.
void ModuleCache::RemoveLeftovers() const {
  const auto names = ListFolder(options_.folder);
  if (!names.ok()) return;
  const std::time_t oldest =
      std::time(nullptr) - std::chrono::duration_cast<std::chrono::seconds>(options_.expiry).count();
  for (const std::string& name : *names) {
    const std::string path = StrCat(options_.folder, "/", name);
    struct stat found {};
    const bool ours =
        name.size() == 64 + kEnding.size() && name.ends_with(kEnding) && IsSha256Hex(name.substr(0, 64));
    if (ours && stat(path.c_str(), &found) == 0 && found.st_mtime < oldest) RemoveFile(path).IgnoreError();
  }
}

std::string ModuleCache::PathOf(const Key& key) const {
  return StrCat(options_.folder, "/", Sha256Hex(StrCat(key.source, "\n", key.checksum)), kEnding);
}

absl::StatusOr<ModuleCache::Place> ModuleCache::Read(const ModuleOrder& order) {
  const size_t end = order.url.find("://");
  const std::string scheme = AsciiLower(order.url.substr(0, end));
  if (end == std::string::npos || (scheme != "http" && scheme != "https" && scheme != "oci"))
    return absl::InvalidArgumentError(StrCat(order.url, ": modules are fetched from http, https and oci"));
  if (scheme != "oci") return Place{order.url, std::nullopt};
  auto image = ParseImageReference(std::string_view(order.url).substr(end + 3));
  if (!image.ok()) return image.status();
  return Place{StrCat("oci://", image->registry, "/", image->repository), *std::move(image)};
}

// The checksum that the module has by the order, by the reference, or as it was the last time; "" where it is
// to be asked for.
std::string ModuleCache::ExpectedChecksum(const ModuleOrder& order, const Place& place) {
  if (!order.sha256.empty()) return AsciiLower(order.sha256);
  if (place.image && !place.image->digest.empty()) return place.image->digest;
  const auto known = known_.find(order.url);
  if (known == known_.end()) return "";
  const bool latest = place.image && place.image->tag == "latest";
  const bool any_version =
      order.policy == PullPolicy::kIfNotPresent || (order.policy == PullPolicy::kUnspecified && !latest);
  const auto version = known->second.versions.find(order.plugin);
  const bool same = version != known->second.versions.end() && version->second == order.plugin_version;
  return any_version || same ? known->second.checksum : "";
}

ModuleCache::Entry* ModuleCache::Find(const Key& key) {
  const auto found = modules_.find(key);
  if (found == modules_.end()) return nullptr;
  if (access(found->second.path.c_str(), R_OK) != 0) {  // removed by somebody else
    Remove(found);
    return nullptr;
  }
  found->second.wanted = options_.now();
  return &found->second;
}

void ModuleCache::Note(const ModuleOrder& order, const Place& place, const std::string& checksum,
                       Entry* entry) {
  if (place.image && !place.image->digest.empty()) return;
  Known& known = known_[order.url];
  known.checksum = checksum;
  known.versions[order.plugin] = order.plugin_version;
  entry->urls.insert(order.url);
}

void ModuleCache::Remove(std::map<Key, Entry>::iterator entry) {
  for (const std::string& url : entry->second.urls) {
    const auto known = known_.find(url);
    if (known != known_.end() && known->second.checksum == entry->first.checksum) known_.erase(known);
  }
  const absl::Status removed = RemoveFile(entry->second.path);
  if (!removed.ok()) wasm_log.Warn("{}", std::string(removed.message()));
  bytes_ -= entry->second.bytes;
  modules_.erase(entry);
}

void ModuleCache::MakeRoom(uint64_t bytes) {
  while (!modules_.empty() && bytes_ + bytes > options_.most_bytes) {
    const auto oldest = std::min_element(modules_.begin(), modules_.end(), [](const auto& a, const auto& b) {
      return a.second.wanted < b.second.wanted;
    });
    wasm_log.Info("{} is removed from the full cache", oldest->first.source);
    Remove(oldest);
  }
}

void ModuleCache::Purge() {
  std::lock_guard lock(mutex_);
  const Clock::time_point now = options_.now();
  for (auto entry = modules_.begin(); entry != modules_.end();) {
    const auto next = std::next(entry);
    if (now - entry->second.wanted > options_.expiry) Remove(entry);
    entry = next;
  }
}

absl::StatusOr<std::string> ModuleCache::Get(const ModuleOrder& order) {
  const auto place = Read(order);
  if (!place.ok()) return place.status();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !under_way_.contains(order.url); });
    if (stopping_) return absl::CancelledError("stopped");
    const std::string checksum = ExpectedChecksum(order, *place);
    if (Entry* entry = checksum.empty() ? nullptr : Find({place->source, checksum})) {
      Note(order, *place, checksum, entry);
      return entry->path;
    }
    under_way_.insert(order.url);
  }
  auto path = GetAlone(order, *place);
  {
    std::lock_guard lock(mutex_);
    under_way_.erase(order.url);
  }
  changed_.notify_all();
  return path;
}

absl::StatusOr<std::string> ModuleCache::GetAlone(const ModuleOrder& order, const Place& place) {
  const std::string expected = !order.sha256.empty() ? AsciiLower(order.sha256)
                               : place.image         ? place.image->digest
                                                     : "";
  const Clock::time_point start = Clock::now();
  const auto fetched = Fetch(order, place, expected);
  if (!fetched.ok()) return fetched.status();
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  wasm_log.Info("{} is fetched, {} bytes in {} ms", order.url, fetched->module ? fetched->module->size() : 0,
                took.count());
  return Add(order, place, *fetched);
}

absl::StatusOr<ModuleCache::Fetched> ModuleCache::Fetch(const ModuleOrder& order, const Place& place,
                                                        const std::string& expected) {
  const Download download(options_.download, Clock::now() + order.timeout, stopping_);
  absl::StatusOr<Fetched> fetched = Fetched();
  if (place.image) {
    fetched = FetchImage(order, place, download, expected);
  } else {
    auto module = DownloadModule(download, order.url);
    if (!module.ok()) return module.status();
    fetched->checksum = Sha256Hex(*module);
    fetched->module = *std::move(module);
  }
  if (!fetched.ok()) return fetched;
  if (!expected.empty() && fetched->checksum != expected)
    return absl::DataLossError(StrCat(order.url, " has checksum ", fetched->checksum, ", not ", expected));
  if (fetched->module && !IsModule(*fetched->module))
    return absl::InvalidArgumentError(StrCat(order.url, " holds no Wasm module"));
  return fetched;
}

absl::StatusOr<ModuleCache::Fetched> ModuleCache::FetchImage(const ModuleOrder& order, const Place& place,
                                                             const Download& download,
                                                             const std::string& expected) {
  RegistryImage image(download, *place.image, order.pull_secret);
  const auto digest = image.Resolve();
  if (!digest.ok()) return digest.status();
  if (!expected.empty() && *digest != expected) return Fetched{*digest, std::nullopt};
  {
    std::lock_guard lock(mutex_);
    if (Find({place.source, *digest}) != nullptr) return Fetched{*digest, std::nullopt};
  }
  auto module = image.Module();
  if (!module.ok()) return module.status();
  return Fetched{*digest, *std::move(module)};
}

absl::StatusOr<std::string> ModuleCache::Add(const ModuleOrder& order, const Place& place,
                                             const Fetched& fetched) {
  const Key key{place.source, fetched.checksum};
  std::lock_guard lock(mutex_);
  Entry* entry = Find(key);
  if (entry == nullptr) {
    if (!fetched.module) return absl::UnavailableError(StrCat(order.url, " was removed meanwhile"));
    if (absl::Status status = CreatePrivateFolder(options_.folder); !status.ok()) return status;
    MakeRoom(fetched.module->size());
    const std::string path = PathOf(key);
    if (absl::Status status = WriteFileAtomically(path, *fetched.module); !status.ok()) return status;
    entry = &modules_.emplace(key, Entry{path, fetched.module->size(), options_.now(), {}}).first->second;
    bytes_ += entry->bytes;
  }
  Note(order, place, fetched.checksum, entry);
  return entry->path;
}

}  // namespace fairlead::wasm
