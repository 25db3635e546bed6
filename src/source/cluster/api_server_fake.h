#ifndef FAIRLEAD_SOURCE_CLUSTER_API_SERVER_FAKE_H_
#define FAIRLEAD_SOURCE_CLUSTER_API_SERVER_FAKE_H_

#include <httplib.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

// For tests: what of a Kubernetes API server sources need. Lists in chunks, watches with bookmarks, versions
// that are forgotten, discovery, and single objects that are read and written; over HTTP/1.1 in plaintext.
namespace fairlead::source {

class ApiServerFake {
 public:
  ApiServerFake();
  ~ApiServerFake();

  std::string url() const;
  // Serves a collection from now on: "/api/v1/namespaces".
  void Serve(const std::string& path);
  // The same for one of a CustomResourceDefinition, which is made, or deleted with its objects.
  void Define(const std::string& group, const std::string& version, const std::string& plural);
  void Undefine(const std::string& group, const std::string& version, const std::string& plural);
  // An object, new or changed: `rest` are its fields beside metadata, as JSON ("" for none), `metadata` more
  // of that.
  void Put(const std::string& path, const std::string& ns, const std::string& name,
           const std::string& rest = "", const std::string& metadata = "");
  void Delete(const std::string& path, const std::string& ns, const std::string& name);
  // All events so far are forgotten: who wants to go on from before gets 410.
  void Compact();
  // Ends all watches.
  void CutWatches();
  // Requests for a path are answered so: 403, 429, 500; 0: as usual. "": of all paths.
  void Refuse(const std::string& path, int status);
  // Watches say nothing any more, bookmarks neither, until they are cut.
  void Hang(bool hang);
  // Whether discovery is aggregated.
  void SetAggregated(bool aggregated);
  // Whether lists may be streamed; else who asks for one is refused.
  void SetStreaming(bool streaming);
  // The next requests that write are answered so, one each, with a message; with 429 comes a Retry-After of a
  // second.
  void RefuseWrites(int status, int count, std::string message = "");
  // Writes are answered later by that.
  void DelayWrites(std::chrono::milliseconds delay);
  // An object as it is now, as JSON; "": there is none.
  std::string Get(const std::string& path, const std::string& ns, const std::string& name);

  // "GET /api/v1/pods?limit=500", all so far; writes too.
  std::vector<std::string> Requests();
  size_t CountRequests(std::string_view part);
  // The value of the Authorization header of the last request.
  std::string authorization();

 private:
  struct Event {
    uint64_t version;
    std::string path, text;
  };
  void Answer(const httplib::Request& request, httplib::Response& response);
  // Of one object, below its collection: `method` is that of HTTP.
  void AnswerObject(const std::string& method, const httplib::Request& request, httplib::Response& response);
  void Change(const std::string& method, const std::string& path, const std::string& place,
              const httplib::Request& request, httplib::Response& response);
  void List(const std::string& path, const httplib::Request& request, httplib::Response& response);
  void Watch(const std::string& path, const httplib::Request& request, httplib::Response& response);
  std::string InitialEvents(const std::string& path) const;
  bool WriteEvents(const std::string& path, uint64_t* version, uint64_t cut, httplib::DataSink& sink);
  std::string Discovery(bool core) const;
  std::string Groups() const;
  std::string Resources(const std::string& api_version) const;
  void Note(const std::string& path, const std::string& type, const std::string& object);
  std::string Object(const std::string& ns, const std::string& name, const std::string& rest,
                     const std::string& metadata) const;

  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t version_ = 1, compacted_ = 0, cuts_ = 0;
  bool stopping_ = false, hang_ = false, aggregated_ = true, streaming_ = false;
  std::map<std::string, std::map<std::string, std::string>> collections_;
  std::vector<Event> events_;
  std::map<std::string, int> refusals_;
  int write_refusal_ = 0, write_refusals_ = 0;
  std::string write_refusal_text_;
  std::chrono::milliseconds write_delay_{0};
  std::vector<std::string> requests_;
  std::string authorization_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CLUSTER_API_SERVER_FAKE_H_
