/* Control of a tool: none is attached. OpenMP 5.2 section 20.2. Fortran passes the numbers by value here, libomp's by reference (src/abi/kmpc). */
#include "user.h"

#define NO_TOOL (-2) /* omp_control_tool_notool */

PS_EXPORT int omp_control_tool(PS_UNUSED int command, PS_UNUSED int modifier, PS_UNUSED void *argument)
{
    return NO_TOOL;
}
PS_EXPORT int omp_control_tool_(PS_UNUSED int command, PS_UNUSED int32_t modifier) { return NO_TOOL; }
PS_EXPORT int omp_control_tool_8_(PS_UNUSED int command, PS_UNUSED int64_t modifier) { return NO_TOOL; }
