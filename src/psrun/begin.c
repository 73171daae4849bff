/* The program's start on glibc before 2.34: linked with --wrap=__libc_start_main (CMakeLists.txt).
 *
 * What a newer glibc puts in front of main (crt1.o) asks for its version of __libc_start_main, which runs constructors
 * by itself. The older version, which every glibc has, is told a function that does it. */
#include <stddef.h>

typedef int main_function(int argc, char **argv, char **environment);
typedef void nothing(void);

int old_start(main_function *, int, char **, main_function *init, nothing *, nothing *, void *);
__asm__(".symver old_start, __libc_start_main@GLIBC_2.2.5");
int __wrap___libc_start_main(main_function *, int, char **, main_function *, nothing *, nothing *, void *);

extern main_function *__init_array_start[], *__init_array_end[]; /* the linker's */

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
