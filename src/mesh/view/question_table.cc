#include "mesh/view/question_table.h"

#include <array>
#include <typeinfo>

namespace fairlead::mesh {
namespace {

template <typename Row>
concept HasDifference =
    requires(const MeshSnapshot& mesh, Visit visit) { Row::Difference(mesh, mesh, visit); };
template <typename Row>
concept HasWider = requires { &Row::Wider; };

// The last part of a name such as "N8fairlead4mesh9questions16ServiceEndpointsE".
std::string_view NameOf(const std::type_info& row) {
  constexpr std::string_view kRoom = "questions";
  std::string_view name = row.name();
  name.remove_prefix(name.find(kRoom) + kRoom.size());
  name.remove_prefix(name.find_first_not_of("0123456789"));
  return name.substr(0, name.size() - 1);
}

template <typename Row>
constexpr bool ConcernsAll() {
  if constexpr (requires { Row::kConcernsAll; }) return Row::kConcernsAll;
  return false;
}

template <typename Row>
Answer AskRow(const World& world, const Key& key) {
  return Signature<Row>::Kept::Keep(AnswerOf<Row>(world, key));
}

template <typename Row>
bool IsSame(const World& world, const Key& key, const Answer& kept) {
  return Signature<Row>::Kept::IsSame(kept, AnswerOf<Row>(world, key));
}

template <typename Row>
uint64_t HashOfAnswer(const World& world, const Key& key) {
  return Signature<Row>::Kept::Hash(AnswerOf<Row>(world, key));
}

template <typename Wider>
std::optional<Question> AsQuestion(const std::optional<Asked<Wider>>& wider) {
  static_assert(HasDifference<Wider> || Signature<Wider>::kOfClient, "a change of the wider one is told");
  if (!wider) return std::nullopt;
  return Question{kPartOf<Wider>, wider->key};
}

template <typename Row>
std::optional<Question> WiderOf(const World& world, const Key& key) {
  return CallWithKey<Row>(key, [&](const auto&... keys) {
    if constexpr (std::is_invocable_v<decltype(&Row::Wider), decltype(keys)...>) {
      return AsQuestion(std::optional(Row::Wider(keys...)));
    } else {
      return AsQuestion(std::optional(Row::Wider(*world.client, keys...)));
    }
  });
}

template <typename Row>
RowInfo MakeInfo() {
  using S = Signature<Row>;
  static_assert(S::kOfClient || HasDifference<Row> != HasWider<Row>,
                "a question about the snapshot needs a Difference, or a Wider that has one");
  static_assert(!(S::kOfClient && HasDifference<Row>), "what of a client differs is not told");
  RowInfo info{NameOf(typeid(Row)), S::kOfClient, ConcernsAll<Row>(),
               &AskRow<Row>,        &IsSame<Row>, &HashOfAnswer<Row>};
  if constexpr (HasWider<Row>) info.wider = &WiderOf<Row>;
  if constexpr (HasDifference<Row>) info.difference = Row::Difference;
  return info;
}

template <typename... Row>
auto MakeTable(Rows<Row...>) {
  return std::array<RowInfo, sizeof...(Row)>{MakeInfo<Row>()...};
}
const auto kTable = MakeTable(AllRows());
static_assert(std::tuple_size_v<decltype(kTable)> <= 256, "a Part is a byte");

}  // namespace

const RowInfo& InfoOf(Part part) { return kTable[static_cast<size_t>(part)]; }

size_t PartCount() { return kTable.size(); }

Question Wider(const World& world, const Question& question) {
  const RowInfo& row = InfoOf(question.part);
  return row.wider == nullptr ? question : row.wider(world, question.key).value_or(question);
}

std::optional<Question> Watched(const Question& question) {
  const RowInfo& row = InfoOf(question.part);
  if (row.of_client || row.concerns_all) return std::nullopt;
  if (row.difference != nullptr) return question;
  static const auto* const none = new MeshSnapshot();
  return Watched(Wider({*none}, question));
}

void ForEachDifference(const MeshSnapshot* before, const MeshSnapshot& after,
                       absl::FunctionRef<void(const Question&)> visit) {
  static const auto* const none = new MeshSnapshot();
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].difference == nullptr) continue;
    kTable[i].difference(before == nullptr ? *none : *before, after, [&](const Key& key) {
      visit({static_cast<Part>(i), key});
    });
  }
}

}  // namespace fairlead::mesh
