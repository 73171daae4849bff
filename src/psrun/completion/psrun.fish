# Completion of psrun for fish.

# Prints the words of $argv[2..] that follow the options, one a line. $argv[1] lists the options that take a value.
# Fails if no such word is complete yet.
function __psrun_behind
    set -l with_value (string split ' ' -- $argv[1])
    set -l words $argv[2..]
    while set -q words[1]
        if test "$words[1]" = --
            set -e words[1]
            break
        end
        string match -q -- '-*' $words[1]; or break
        contains -- $words[1] $with_value; and set -e words[1]
        set -e words[1]
    end
    set -q words[1]; and printf "%s\n" $words
end

# The program and its arguments, or doctor or dump and theirs.
function __psrun_rest
    set -l words (commandline -opc)
    __psrun_behind '-n --threads --ee --mpi --pools --trace --trace-limit --dropin' $words[2..]
end

# Returns whether the cursor is after psrun's command $argv[1] and its options. $argv[2] lists those of its options that
# take a value.
function __psrun_in
    set -l rest (__psrun_rest); or return
    test "$rest[1]" = $argv[1]; and not __psrun_behind "$argv[2]" $rest[2..] >/dev/null
end

# Completes the program's own arguments.
function __psrun_program
    set -l rest (__psrun_rest); or return
    contains -- "$rest[1]" dump stats top report; and return
    test "$rest[1]" = doctor; and set rest (__psrun_behind '-o --output --pid' $rest[2..])
    set -q rest[1]; and complete -C (string join ' ' -- (string escape -- $rest) (commandline -ct))
end

set -l first 'not __psrun_rest >/dev/null'
set -l doctor '__psrun_in doctor "-o --output --pid"'

complete -c psrun -f
complete -c psrun -n $first -a '(__fish_complete_command)'
complete -c psrun -n $first -a doctor -d 'List the thread pools of a program'
complete -c psrun -n $first -a dump -d 'Print what the threads of a program do'
complete -c psrun -n $first -a stats -d 'Print the profile of a program that runs'
complete -c psrun -n $first -a top -d 'Show the processes that share the processors'
complete -c psrun -n $first -a report -d 'Make a page of traces'
complete -c psrun -n $first -s n -l threads -x -d 'Threads of a region, or a list, a number a level'
complete -c psrun -n $first -l ee -x -a 'psthreads pthreads' -d 'What carries OpenMP threads'
complete -c psrun -n $first -l mpi -x -a 'auto off' -d 'Threads that wait in MPI hold no virtual processor'
complete -c psrun -n $first -l pools -x -a '(__fish_append , openblas fftw none)' -d 'Whose thread pools run on it'
complete -c psrun -n $first -l trace -r -F -d 'Write a timeline of the run'
complete -c psrun -n $first -l stats -d 'Print a profile of the run'
complete -c psrun -n $first -l trace-limit -x -d 'Keep so many bytes of events'
complete -c psrun -n $first -l dropin -x -a '(__fish_complete_directories)' -d 'Take the runtime from this folder'
complete -c psrun -n $first -s v -l verbose -d 'Say what is done'
complete -c psrun -n $first -s V -l version -d 'Print the version'
complete -c psrun -n $first -s h -l help -d 'Print what there is'

complete -c psrun -n $doctor -l run -d 'Run the program, which has no arguments'
complete -c psrun -n $doctor -l until-idle -d 'Run it until it rests, and end it'
complete -c psrun -n $doctor -l static -d 'Do not run it'
complete -c psrun -n $doctor -l pid -x -a '(__fish_complete_pids)' -d 'Look at this process'
complete -c psrun -n $doctor -l json -d 'JSON instead of a table'
complete -c psrun -n $doctor -s o -l output -r -F -d 'Write the report to this file'
complete -c psrun -n $doctor -s h -l help -d 'Print what there is'
complete -c psrun -n $doctor -a '(__fish_complete_command)'

complete -c psrun -n '__psrun_in dump ""' -a '(__fish_complete_pids)'
complete -c psrun -n '__psrun_in stats ""' -a '(__fish_complete_pids)'
complete -c psrun -n '__psrun_in top ""' -a '--json --once'
complete -c psrun -n '__psrun_in report ""' -F
complete -c psrun -a '(__psrun_program)'
