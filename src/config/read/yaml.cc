#include "config/read/yaml.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "config/read/yaml_composer.h"
#include "config/read/yaml_events.h"

namespace fairlead::config {
namespace {

// Whether a line is a document marker: "---" at its start, then nothing or a space.
bool IsMarker(std::string_view rest) {
  if (!rest.starts_with("---")) return false;
  return rest.size() == 3 || rest[3] == ' ' || rest[3] == '\t' || rest[3] == '\n' || rest[3] == '\r';
}

// Offset of the next document marker at or behind `from`, which is the start of a line; the text's end where
// none is. `line` goes along.
size_t FindMarker(std::string_view text, size_t from, int& line) {
  while (from < text.size() && !IsMarker(text.substr(from))) {
    const size_t end = text.find('\n', from);
    if (end == std::string_view::npos) return text.size();
    from = end + 1;
    ++line;
  }
  return from;
}

size_t NextLine(std::string_view text, size_t from) {
  const size_t end = text.find('\n', from);
  return end == std::string_view::npos ? text.size() : end + 1;
}

// A part that has no document: blank lines and comments, maybe after a marker.
bool IsEmptyRoot(Node root) { return root.IsNull(); }

// What a line that cannot be read probably is; "" where it is nothing of the known.
std::string_view HintOf(std::string_view line) {
  if (line.find("{{") != std::string_view::npos && line.find("}}") != std::string_view::npos)
    return "; a Go template? render it first, as with `helm template`";
  const std::string_view indent = line.substr(0, line.find_first_not_of(" \t"));
  if (indent.find('\t') != std::string_view::npos)
    return "; it begins with a tab: YAML is indented with spaces";
  return "";
}

}  // namespace

// Reads the whole text with one parser until something is wrong. From then on each part between two markers
// has a parser of its own, since libyaml cannot go on behind an error.
class YamlStream::Impl {
 public:
  explicit Impl(std::string_view text) : text_(text), composer_(text.size()) { events_.emplace(text, 1); }

  Step Next() {
    for (;;) {
      if (!events_ && !OpenPart()) return Step::kEnd;
      const std::optional<Step> step = ReadDocument();
      if (step) return *step;
    }
  }

  YamlComposer& composer() { return composer_; }
  std::string_view part() const { return part_; }
  int part_line() const { return part_line_; }

 private:
  // The next document that is not empty; nothing where the parser at hand has no more.
  std::optional<Step> ReadDocument() {
    composer_.Start();
    while (events_->Next()) {
      switch (events_->event().type) {
        case YAML_STREAM_END_EVENT:
          events_.reset();
          return std::nullopt;
        case YAML_STREAM_START_EVENT:
          break;
        case YAML_DOCUMENT_START_EVENT:
          composer_.Start();
          document_line_ = events_->line();
          document_done_ = false;
          break;
        case YAML_DOCUMENT_END_EVENT:
          document_done_ = true;
          if (!IsEmptyRoot(composer_.root())) return Step::kDocument;
          break;
        default:
          composer_.Take(*events_);
          // What follows would be parsed for nothing, and costs libyaml the square of its length.
          if (composer_.failed()) return GiveUp();
      }
    }
    return OnError();
  }

  std::optional<Step> OnError() {
    const std::string message = events_->error();
    const int line = events_->error_line();
    events_.reset();
    if (!parts_) {
      StartParts();
      return std::nullopt;
    }
    composer_.Start();
    composer_.Fail("yaml-syntax", line, message);
    return Broken();
  }

  // A document that the composer refuses.
  Step GiveUp() {
    events_.reset();
    if (!parts_) {
      StartParts();
      TakePart();
    }
    return Broken();
  }

  // What is wrong, with what it probably is: the parser tells of neither templates nor tabs.
  Step Broken() {
    const int line = composer_.problems().back().line;
    size_t at = 0;
    for (int i = part_line_; i < line - 1; ++i) at = NextLine(part_, at);
    // The error is often noticed a line later.
    for (int i = std::max(part_line_, line - 1); i <= line && at < part_.size(); ++i) {
      const size_t next = NextLine(part_, at);
      if (const std::string_view hint = HintOf(part_.substr(at, next - at)); !hint.empty()) {
        composer_.AddHint(hint);
        break;
      }
      at = next;
    }
    return Step::kBroken;
  }

  // The rest of the text is read part by part, the document at hand (unless it was given out) again.
  void StartParts() {
    parts_ = true;
    next_ = 0;
    next_line_ = 1;
    for (; next_line_ < document_line_; ++next_line_) next_ = NextLine(text_, next_);
    if (document_done_ && document_line_ > 0) {
      next_ = NextLine(text_, next_);
      ++next_line_;
      next_ = FindMarker(text_, next_, next_line_);
    }
  }

  // Goes to the next part. REQUIRES: there is one.
  void TakePart() {
    part_line_ = next_line_;
    const size_t begin = next_;
    ++next_line_;
    next_ = FindMarker(text_, NextLine(text_, begin), next_line_);
    part_ = text_.substr(begin, next_ - begin);
  }

  bool OpenPart() {
    if (!parts_ || next_ >= text_.size()) return false;
    TakePart();
    events_.emplace(part_, part_line_);
    return true;
  }

  std::string_view text_;
  std::optional<YamlEvents> events_;  // none between parts
  YamlComposer composer_;
  int document_line_ = 0;      // of the document that was begun last
  bool document_done_ = true;  // it was given out
  bool parts_ = false;
  std::string_view part_;  // the one at hand
  int part_line_ = 1;
  size_t next_ = 0;  // offset and line of the next part
  int next_line_ = 1;
};

YamlStream::YamlStream(std::string_view text) : impl_(std::make_unique<Impl>(text)) {}
YamlStream::~YamlStream() = default;

YamlStream::Step YamlStream::Next() { return impl_->Next(); }
Node YamlStream::root() const { return impl_->composer().root(); }
const std::vector<YamlProblem>& YamlStream::problems() const { return impl_->composer().problems(); }
std::string_view YamlStream::broken_text() const { return impl_->part(); }
int YamlStream::broken_line() const { return impl_->part_line(); }

YamlDocument ParseYamlDocument(std::string_view text) {
  YamlStream stream(text);
  YamlDocument document;
  const YamlStream::Step step = stream.Next();
  document.problems = stream.problems();
  if (step != YamlStream::Step::kDocument) return document;
  TreeBuilder builder;
  builder.Copy(stream.root());
  document.tree = builder.Build();
  if (stream.Next() != YamlStream::Step::kEnd) {
    document.problems.push_back(
        {stream.root().line(), "several-documents", "", "the file must be one document"});
  }
  return document;
}

}  // namespace fairlead::config
