#ifndef FAIRLEAD_CONFIG_READ_YAML_H_
#define FAIRLEAD_CONFIG_READ_YAML_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/tree.h"

namespace fairlead::config {

// Something wrong with a text as YAML or JSON, before anybody asks what the document means.
struct YamlProblem {
  int line = 0;
  std::string code;  // "yaml-syntax", "duplicate-key", …
  std::string path;  // of the key, for problems inside a document that is otherwise well formed
  std::string message;
};

// The documents of a YAML 1.1 text (JSON is YAML), one after the other. Scalars are resolved as Kubernetes
// reads them (see ResolvePlainScalar), aliases and merge keys (`<<`) are expanded, keys are strings. Bounded:
// nesting is at most 200 levels deep, and aliases add at most 200,000 nodes to a text and one for each of its
// bytes. A broken document costs itself alone: it is read no further than to its mistake, and reading goes on
// behind the next line that begins with "---". No message quotes the text. One thread at a time. The text
// must outlive the stream.
class YamlStream {
 public:
  explicit YamlStream(std::string_view text);
  ~YamlStream();

  enum class Step {
    kDocument,  // root() is a document; problems() may name duplicate keys, of which the first one counts
    kBroken,    // a document could not be read; problems() says why, root() is absent
    kEnd,
  };
  // Goes to the next document; empty ones are passed over.
  Step Next();

  // Valid until the next call of Next.
  Node root() const;
  const std::vector<YamlProblem>& problems() const;
  // The lines of the document that is broken, and the number of the first. REQUIRES: Next said kBroken.
  std::string_view broken_text() const;
  int broken_line() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A text of one document, or of none: then an absent root and no problem.
struct YamlDocument {
  Tree tree;
  std::vector<YamlProblem> problems;
};
YamlDocument ParseYamlDocument(std::string_view text);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_YAML_H_
