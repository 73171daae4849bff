/* The processor-time quota below a root folder other than "/": for tests with made-up trees. See quota.c. */
#ifndef PS_OS_QUOTA_H
#define PS_OS_QUOTA_H

/* As os_cpu_quota, with every file looked up below `root` ("" is the system itself). */
unsigned os_cpu_quota_below(const char *root);

#endif
