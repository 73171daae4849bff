/* The commands of psthreads-report. The arguments begin with the command's name; the result is the exit status. */
#ifndef PS_REPORT_COMMANDS_H
#define PS_REPORT_COMMANDS_H

enum { COMMAND_FAILED = 1, COMMAND_USAGE = 125 };

int command_pftrace(int argc, char **argv);
int command_page(int argc, char **argv);
int command_stats(int argc, char **argv);

#endif
