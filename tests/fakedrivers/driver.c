/* SPDX-License-Identifier: Apache-2.0 */

/* The smallest driver a probe can find: FAKE_STATUS and FAKE_VERSION are what it answers. */
__attribute__((visibility("default"))) int fkDriverGetVersion(int* version);

int fkDriverGetVersion(int* version) {
  if (FAKE_STATUS == 0) *version = FAKE_VERSION;
  return FAKE_STATUS;
}
