/* Control of a tool. OpenMP 5.2 section 18.14. libgomp's Fortran passes the numbers by value, as here. libomp's Fortran
 * passes them by reference (src/abi/kmpc). */
#include "user.h"

static PS_ALWAYS_INLINE int control(uint64_t command, uint64_t modifier, void *argument)
{
    struct ort_thread *t = ort_self();
    int result;
    ORT_TOOL_TRACED(t, result = ort_tool_control(command, modifier, argument, ORT_CALLER), result = ORT_TOOL_NONE);
    return result;
}

PS_EXPORT int omp_control_tool(int command, int modifier, void *argument)
{
    return control((uint64_t)command, (uint64_t)modifier, argument);
}
PS_EXPORT int omp_control_tool_(int command, int32_t modifier)
{
    return control((uint64_t)command, (uint64_t)modifier, NULL);
}
PS_EXPORT int omp_control_tool_8_(int command, int64_t modifier)
{
    return control((uint64_t)command, (uint64_t)modifier, NULL);
}
