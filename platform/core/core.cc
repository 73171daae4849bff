#include "core/core.h"
#include "base/text.h"
#include "core/stop.h"

namespace mc
{

void raise_pending(Core &c)
{
    if (c.pending == Core::Pending::stack)
        fault(c, text("stack pointer 0x%08x is below the stack's limit 0x%08x", c.x[2], c.stack_limit));
    if (c.wait_address & 1)
        fault(c, text("jump to the odd address 0x%08x", c.wait_address));
    fault(c, text("jump to 0x%08x, where there is no code", c.wait_address));
}

void write_result(Core &c, const Op &op, uint32_t value)
{
    switch (op.kind) {
    case Kind::lb:
        c.x[op.rd] = uint32_t(int8_t(value));
        break;
    case Kind::lh:
        c.x[op.rd] = uint32_t(int16_t(value));
        break;
    case Kind::lbu:
        c.x[op.rd] = uint8_t(value);
        break;
    case Kind::lhu:
        c.x[op.rd] = uint16_t(value);
        break;
    case Kind::flw:
        c.f[op.rd] = value;
        break;
    case Kind::sb:
    case Kind::sh:
    case Kind::sw:
    case Kind::fsw:
        break;
    default:
        c.x[op.rd] = value;
    }
}

std::string waits_for(const Core &c)
{
    switch (c.wait) {
    case Wait::memory:
        return text("memory at 0x%08x", c.wait_address);
    case Wait::stores:
        return text("answers to %u stores", c.posted);
    case Wait::refill:
        return text("code at 0x%08x", c.wait_address);
    case Wait::hws_signal:
        return text("a signal in slot %u", c.wait_slot);
    case Wait::hws_word:
        return text("a word in slot %u", c.wait_slot);
    case Wait::hws_any:
        return "any of several signals or words";
    case Wait::wfi:
        return "any signal or word (wfi)";
    case Wait::dma_queue:
        return "room in the DMA queue";
    default:
        return "";
    }
}

} // namespace mc
