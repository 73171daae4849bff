/* clang-format off */ /* #line: a task's lines and the file's name are what they are without the translator. */
#include "check.h"
static int at_line[4];
static const char *file[4];
int main(void)
{
    at_line[0] = __LINE__; file[0] = __FILE__;
#line 100 "grammar.y"
#pragma omp parallel taskq
    {
#pragma omp task
        {
            at_line[1] = __LINE__; file[1] = __FILE__;
        }
    }
    at_line[2] = __LINE__; file[2] = __FILE__;
#line 500
    at_line[3] = __LINE__;
    CHECK(at_line[0] == 7);
    CHECK(at_line[1] == 104 && strcmp(file[1], "grammar.y") == 0);
    CHECK(at_line[2] == 107 && strcmp(file[2], "grammar.y") == 0);
    CHECK(at_line[3] == 500);
    return 0;
}
