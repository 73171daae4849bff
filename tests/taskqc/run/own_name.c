/* clang-format off */ /* __func__ and its like in a task name the function around, also where a macro has them. */
#include "check.h"
#include <assert.h>
#define HERE __func__
static const char *name_in_task(void)
{
    const char *seen = "", *again = "";
#pragma omp parallel taskq
    {
#pragma omp task
        {
            assert(sizeof(__func__) == sizeof("name_in_task"));
            seen = HERE;
            again = __FUNCTION__;
        }
    }
    CHECK(strcmp(again, "name_in_task") == 0);
    return seen;
}
int main(void) { CHECK(strcmp(name_in_task(), "name_in_task") == 0); return 0; }
