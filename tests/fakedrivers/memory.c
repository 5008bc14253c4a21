/* SPDX-License-Identifier: Apache-2.0 */

/* The second symbol a probe asks for; one driver is linked without it. Nobody calls it. */
__attribute__((visibility("default"))) int fkMemAlloc_v2(void);

int fkMemAlloc_v2(void) { return 1; }
