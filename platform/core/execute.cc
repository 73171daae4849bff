#include "core/execute.h"

namespace mc
{

uint32_t csr_read(const Core &c, unsigned number, uint64_t now, uint64_t done)
{
    switch (number) {
    case 0x001:
        return c.fflags;
    case 0x002:
        return c.frm;
    case 0x003:
        return uint32_t(c.frm << 5 | c.fflags);
    case 0x300:
        return c.csr_mstatus;
    case 0x301:
        return 0x40001125; // RV32, A C F I M
    case 0x304:
        return c.csr_mie;
    case 0x305:
        return c.csr_mtvec;
    case 0x340:
        return c.csr_mscratch;
    case 0x341:
        return c.csr_mepc;
    case 0x342:
        return c.csr_mcause;
    case 0x343:
        return c.csr_mtval;
    case 0x7c0:
        return c.stack_limit;
    case 0x7c1:
        return c.region;
    case 0xb00:
    case 0xc00:
    case 0xc01:
        return uint32_t(now);
    case 0xb80:
    case 0xc80:
    case 0xc81:
        return uint32_t(now >> 32);
    case 0xb02:
    case 0xc02:
        return uint32_t(done);
    case 0xb82:
    case 0xc82:
        return uint32_t(done >> 32);
    case 0xf14:
        return c.id;
    case 0xfc0:
        return c.cluster;
    case 0xfc1:
        return c.local;
    default:
        return 0;
    }
}

void csr_write(Core &c, unsigned number, uint32_t value)
{
    switch (number) {
    case 0x001:
        c.fflags = value & 31;
        break;
    case 0x002:
        c.frm = value & 7;
        break;
    case 0x003:
        c.fflags = value & 31;
        c.frm = (value >> 5) & 7;
        break;
    case 0x300:
        c.csr_mstatus = value;
        break;
    case 0x304:
        c.csr_mie = value;
        break;
    case 0x305:
        c.csr_mtvec = value;
        break;
    case 0x340:
        c.csr_mscratch = value;
        break;
    case 0x341:
        c.csr_mepc = value & ~1u;
        break;
    case 0x342:
        c.csr_mcause = value;
        break;
    case 0x343:
        c.csr_mtval = value;
        break;
    case 0x7c0:
        c.stack_limit = value;
        break;
    case 0x7c1:
        c.region = value;
        break;
    default:
        break;
    }
}

void csr_execute(Core &c, const Op &op, uint64_t now, uint64_t done)
{
    unsigned number = unsigned(op.imm);
    uint32_t operand = op.cls & 4 ? op.rs1 : c.x[op.rs1], old = csr_read(c, number, now, done);
    switch (op.cls & 3) {
    case 1:
        csr_write(c, number, operand);
        break;
    case 2:
        if (op.rs1)
            csr_write(c, number, old | operand);
        break;
    default:
        if (op.rs1)
            csr_write(c, number, old & ~operand);
    }
    c.x[op.rd] = old;
}

bool execute_register(Core *c, const Op *op, uint64_t t, uint64_t done)
{
    uint32_t *x = c->x, *f = c->f;
    switch (op->kind) {
#define X(kind, ...)   \
    case Kind::kind: { \
        __VA_ARGS__;   \
        return true;   \
    }
        MC_BODIES(X)
#undef X
#define X(kind, ...)                     \
    case Kind::kind: {                   \
        unsigned rm = rounding(*c, *op); \
        if (rm > 4)                      \
            return false;                \
        __VA_ARGS__;                     \
        c->n.float_ops += op->cost - 1u; \
        return true;                     \
    }
        MC_ROUNDED_BODIES(X)
#undef X
    default:
        return true; // fence.i: the kernel empties the instruction cache
    }
}

} // namespace mc
