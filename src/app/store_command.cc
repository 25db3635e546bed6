#include "app/store_command.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "app/store_edit.h"
#include "base/closest_name.h"
#include "base/files.h"
#include "base/strings.h"
#include "config/read/manifests.h"
#include "injection/yaml_text.h"
#include "source/etcd/etcd_api.h"
#include "source/etcd/etcd_client.h"
#include "source/etcd/etcd_objects.h"
#include "source/file/read_file.h"

namespace fairlead::app {
namespace {

constexpr int kFailed = 1, kWrongCall = 2;
// Of a transaction; etcd takes 128 by default.
constexpr size_t kMostObjects = 100;

struct Call {
  std::string store, kind, name, ns = "default";
  bool any_namespace = true;
  std::vector<std::string> files;
  int64_t expect = -1;  // the revision; -1: as it is when the command looks
};

// An object of the files, or of the words; `text` is what is to be written.
struct Wanted {
  config::ObjectKey object;
  std::string text = {};
};

class Store {
 public:
  Store(const char* command, source::EtcdOptions options)
      : command_(command),
        prefix_(options.Prefix()),
        control_(options.ControlPrefix()),
        client_(std::move(options)) {}

  int Apply(const Call& call);
  int Get(const Call& call);
  int Delete(const Call& call);
  int Edit(const Call& call);
  int Fail(std::string_view why, int code = kFailed) const {
    std::cerr << "fairlead " << command_ << ": " << why << std::endl;
    return code;
  }

 private:
  std::optional<std::vector<Wanted>> ReadFiles(const Call& call) const;
  bool ReadOne(const std::string& path, std::vector<Wanted>* wanted) const;
  static std::string MistakesIn(const std::string& text, const std::string& path,
                                const config::ObjectKey& key);
  std::string StatusOf(const std::string& key, int64_t revision);
  std::optional<config::ObjectKey> Named(const Call& call) const;
  int Write(const std::vector<Wanted>& wanted, const std::vector<source::EtcdWrite>& writes,
            const std::vector<std::string>& deeds);

  const char* const command_;
  const std::string prefix_, control_;
  source::EtcdClient client_;
};

bool Store::ReadOne(const std::string& path, std::vector<Wanted>* wanted) const {
  absl::StatusOr<std::string> text =
      path == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : source::ReadFile(path);
  if (!text.ok()) return Fail(FromAbsl(text.status().message())) == 0;
  const config::ParseResult result =
      config::ParseManifests(*text, path, config::Admission::kChecked, config::Documents::kKept);
  bool good = true;
  for (const config::Diagnostic& diagnostic : result.diagnostics) {
    std::cerr << config::ToText(diagnostic) << "\n";
    good = good && diagnostic.severity != config::Severity::kError;
  }
  for (size_t i = 0; i < result.objects.size(); ++i) {
    const config::ObjectKey key = config::KeyOf(*result.objects[i]);
    if (key.kind == config::Kind::kSecret)
      good = Fail(StrCat(config::Describe(key), ": Secrets are not kept in etcd")) == 0;
    wanted->push_back({key, result.documents[i]});
  }
  return good;
}

std::optional<std::vector<Wanted>> Store::ReadFiles(const Call& call) const {
  std::vector<Wanted> wanted;
  bool good = true;
  for (const std::string& path : call.files) good = ReadOne(path, &wanted) && good;
  if (!good) return std::nullopt;
  const std::string why = wanted.empty() ? "the files have no objects"
                          : wanted.size() > kMostObjects
                              ? StrCat("more than ", kMostObjects, " objects at once")
                          : call.expect >= 0 && wanted.size() > 1 ? "--expect is for one object"
                                                                  : "";
  if (why.empty()) return wanted;
  Fail(why);
  return std::nullopt;
}

std::optional<config::ObjectKey> Store::Named(const Call& call) const {
  std::vector<std::string> kinds;
  for (const config::KindInfo& kind : config::AllKinds()) {
    const config::ObjectKey key{kind.kind, kind.namespaced ? Interned(call.ns) : Interned(), call.name};
    const std::string path = source::EtcdKeyOf(key, "");
    kinds.push_back(path.substr(0, path.find('/')));
    if (kinds.back() == call.kind) return key;
  }
  const std::string meant = ClosestName(call.kind, kinds);
  Fail(StrCat("there is no kind ", call.kind, meant.empty() ? "" : StrCat("; did you mean ", meant, "?")));
  return std::nullopt;
}

// All or nothing. Whoever lost is told by which revision.
int Store::Write(const std::vector<Wanted>& wanted, const std::vector<source::EtcdWrite>& writes,
                 const std::vector<std::string>& deeds) {
  if (!writes.empty()) {
    const auto outcome = client_.Write(writes);
    if (!outcome.ok()) return Fail(FromAbsl(outcome.status().message()));
    if (!outcome->succeeded) {
      for (const source::EtcdWrite& write : writes) {
        int64_t now = 0;
        for (const source::EtcdKey& key : outcome->keys) {
          if (key.key == write.key) now = key.mod_revision;
        }
        if (now == *write.expected) continue;
        Fail(StrCat(write.key, now == 0 ? " is gone" : StrCat(" has changed: its revision is ", now),
                    ", not ", *write.expected));
      }
      return Fail("nothing is written: read the objects again");
    }
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    std::cout << config::Describe(wanted[i].object) << " " << deeds[i] << "\n";
  return std::cout.flush().good() ? 0 : kFailed;
}

int Store::Apply(const Call& call) {
  const auto wanted = ReadFiles(call);
  if (!wanted) return kFailed;
  std::vector<source::EtcdWrite> writes;
  std::vector<std::string> deeds;
  for (const Wanted& one : *wanted) {
    const std::string key = source::EtcdKeyOf(one.object, prefix_);
    const auto now = client_.Read({key});
    if (!now.ok()) return Fail(FromAbsl(now.status().message()));
    const bool there = !now->keys.empty();
    const int64_t revision = there ? now->keys.front().mod_revision : 0;
    const bool same =
        there && now->keys.front().value == one.text && (call.expect < 0 || call.expect == revision);
    deeds.emplace_back(same ? "unchanged" : there ? "configured" : "created");
    if (same) continue;
    writes.push_back({key, one.text, call.expect < 0 ? revision : call.expect});
    // What a lease gives a life to keeps it.
    if (there) writes.back().lease = now->keys.front().lease;
  }
  return Write(*wanted, writes, deeds);
}

// The status that control planes keep for an object, as a comment: the output can be applied as it is. Nobody
// who may only read objects is refused for that.
std::string Store::StatusOf(const std::string& key, int64_t revision) {
  const auto object = source::ObjectOfEtcdKey(key, prefix_);
  if (!object) return "";
  const auto found = client_.Read({source::EtcdStatusKeyOf(*object, control_)});
  if (!found.ok() || found->keys.empty()) return "";
  const auto status = source::ReadEtcdStatus(found->keys.front().value);
  if (!status) return "";
  const bool old = status->revision != revision;
  std::string text = StrCat("# status", old ? StrCat(" of revision ", status->revision) : "", ":\n");
  const std::string yaml = injection::YamlText(status->status);
  for (const std::string_view line : Split(Trim(yaml), '\n'))
    StrAppend(&text, "#   ", line, "\n");
  return text;
}

std::string Store::MistakesIn(const std::string& text, const std::string& path,
                              const config::ObjectKey& key) {
  const config::ParseResult result = config::ParseManifests(text, path);
  std::string mistakes;
  for (const config::Diagnostic& diagnostic : result.diagnostics) {
    if (diagnostic.severity == config::Severity::kError)
      StrAppend(&mistakes, config::ToText(diagnostic), "\n");
  }
  if (mistakes.empty() && (result.objects.size() != 1 || config::KeyOf(*result.objects.front()) != key))
    mistakes = StrCat("the text is not one ", config::Describe(key), "\n");
  return mistakes;
}

// Comments stay, as the text is written as it is.
int Store::Edit(const Call& call) {
  const auto named = Named(call);
  if (!named) return kFailed;
  const std::string key = source::EtcdKeyOf(*named, prefix_);
  const auto found = client_.Read({key});
  if (!found.ok()) return Fail(FromAbsl(found.status().message()));
  if (found->keys.empty()) return Fail(StrCat(key, " is not there"));
  const source::EtcdKey& known = found->keys.front();
  const std::string title = ReplaceAll(key.substr(prefix_.size()), "/", "-");
  const auto edited = EditText({title, EditableText(known.value), [&named](const std::string& text) {
                                  return MistakesIn(text, "the text", *named);
                                }});
  if (!edited.ok()) return Fail(FromAbsl(edited.status().message()));
  if (!*edited) {
    std::cout << config::Describe(*named) << " unchanged\n";
    return std::cout.flush().good() ? 0 : kFailed;
  }
  source::EtcdWrite write{key, (*edited)->text, known.mod_revision};
  write.lease = known.lease;
  const int status = Write({Wanted{*named}}, {write}, {"edited"});
  if (status != 0) return Fail(StrCat("your text is in ", (*edited)->file), status);
  (void)RemoveFile((*edited)->file);
  return 0;
}

int Store::Get(const Call& call) {
  const auto named = Named(call);
  if (!named) return kFailed;
  std::string key = source::EtcdKeyOf(*named, prefix_);
  if (call.name.empty()) {
    // All of a namespace, or of all.
    if (config::InfoOf(named->kind).namespaced && call.any_namespace)
      key = key.substr(0, key.size() - named->ns.str().size() - 1);
  }
  const auto found = call.name.empty() ? client_.ReadAll(key) : client_.Read({key});
  if (!found.ok()) return Fail(FromAbsl(found.status().message()));
  if (found->keys.empty() && !call.name.empty()) return Fail(StrCat(key, " is not there"));
  for (const source::EtcdKey& one : found->keys)
    std::cout << "---\n# " << one.key << ", revision " << one.mod_revision << "\n"
              << Trim(one.value) << "\n"
              << StatusOf(one.key, one.mod_revision);
  return std::cout.flush().good() ? 0 : kFailed;
}

int Store::Delete(const Call& call) {
  std::optional<std::vector<Wanted>> wanted;
  if (call.files.empty()) {
    const auto named = Named(call);
    if (named) wanted = {Wanted{*named}};
  } else {
    wanted = ReadFiles(call);
  }
  if (!wanted) return kFailed;
  std::vector<source::EtcdWrite> writes, statuses;
  for (const Wanted& one : *wanted) {
    const std::string key = source::EtcdKeyOf(one.object, prefix_);
    const auto now = client_.Read({key});
    if (!now.ok()) return Fail(FromAbsl(now.status().message()));
    if (now->keys.empty()) return Fail(StrCat(key, " is not there"));
    writes.push_back({key, std::nullopt, call.expect < 0 ? now->keys.front().mod_revision : call.expect});
    statuses.push_back({source::EtcdStatusKeyOf(one.object, control_)});
  }
  const int status = Write(*wanted, writes, std::vector<std::string>(wanted->size(), "deleted"));
  // Whoever may not do that leaves it to the control plane.
  if (status == 0) (void)client_.Write(statuses);
  return status;
}

void AddStore(Call* call, CLI::App* command) {
  command->add_option("--store", call->store, "etcd://HOST:2379/PREFIX, as discovery's --configSource")
      ->required()
      ->envname("FAIRLEAD_STORE");
}

void AddExpect(Call* call, CLI::App* command) {
  command
      ->add_option("--expect", call->expect,
                   "The revision that the object must have, as get prints it; 0: it must not be there")
      ->check(CLI::NonNegativeNumber);
}

int Run(const char* name, CLI::App* command, Call* call, const std::vector<std::string>& arguments,
        int (Store::*deed)(const Call&)) {
  try {
    command->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return command->exit(error) == 0 ? 0 : kWrongCall;
  }
  absl::StatusOr<source::EtcdOptions> options = source::ParseEtcdOptions(call->store);
  if (options.ok() && source::SchemeOf(call->store) != "etcd")
    options =
        absl::InvalidArgumentError(ToAbsl(StrCat("\"", call->store, "\" is no etcd://HOST:2379/PREFIX")));
  if (!options.ok()) {
    std::cerr << "fairlead " << name << ": --store: " << FromAbsl(options.status().message()) << std::endl;
    return kWrongCall;
  }
  Store store(name, *std::move(options));
  return (store.*deed)(*call);
}

}  // namespace

int RunApply(const std::vector<std::string>& arguments) {
  Call call;
  CLI::App command("Checks objects as `fairlead validate` does and writes them into etcd, all or none",
                   "fairlead apply");
  command.add_option("-f,--filename", call.files, "File with manifests; -: standard input; may be repeated")
      ->required()
      ->allow_extra_args(false);
  AddStore(&call, &command);
  AddExpect(&call, &command);
  return Run("apply", &command, &call, arguments, &Store::Apply);
}

int RunGet(const std::vector<std::string>& arguments) {
  Call call;
  CLI::App command("Prints objects of etcd as they are written there", "fairlead get");
  command.add_option("KIND", call.kind, "VirtualService, Gateway.gateway.networking.k8s.io, …")->required();
  command.add_option("NAME", call.name, "The object's name; without it all of the kind");
  CLI::Option* ns = command.add_option("-n,--namespace", call.ns, "The namespace");
  ns->capture_default_str();
  ns->each([&call](const std::string&) { call.any_namespace = false; });
  AddStore(&call, &command);
  return Run("get", &command, &call, arguments, &Store::Get);
}

int RunEdit(const std::vector<std::string>& arguments) {
  Call call;
  CLI::App command(
      "Opens an object of etcd in VISUAL, EDITOR or vi, checks what is saved, and writes it unless somebody "
      "else has changed the object meanwhile",
      "fairlead edit");
  command.add_option("KIND", call.kind, "VirtualService, Gateway.gateway.networking.k8s.io, …")->required();
  command.add_option("NAME", call.name, "The object's name")->required();
  command.add_option("-n,--namespace", call.ns, "The namespace")->capture_default_str();
  AddStore(&call, &command);
  return Run("edit", &command, &call, arguments, &Store::Edit);
}

int RunDelete(const std::vector<std::string>& arguments) {
  Call call;
  CLI::App command("Deletes objects of etcd, all or none", "fairlead delete");
  CLI::Option* kind =
      command.add_option("KIND", call.kind, "VirtualService, Gateway.gateway.networking.k8s.io, …");
  CLI::Option* name = command.add_option("NAME", call.name, "The object's name");
  kind->needs(name);
  command.add_option("-n,--namespace", call.ns, "The namespace")->capture_default_str();
  command
      .add_option("-f,--filename", call.files,
                  "File with the manifests of the objects, in place of KIND and NAME")
      ->allow_extra_args(false)
      ->excludes(kind);
  command.require_option();
  AddStore(&call, &command);
  AddExpect(&call, &command);
  return Run("delete", &command, &call, arguments, &Store::Delete);
}

}  // namespace fairlead::app
