// SPDX-License-Identifier: BSD-3-Clause
#include "base/trial.hpp"

#include <algorithm>

namespace op2 {

void Trial::note(std::size_t which, std::optional<double> took) {
  Arm& arm = arms_.at(which);
  if (n_left(arm) == 0) return;
  if (++arm.n <= rules_.n_warm || !took) return;
  arm.shortest = std::min(arm.shortest.value_or(*took), *took);
}

int Trial::n_left(const Arm& arm) const {
  return arm.is_possible ? std::max(rules_.n_warm + rules_.n_each - arm.n, 0) : 0;
}

int Trial::n_left() const {
  int n = 0;
  for (const Arm& arm : arms_) n += n_left(arm);
  return n;
}

std::size_t Trial::next() const {
  const auto most_left = std::ranges::max_element(
      arms_, {}, [this](const Arm& arm) { return n_left(arm); });  // the first of equals
  if (n_left(*most_left) == 0) return best();
  return static_cast<std::size_t>(most_left - arms_.begin());
}

std::size_t Trial::best() const {
  std::size_t found = rules_.preferred;
  std::optional<double> bound;
  if (arms_[found].shortest) bound = rules_.gain * *arms_[found].shortest;
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    const Arm& arm = arms_[i];
    if (i == rules_.preferred || !arm.is_possible || !arm.shortest || !bound) continue;
    if (*arm.shortest >= *bound) continue;
    found = i;
    bound = arm.shortest;
  }
  return found;
}

}  // namespace op2
