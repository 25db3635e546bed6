#ifndef FAIRLEAD_GEN_ROUTE_ANSWER_GENERATOR_H_
#define FAIRLEAD_GEN_ROUTE_ANSWER_GENERATOR_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/byte_cache.h"
#include "gen/generator.h"
#include "gen/route/collect.h"
#include "gen/route/host_cache.h"
#include "gen/route/scope_memo.h"

namespace fairlead::gen::route {

// Makes route configurations by name, one at a time: each is the answer to a question that a proxy asks of
// its scope. Three layers save work: what a scope answered before, equal inputs, and the virtual hosts of a
// port. What answers are made of is the derived generator's. Thread-safe.
template <typename Inputs>
class AnswerGenerator : public Generator {
 public:
  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    std::vector<cache::ResourcePtr> out;
    if (request.names == nullptr || !Serves(request)) return out;
    const ScopeMemo::ScopePtr answers = memo_.For(request.scope.sidecar);
    const model::SettingsPtr& settings = request.snapshot.settings;
    const Question question{
        TraitsOf(request.scope, *settings), LabelsThatMatter(request, *answers), settings, {}};
    out.reserve(request.names->size());
    for (const std::string& name : *request.names) {
      if (cache::ResourcePtr answer = Answer(request, *answers, question, name))
        out.push_back(std::move(answer));
    }
    return out;
  }

  PartStamp Stamp(const Request& request, size_t /*part*/) const override {
    return {request.scope.own_id, request.scope.sidecar->id, request.snapshot.revisions.settings};
  }

  std::optional<std::string> PartKey(const Request& request, size_t /*part*/) override {
    if (!Serves(request)) return std::nullopt;
    return SharingKey(*request.scope.sidecar, TraitsOf(request.scope, *request.snapshot.settings),
                      LabelsThatMatter(request, *memo_.For(request.scope.sidecar)));
  }

  void Sweep() override {
    memo_.Sweep();
    hosts_.Sweep();
    cache_.Sweep();
  }

 protected:
  // Whether the proxy gets any at all.
  virtual bool Serves(const Request& /*request*/) const { return true; }
  // Whether the answer is worth keeping: clients make names up.
  virtual bool Remembers(const Question& /*question*/) const { return true; }
  // The answer to a question that is new; null: nothing has that name.
  virtual cache::ResourcePtr Make(const mesh::SidecarScope& scope, const Question& question) = 0;

  HostCache hosts_;
  cache::ByteCache<Inputs> cache_;

 private:
  static LabelMap LabelsThatMatter(const Request& request, const ScopeMemo::Scope& answers) {
    return answers.labels_matter() ? request.scope.labels : LabelMap();
  }
  cache::ResourcePtr Answer(const Request& request, ScopeMemo::Scope& answers, Question question,
                            const std::string& name) {
    question.name = name;
    if (cache::ResourcePtr known = answers.Find(question)) return known;
    cache::ResourcePtr resource = Make(*request.scope.sidecar, question);
    if (resource != nullptr && Remembers(question)) answers.Keep(std::move(question), resource);
    return resource;
  }

  ScopeMemo memo_;
};

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_ANSWER_GENERATOR_H_
