/* What programs in other languages call: C with OpenMP, as such programs link it. */
#pragma once

double kernel_dot(int n, int passes);
long kernel_tree(int n);
/* The sum of call(context, i), called in the members of teams. */
long kernel_each(int n, long (*call)(void *context, int i), void *context);
int kernel_threads(void);
