/* Points, where a kernel thread goes on when a handler has been left by a jump: see leave.h. */
#include "current.h"
#include "directed.h"
#include "leave.h"
#include "os.h"

bool ps_leaves_handler(uintptr_t to)
{
    struct vp *vp = ps_vp();
    const struct ps_leave_point *point = vp ? vp_directed(vp)->point : NULL;
    if (PS_LIKELY(!point))
        return false;
    uintptr_t place = (uintptr_t)point, here = (uintptr_t)__builtin_frame_address(0);
    if (os_on_alternate_stack(here) && !os_on_alternate_stack(place))
        return (to < point->low || to >= place) && !os_on_alternate_stack(to);
    if (here >= place) /* what runs here is no handler that came after the point */
        return false;
    return to < here || to >= place;
}

/* Where jumps are not answered no handler is seen to be left; and not every compiler has these elsewhere. */
#if defined(__x86_64__)
#define COMES_BACK(point) (__builtin_setjmp((point)->back) != 0)
static PS_NORETURN void go_to_point(struct ps_leave_point *point) { __builtin_longjmp(point->back, 1); }
#else
#define COMES_BACK(point) false
static PS_NORETURN void go_to_point(struct ps_leave_point *point)
{
    (void)point;
    __builtin_trap();
}
#endif

void ps_leave_handler(const struct ps_jump *jump)
{
    struct vp *vp = ps_vp();
    struct ps_leave_point *point = vp_directed(vp)->point;
    uint64_t mask = os_swap_signal_mask(OS_ALL_SIGNALS);
    vp_directed(vp)->point = point->outer;
    *point->jump = *jump;
    point->jump->mask = mask;
    cpu_float_save(&point->jump->floats);
    go_to_point(point);
}

/* An exception that leaves a handler here is caught nowhere: std::terminate. It would leave the wait as it is. This is
 * the function for unwinders (a "personality") of ps_leave_point's frame. Unwinding for other reasons passes. */
#if defined(__x86_64__)
#define LETS_NO_THROW_PASS() __asm__ volatile(".cfi_personality 0x1b, ps_leave_stops_throw")
int ps_leave_stops_throw(int version, int actions);
__attribute__((used, visibility("hidden"))) int ps_leave_stops_throw(int version, int actions)
{
    enum { SEARCHES = 1, FATAL_IN_SEARCH = 3, GO_ON = 8 }; /* of the unwinder's interface */
    (void)version;
    return actions & SEARCHES ? FATAL_IN_SEARCH : GO_ON;
}
#else
#define LETS_NO_THROW_PASS() (void)0
#endif

PS_NOINLINE bool ps_leave_point(struct vp *vp, uintptr_t low, void (*fn)(void *arg), void *arg, struct ps_jump *jump)
{
    LETS_NO_THROW_PASS();
    struct ps_leave_point point = {.low = low, .jump = jump, .outer = vp_directed(vp)->point};
    cpu_float_save(&point.floats);
    if (COMES_BACK(&point)) {
        cpu_float_set(&point.floats); /* not the handler's, which the jump has */
        return true;
    }
    vp_directed(vp)->point = &point;
    ps_fence_compiler();
    fn(arg);
    ps_fence_compiler();
    vp_directed(vp)->point = point.outer;
    return false;
}
