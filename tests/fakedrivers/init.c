/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

/* A probe that starts the driver ends the test program. */
__attribute__((visibility("default"))) int fkInit(unsigned flags);

int fkInit(unsigned flags) {
  (void)flags;
  abort();
}
