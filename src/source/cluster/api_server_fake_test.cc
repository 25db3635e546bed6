#include "source/cluster/api_server_fake.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/strings.h"

namespace fairlead::source {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kDefinitions[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

std::string StatusText(int code, std::string_view message) {
  return StrCat(R"({"kind":"Status","status":"Failure","code":)", code, R"(,"message":")", message, R"("})");
}

// "networking.istio.io/v1" and "virtualservices" of "/apis/networking.istio.io/v1/virtualservices".
std::pair<std::string, std::string> Parts(const std::string& path) {
  const size_t last = path.rfind('/');
  const size_t begin = path.starts_with("/apis/") ? 6 : 5;
  return {path.substr(begin, last - begin), path.substr(last + 1)};
}

uint64_t Number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

}  // namespace

ApiServerFake::ApiServerFake() {
  server_.new_task_queue = [] { return new httplib::ThreadPool(80); };
  server_.Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
    Answer(request, response);
  });
  const auto write = [this](const char* method) {
    return [this, method](const httplib::Request& request, httplib::Response& response) {
      AnswerObject(method, request, response);
    };
  };
  server_.Post(".*", write("POST"));
  server_.Put(".*", write("PUT"));
  server_.Patch(".*", write("PATCH"));
  server_.Delete(".*", write("DELETE"));
  collections_[kDefinitions];
  port_ = server_.bind_to_any_port("127.0.0.1");
  thread_ = std::thread([this] { server_.listen_after_bind(); });
  while (!server_.is_running())  // a stop before that would be none
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

ApiServerFake::~ApiServerFake() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  server_.stop();
  thread_.join();
}

std::string ApiServerFake::url() const { return StrCat("http://127.0.0.1:", port_); }

void ApiServerFake::Serve(const std::string& path) {
  std::lock_guard lock(mutex_);
  collections_[path];
}

void ApiServerFake::Define(const std::string& group, const std::string& version, const std::string& plural) {
  Serve(StrCat("/apis/", group, "/", version, "/", plural));
  Put(kDefinitions, "", StrCat(plural, ".", group),
      StrCat(R"("spec":{"versions":[{"name":")", version,
             R"(","served":true}]},"status":{"conditions":[{"type":"Established","status":"True"}]})"));
}

void ApiServerFake::Undefine(const std::string& group, const std::string& version,
                             const std::string& plural) {
  const std::string path = StrCat("/apis/", group, "/", version, "/", plural);
  Delete(kDefinitions, "", StrCat(plural, ".", group));
  std::lock_guard lock(mutex_);
  collections_.erase(path);
}

std::string ApiServerFake::Object(const std::string& ns, const std::string& name, const std::string& rest,
                                  const std::string& metadata) const {
  return StrCat(R"({"metadata":{"name":")", name, R"(",)",
                ns.empty() ? "" : StrCat(R"("namespace":")", ns, R"(",)"), metadata,
                metadata.empty() ? "" : ",", R"("resourceVersion":")", version_, R"("})",
                rest.empty() ? "" : ",", rest, "}");
}

void ApiServerFake::Note(const std::string& path, const std::string& type, const std::string& object) {
  events_.push_back({version_, path, StrCat(R"({"type":")", type, R"(","object":)", object, "}\n")});
}

void ApiServerFake::Put(const std::string& path, const std::string& ns, const std::string& name,
                        const std::string& rest, const std::string& metadata) {
  {
    std::lock_guard lock(mutex_);
    ++version_;
    const std::string object = Object(ns, name, rest, metadata);
    const bool fresh = collections_[path].insert_or_assign(StrCat(ns, "/", name), object).second;
    Note(path, fresh ? "ADDED" : "MODIFIED", object);
  }
  changed_.notify_all();
}

void ApiServerFake::Delete(const std::string& path, const std::string& ns, const std::string& name) {
  {
    std::lock_guard lock(mutex_);
    ++version_;
    if (collections_[path].erase(StrCat(ns, "/", name)) > 0) Note(path, "DELETED", Object(ns, name, "", ""));
  }
  changed_.notify_all();
}

void ApiServerFake::Compact() {
  std::lock_guard lock(mutex_);
  compacted_ = ++version_;
  events_.clear();
}

void ApiServerFake::CutWatches() {
  {
    std::lock_guard lock(mutex_);
    ++cuts_;
  }
  changed_.notify_all();
}

void ApiServerFake::Refuse(const std::string& path, int status) {
  std::lock_guard lock(mutex_);
  if (status == 0) {
    refusals_.erase(path);
  } else {
    refusals_[path] = status;
  }
}

void ApiServerFake::Hang(bool hang) {
  std::lock_guard lock(mutex_);
  hang_ = hang;
}

void ApiServerFake::SetAggregated(bool aggregated) {
  std::lock_guard lock(mutex_);
  aggregated_ = aggregated;
}

std::vector<std::string> ApiServerFake::Requests() {
  std::lock_guard lock(mutex_);
  return requests_;
}

size_t ApiServerFake::CountRequests(std::string_view part) {
  const std::vector<std::string> all = Requests();
  return static_cast<size_t>(std::count_if(all.begin(), all.end(), [part](const std::string& one) {
    return one.find(part) != std::string::npos;
  }));
}

std::string ApiServerFake::authorization() {
  std::lock_guard lock(mutex_);
  return authorization_;
}

std::string ApiServerFake::Discovery(bool core) const {
  std::string items;
  for (const auto& [path, objects] : collections_) {
    if (path.starts_with("/api/") != core) continue;
    const auto [api_version, plural] = Parts(path);
    const size_t slash = api_version.find('/');
    const std::string group = core ? "" : api_version.substr(0, slash);
    StrAppend(&items, items.empty() ? "" : ",", R"({"metadata":{"name":")", group,
              R"("},"versions":[{"version":")", core ? api_version : api_version.substr(slash + 1),
              R"(","resources":[{"resource":")", plural, R"("}]}]})");
  }
  return StrCat(R"({"kind":"APIGroupDiscoveryList","items":[)", items, "]}");
}

std::string ApiServerFake::Groups() const {
  std::string items;
  for (const auto& [path, objects] : collections_) {
    if (path.starts_with("/api/")) continue;
    const std::string api_version = Parts(path).first;
    const size_t slash = api_version.find('/');
    StrAppend(&items, items.empty() ? "" : ",", R"({"name":")", api_version.substr(0, slash),
              R"(","versions":[{"version":")", api_version.substr(slash + 1), R"("}]})");
  }
  return StrCat(R"({"kind":"APIGroupList","groups":[)", items, "]}");
}

std::string ApiServerFake::Resources(const std::string& api_version) const {
  std::string items;
  for (const auto& [path, objects] : collections_) {
    const auto [own, plural] = Parts(path);
    if (own == api_version) StrAppend(&items, items.empty() ? "" : ",", R"({"name":")", plural, R"("})");
  }
  return StrCat(R"({"kind":"APIResourceList","groupVersion":")", api_version, R"(","resources":[)", items,
                "]}");
}

void ApiServerFake::Answer(const httplib::Request& request, httplib::Response& response) {
  const std::string& path = request.path;
  std::unique_lock lock(mutex_);
  requests_.push_back(StrCat("GET ", request.target));
  authorization_ = request.get_header_value("Authorization");
  for (const std::string& refused : {std::string(), path}) {
    const auto refusal = refusals_.find(refused);
    if (refusal == refusals_.end()) continue;
    response.status = refusal->second;
    return response.set_content(StatusText(refusal->second, StrCat("no ", path, " for you")), kJson);
  }
  if (path == "/version") return response.set_content(R"({"major":"1","minor":"34"})", kJson);
  if (path == "/api" || path == "/apis") {
    if (aggregated_) return response.set_content(Discovery(path == "/api"), kJson);
    return response.set_content(path == "/api" ? R"({"kind":"APIVersions","versions":["v1"]})" : Groups(),
                                kJson);
  }
  const bool resources = std::any_of(collections_.begin(), collections_.end(), [&path](const auto& entry) {
    return entry.first.substr(0, entry.first.rfind('/')) == path;
  });
  if (resources) return response.set_content(Resources(Parts(path + "/").first), kJson);
  if (!collections_.contains(path)) {
    requests_.pop_back();
    lock.unlock();
    return AnswerObject("GET", request, response);
  }
  if (request.get_param_value("watch") != "1") return List(path, request, response);
  lock.unlock();
  Watch(path, request, response);
}

// REQUIRES: mutex_ held.
void ApiServerFake::List(const std::string& path, const httplib::Request& request,
                         httplib::Response& response) {
  const auto& objects = collections_[path];
  uint64_t at = 0, version = version_;
  if (const std::string next = request.get_param_value("continue"); !next.empty()) {
    at = Number(next.substr(next.find(':') + 1));
    version = Number(next);
    if (version < compacted_) {
      response.status = 410;
      return response.set_content(StatusText(410, "the continue token is too old"), kJson);
    }
  }
  uint64_t limit = Number(request.get_param_value("limit"));
  if (limit == 0) limit = objects.size() + 1;
  std::string items;
  uint64_t index = 0;
  for (const auto& [name, object] : objects) {
    if (index++ < at) continue;
    if (index > at + limit) break;
    StrAppend(&items, items.empty() ? "" : ",", object);
  }
  const std::string next = at + limit < objects.size() ? StrCat(version, ":", at + limit) : "";
  response.set_content(StrCat(R"({"kind":"List","metadata":{"resourceVersion":")", version,
                              R"(","continue":")", next, R"("},"items":[)", items, "]}"),
                       kJson);
}

void ApiServerFake::SetStreaming(bool streaming) {
  std::lock_guard lock(mutex_);
  streaming_ = streaming;
}

// All objects, then the bookmark that says so.
std::string ApiServerFake::InitialEvents(const std::string& path) const {
  std::string text;
  for (const auto& [place, object] : collections_.at(path))
    StrAppend(&text, R"({"type":"ADDED","object":)", object, "}\n");
  return StrCat(text, R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")", version_,
                R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})", "\n");
}

void ApiServerFake::Watch(const std::string& path, const httplib::Request& request,
                          httplib::Response& response) {
  uint64_t version = Number(request.get_param_value("resourceVersion"));
  uint64_t cut = 0;
  std::string first;
  {
    std::lock_guard lock(mutex_);
    cut = cuts_;
    if (request.get_param_value("sendInitialEvents") == "true") {
      if (!streaming_) {
        response.status = 422;
        return response.set_content(StatusText(422, "sendInitialEvents is forbidden"), kJson);
      }
      first = InitialEvents(path);
      version = version_;
    }
    if (version < compacted_) {
      response.status = 410;
      return response.set_content(StatusText(410, "too old resource version"), kJson);
    }
  }
  response.set_chunked_content_provider(kJson, [=, this](size_t, httplib::DataSink& sink) mutable {
    const std::string begin = std::exchange(first, "");
    if (!begin.empty()) return sink.write(begin.data(), begin.size());
    return WriteEvents(path, &version, cut, sink);
  });
}

bool ApiServerFake::WriteEvents(const std::string& path, uint64_t* version, uint64_t cut,
                                httplib::DataSink& sink) {
  std::string text;
  bool over = false;
  {
    std::unique_lock lock(mutex_);
    const auto has_news = [&] {
      return !hang_ && std::any_of(events_.begin(), events_.end(), [&](const Event& event) {
        return event.path == path && event.version > *version;
      });
    };
    changed_.wait_for(lock, std::chrono::milliseconds(200),
                      [&] { return stopping_ || cuts_ != cut || has_news(); });
    over = stopping_ || cuts_ != cut;
    if (!hang_) {
      for (const Event& event : events_) {
        if (event.path == path && event.version > *version) text += event.text;
      }
      if (text.empty() && version_ > *version)
        text = StrCat(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")", version_, "\"}}}\n");
      *version = version_;
    }
  }
  if (!text.empty() && !over) return sink.write(text.data(), text.size());
  if (over) sink.done();
  return true;
}

}  // namespace fairlead::source
