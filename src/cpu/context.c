/* Contexts of the ports with assembly. A saved context is the address of its frame, which lies on the context's own
 * stack.
 *
 * The port's folder gives the layout of the frame (frame_port.h; drawn in cpu_port.h), the switch that writes and reads
 * the frame (switch.S, with cpu_first, the first code of a context), and the thread pointer (thread_pointer.c). */
#include "cpu.h"
#include "frame_port.h"

int cpu_context_init(struct cpu_context *ctx, void *stack, size_t bytes, cpu_entry_fn *entry, void *arg)
{
    uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)15;
    struct frame *f = (struct frame *)(top - sizeof *f);
    _Static_assert(sizeof(struct frame) % 16 == 0, "the stack stays aligned");
    frame_init(f, entry, arg);
    ctx->sp = f;
    return 0;
}

int cpu_context_adopt(struct cpu_context *ctx)
{
    ctx->sp = NULL; /* The first cpu_switch away from this stack writes the address. */
    return 0;
}

void cpu_context_fini(struct cpu_context *ctx) { (void)ctx; }
