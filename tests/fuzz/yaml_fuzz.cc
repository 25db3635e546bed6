#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/read/yaml.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: any bytes may be read as YAML. Each document has a root or a problem, its nodes know their
// lines and their size, and it ends.
namespace {

using fairlead::config::Node;
using fairlead::config::YamlStream;
using fairlead::fuzz::Require;

// The nodes of a tree, by going through it.
size_t Walk(Node node, int lines, int depth) {
  Require(depth <= 201, "it is nested too deeply");
  Require(node.line() >= 1 && node.line() <= lines, "line ", node.line());
  size_t nodes = 1;
  for (Node element : node.elements()) nodes += Walk(element, lines, depth + 1);
  for (const Node::Entry& entry : node.entries()) {
    Require(node.Find(entry.key).data() != nullptr, "a key is not found");
    nodes += 1 + Walk(entry.value, lines, depth + 1);
  }
  Require(node.data()->span == nodes, "the size of a subtree");
  return nodes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  YamlStream stream(text);
  // As many lines as there may be, by any of YAML's line ends.
  const int lines = static_cast<int>(size) + 2;
  for (size_t documents = 0;; ++documents) {
    Require(documents <= size, "it does not end");
    const YamlStream::Step step = stream.Next();
    if (step == YamlStream::Step::kEnd) break;
    const bool broken = step == YamlStream::Step::kBroken;
    Require(broken != static_cast<bool>(stream.root()), "a root of a broken document, or none");
    Require(!broken || !stream.problems().empty(), "broken without a problem");
    if (broken) continue;
    Walk(stream.root(), lines, 0);
    Require(stream.root().Hash() == stream.root().Hash(), "hash");
  }
  return 0;
}
