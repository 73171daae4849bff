/* The start of psrun on glibc before 2.34: psrun is linked with --wrap=__libc_start_main (CMakeLists.txt).
 *
 * The startup code of a newer glibc (crt1.o) calls the new version of __libc_start_main, which runs constructors by
 * itself. The wrapper calls the older version, which every glibc has, and gives it a function that runs the
 * constructors. */
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
