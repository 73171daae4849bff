/* GNU entry points: for and doacross over unsigned long long. The parameter `up` is true if the loop counts upwards. */
#define LOOP_VALUE unsigned long long
#define LOOP_NAME(x) GOMP_loop_ull_##x
#define LOOP_STATIC(x) x##_loop_ull
#define LOOP_UP bool up,
#define LOOP_UP_VALUE up,
#define LOOP_DESCRIBE gomp_loop_ull
#include "loop_template.h"
