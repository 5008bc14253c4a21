/* SPDX-License-Identifier: Apache-2.0 */
int fkDependency(void);

__attribute__((visibility("default"))) int fkUseDependency(void);

int fkUseDependency(void) { return fkDependency(); }
