// SPDX-License-Identifier: Apache-2.0
// What the rows of the destination register hold: nothing, zeros, or numbers of a form, of 16 or of 32 bits.
#pragma once

#include <buda/numerics/matrix_unit.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace buda::tensix {

// By groups of 4 rows of 16 bits. 4 rows of 32 bits share the memory of two groups: rows 8 k to 8 k + 7 are the 16-bit rows 16 k to
// 16 k + 15.
class DestForms {
 public:
  enum class Form : std::uint8_t { nothing, zeros, bf16, fp16, fp32 };

  void cleared(std::size_t first, std::size_t rows) {
    for (std::size_t g = first / 4; g < (first + rows) / 4; ++g) forms_[g] = Form::zeros;
  }
  void write(numerics::Dest form, std::size_t row, std::size_t rows) {
    for_groups(form, row, rows, [&](Form& f) { f = form_of(form); });
  }
  // The first form that is neither zeros nor this one, or that.
  Form read(numerics::Dest form, std::size_t row, std::size_t rows) {
    Form found = form_of(form);
    for_groups(form, row, rows, [&](Form f) {
      if (f != Form::zeros && f != form_of(form) && found == form_of(form)) found = f;
    });
    return found;
  }
  Form of_row(std::size_t row) const { return forms_[row / 4]; }
  static constexpr Form form_of(numerics::Dest form) {
    return form == numerics::Dest::fp32 ? Form::fp32 : form == numerics::Dest::fp16 ? Form::fp16 : Form::bf16;
  }

 private:
  template <class Visit>
  void for_groups(numerics::Dest form, std::size_t row, std::size_t rows, Visit visit) {
    for (std::size_t g = row / 4; g < (row + rows + 3) / 4; ++g) {
      if (form != numerics::Dest::fp32) {
        visit(forms_[g]);
        continue;
      }
      const std::size_t first = g / 2 * 4 + g % 2;
      visit(forms_[first]);
      visit(forms_[first + 2]);
    }
  }

  std::array<Form, 256> forms_ = {};
};

}  // namespace buda::tensix
