// SPDX-License-Identifier: Apache-2.0
// Calls of OpenMP's runtime.
#include <buda/ops/dnnl/one_openmp_thread.hpp>

// From libgomp, with which Debian's oneDNN is built; <omp.h> would need the compiler's OpenMP switch, which for clang means another
// library.
extern "C" {
void omp_set_num_threads(int);
int omp_get_max_threads(void);
}

namespace buda::ops {

OneOpenMpThread::OneOpenMpThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
OneOpenMpThread::~OneOpenMpThread() { omp_set_num_threads(before_); }

}  // namespace buda::ops
