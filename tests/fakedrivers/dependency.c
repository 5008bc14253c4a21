/* SPDX-License-Identifier: Apache-2.0 */

/* Needed by one driver, which the loader does not find it for. */
__attribute__((visibility("default"))) int fkDependency(void);

int fkDependency(void) { return 0; }
