/* Preloaded: the auxiliary vector of a kernel before 5.9, which does not let a program write the thread pointer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/auxv.h>

#define FSGSBASE 2ul /* of AT_HWCAP2 */

__attribute__((visibility("default"))) unsigned long getauxval(unsigned long type)
{
    unsigned long (*next)(unsigned long) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "getauxval");
    return next(type) & ~(type == AT_HWCAP2 ? FSGSBASE : 0);
}
