/* For assembly: a jump to a function, what stands at an entry, and what a file says of its entries. */
#define JUMP jmp
#define LANDING endbr64

/* clang-format off */
    .macro  say_landing_pads
    .endm
