// Which code for this host there is. MC_X86: the translator (kernel/translate.h), and the float unit by its own
// registers (core/float.h); else portable code does the same. A build of the tests is portable on x86-64, too
// (MC_PORTABLE).
#pragma once
#if defined __x86_64__ && !defined MC_PORTABLE
#define MC_X86 1
#endif
