/* Lets a psrun that was built with a newer glibc start on a glibc before 2.34. psrun is linked with
 * --wrap=__libc_start_main (CMakeLists.txt), so the startup code (crt1.o) calls the wrapper below.
 *
 * The startup code of glibc 2.34 and later wants the new version of __libc_start_main, which runs constructors by
 * itself, and passes no function for them (init is NULL). The wrapper calls the old version, which every glibc has.
 * The old version leaves constructors to `init`, so the wrapper passes run_constructors. */
#include <stddef.h>

typedef int main_function(int argc, char **argv, char **environment);
typedef void nothing(void);

int old_start(main_function *, int, char **, main_function *init, nothing *, nothing *, void *);
__asm__(".symver old_start, __libc_start_main@GLIBC_2.2.5");
int __wrap___libc_start_main(main_function *, int, char **, main_function *, nothing *, nothing *, void *);

extern main_function *__init_array_start[], *__init_array_end[]; /* defined by the linker */

static int run_constructors(int argc, char **argv, char **environment)
{
    for (main_function **each = __init_array_start; each < __init_array_end; each++)
        (*each)(argc, argv, environment);
    return 0;
}

int __wrap___libc_start_main(main_function *program, int argc, char **argv, main_function *init, nothing *end,
                             nothing *end_of_loader, void *stack_end)
{
    return old_start(program, argc, argv, init != NULL ? init : run_constructors, end, end_of_loader, stack_end);
}
