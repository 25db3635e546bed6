#include "app/store_edit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/errno_text.h"
#include "base/files.h"
#include "base/strings.h"
#include "config/read/tree_json.h"
#include "config/read/yaml.h"
#include "injection/yaml_text.h"
#include "source/file/read_file.h"

namespace fairlead::app {
namespace {

// Lines that begin so are ours, and go when the file is read.
constexpr std::string_view kRemark = "#! ";

absl::StatusOr<std::string> MakeFile(const EditRequest& request) {
  const char* folder = getenv("TMPDIR");
  constexpr std::string_view kEnd = ".yaml";
  std::string path = StrCat(folder == nullptr || *folder == '\0' ? "/tmp" : folder, "/fairlead-",
                            request.title, "-XXXXXX", kEnd);
  const int file = mkstemps(path.data(), static_cast<int>(kEnd.size()));  // 0600
  if (file < 0) return absl::UnavailableError(ToAbsl(StrCat(path, ": ", ErrnoText(errno))));
  close(file);
  return path;
}

// As git runs it: the variable may have arguments.
absl::Status RunEditor(const std::string& path) {
  const char* editor = getenv("VISUAL");
  if (editor == nullptr || *editor == '\0') editor = getenv("EDITOR");
  if (editor == nullptr || *editor == '\0') editor = "vi";
  const std::string command = StrCat(editor, " \"$@\"");
  const pid_t process = fork();
  if (process < 0) return absl::UnavailableError(ErrnoText(errno));
  if (process == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), editor, path.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::UnavailableError(ToAbsl(StrCat("the editor \"", editor, "\" failed; the text is in ", path)));
}

std::string WithoutRemarks(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (!line.starts_with(kRemark)) out += line;
    at = end;
  }
  return out;
}

std::string WithRemarks(std::string_view mistakes, std::string_view text) {
  std::string out = StrCat(kRemark, "There are mistakes. Save the file unchanged to give up.\n");
  for (const std::string_view line : Split(mistakes, '\n')) {
    if (!line.empty()) StrAppend(&out, kRemark, line, "\n");
  }
  return StrCat(out, text);
}

}  // namespace

std::string EditableText(const std::string& document) {
  if (!Trim(document).starts_with('{')) return document;
  const config::YamlDocument read = config::ParseYamlDocument(document);
  return read.problems.empty() ? injection::YamlText(config::ToJson(read.tree.root())) : document;
}

absl::StatusOr<std::optional<Edited>> EditText(const EditRequest& request) {
  absl::StatusOr<std::string> file = MakeFile(request);
  if (!file.ok()) return file.status();
  std::string shown = request.text, last;
  for (;;) {
    if (absl::Status status = WriteFileAtomically(*file, shown); !status.ok()) return status;
    if (absl::Status status = RunEditor(*file); !status.ok()) return status;
    absl::StatusOr<std::string> read = source::ReadFile(*file);
    if (!read.ok()) return read.status();
    std::string text = WithoutRemarks(*read);
    if (text == request.text) {
      (void)RemoveFile(*file);
      return std::optional<Edited>();
    }
    const std::string mistakes = request.mistakes(text);
    if (mistakes.empty()) return std::optional<Edited>(Edited{std::move(text), *file});
    if (text == last)
      return absl::CancelledError(
          ToAbsl(StrCat(mistakes, "nothing is written; the text with its mistakes is in ", *file)));
    shown = WithRemarks(mistakes, text);
    last = std::move(text);
  }
}

}  // namespace fairlead::app
