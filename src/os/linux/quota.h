/* The processor-time quota below a root folder other than "/": for tests with made-up files. See quota.c. */
#ifndef PS_OS_QUOTA_H
#define PS_OS_QUOTA_H

/* As os_cpu_quota, but every file is looked up below the folder `root` ("": the system itself). */
unsigned os_cpu_quota_below(const char *root);

#endif
