/* clang-format off */ /* Strings, characters and comments that look like something else. */
#include "check.h"
#define STR(x) #x
#define XSTR(x) STR(x)
#define CAT(a, b) a##b
int main(void)
{
    int ab = 3, a = 1, r = 0;
    const char *s = "", *t = "";
    char q = 0;
#pragma omp parallel taskq
    {
#pragma omp task
        {
            s = "#pragma omp task \" /* a */ // a";
            t = XSTR(a) STR(ab + a);
            q = '"'; /* a "quote */ // a ' quote
            r = CAT(a, b) + a /* ab */ + sizeof("a") + 'a' - 'a';
        }
    }
    CHECK(strcmp(t, "aab + a") == 0 && q == '"' && strlen(s) == 31);
    CHECK(r == 3 + 1 + 2);
    return 0;
}
