#include "command.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>

using std::string;

namespace taskqc
{

static const char USAGE[] =
    R"(Usage: psthreads-taskqc [--openmp] [--cc=COMPILER] OPTIONS-OF-THE-COMPILER... FILE...
  or:  psthreads-taskqc [--openmp] --translate [-o OUT.c] [-I... -D...] FILE.c

Compiles C with `#pragma omp parallel taskq`, `taskq` and `task` (also `#pragma intel omp`): by libpsthreads, or by
OpenMP tasks.

Options:
  --translate    writes the translated C to OUT.c (standard output) and compiles nothing
  --openmp       tasks of OpenMP in place of libpsthreads' threads; adds -fopenmp
  --cc=COMPILER  the C compiler (default: $PSTHREADS_TASKQC_CC, else cc)
)";

// Options whose argument is the next word.
static const std::set<string> WITH_ARGUMENT = {"-o",
                                               "-I",
                                               "-D",
                                               "-U",
                                               "-include",
                                               "-imacros",
                                               "-isystem",
                                               "-iquote",
                                               "-idirafter",
                                               "-iprefix",
                                               "-iwithprefix",
                                               "-isysroot",
                                               "-MF",
                                               "-MT",
                                               "-MQ",
                                               "-x",
                                               "-L",
                                               "-l",
                                               "-Xlinker",
                                               "-Xpreprocessor",
                                               "-Xassembler",
                                               "-T",
                                               "-u",
                                               "-z",
                                               "-e",
                                               "-A",
                                               "-B",
                                               "-aux-info",
                                               "--param",
                                               "-dumpbase",
                                               "-G"};
static const std::set<string> FOR_LIBCLANG = {"-I",       "-D",      "-U",         "-include", "-imacros",
                                              "-isystem", "-iquote", "-idirafter", "-isysroot"};

bool starts_with(const string &s, const char *with) { return s.compare(0, strlen(with), with) == 0; }

Strings for_libclang(const Settings &s)
{
    Strings kept;
    for (size_t k = 0; k < s.preprocessor.size(); k++) {
        const string &o = s.preprocessor[k];
        if (FOR_LIBCLANG.count(o) && k + 1 < s.preprocessor.size()) {
            kept.push_back(o);
            kept.push_back(s.preprocessor[++k]);
            continue;
        }
        bool takes = std::any_of(FOR_LIBCLANG.begin(), FOR_LIBCLANG.end(),
                                 [&](const string &f) { return starts_with(o, f.c_str()) && o.size() > f.size(); });
        if (takes || starts_with(o, "-std=") || o == "-ansi" || o == "-pthread" || o == "-funsigned-char" ||
            o == "-fsigned-char" || o == "-fshort-enums" || o == "-nostdinc" || starts_with(o, "-mavx") ||
            starts_with(o, "-msse") || o == "-mfma" || o == "-mbmi" || o == "-mbmi2" || o == "-mpopcnt" ||
            o == "-m32" || o == "-m64")
            kept.push_back(o);
        if (o == "-fopenmp")
            kept.push_back("-D_OPENMP=201511");
    }
    if (s.openmp)
        kept.push_back("-D_OPENMP=201511");
    return kept;
}

[[noreturn]] void wrong(const string &what)
{
    std::cerr << "psthreads-taskqc: " << what << "\n";
    exit(1);
}

// The words of a file, as the compiler reads them: blanks between, quotes around.
static void words_of(const string &name, Strings &words)
{
    string all, word;
    if (!read_file(name, all))
        wrong(name + ": " + strerror(errno));
    char quote = 0;
    bool any = false;
    for (size_t i = 0; i <= all.size(); i++) {
        char c = i < all.size() ? all[i] : '\n';
        if (c == '\\' && i + 1 < all.size()) {
            word += all[++i];
            any = true;
        } else if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? '\0' : c;
            any = true;
        } else if (!quote && isspace(static_cast<unsigned char>(c))) {
            if (any)
                words.push_back(word);
            word.clear();
            any = false;
        } else {
            word += c;
            any = true;
        }
    }
}

Settings read_command(int argc, char **argv)
{
    Settings s;
    if (const char *compiler = getenv("PSTHREADS_TASKQC_CC"))
        s.compiler = compiler;
    Strings given;
    for (int k = 1; k < argc; k++) {
        if (argv[k][0] == '@')
            words_of(argv[k] + 1, given);
        else
            given.push_back(argv[k]);
    }
    string language;
    for (size_t k = 0; k < given.size(); k++) {
        const string &word = given[k];
        if (word == "--help") {
            std::cout << USAGE;
            exit(0);
        } else if (word == "--openmp") {
            s.openmp = true;
        } else if (word == "--translate") {
            s.translate = true;
        } else if (starts_with(word, "--cc=")) {
            s.compiler = word.substr(5);
        } else if (word == "-" && language != "c++" && language != "assembler") {
            wrong("standard input cannot be translated: name a file");
        } else if (word.size() > 1 && word[0] == '-') {
            bool argument = WITH_ARGUMENT.count(word) != 0;
            if (argument && k + 1 == given.size())
                wrong("'" + word + "' needs an argument");
            s.stop_at_objects =
                s.stop_at_objects || word == "-c" || word == "-S" || word == "-E" || word == "-fsyntax-only";
            s.only_dependences = s.only_dependences || word == "-M" || word == "-MM";
            s.wants_dependences = s.wants_dependences || word == "-MD" || word == "-MMD";
            s.words.push_back(word);
            if (argument)
                s.words.push_back(given[++k]);
            if (word == "-o")
                s.out = given[k];
            else if (starts_with(word, "-o"))
                s.out = word.substr(2);
            else if (word == "-MF")
                s.dependences = given[k];
            else if (starts_with(word, "-MF"))
                s.dependences = word.substr(3);
            else if (starts_with(word, "-Wp,-MD,") || starts_with(word, "-Wp,-MMD,")) {
                s.dependences = word.substr(word.find(',', 4) + 1);
                s.dependences = s.dependences.substr(0, s.dependences.find(','));
                s.wants_dependences = true;
            } else if (word == "-x")
                language = given[k] == "none" ? "" : given[k];
            else if (starts_with(word, "-x"))
                language = word.substr(2);
            bool output = word[1] == 'M' || starts_with(word, "-Wp,-M") || word == "-c" || word == "-S" ||
                          word == "-E" || word[1] == 'o' || word[1] == 'L' || word[1] == 'l' || word[1] == 'x' ||
                          starts_with(word, "-Wl,") || starts_with(word, "-Wa,") || word == "-Xlinker" ||
                          word == "-fsyntax-only" || word == "-v" || word == "-###" ||
                          starts_with(word, "-save-temps") || word == "-shared" || word == "-static" || word == "-pipe";
            if (!output) {
                s.preprocessor.push_back(word);
                if (argument)
                    s.preprocessor.push_back(given[k]);
            }
        } else {
            bool c =
                language == "c" || (language.empty() && word.size() > 2 && word.compare(word.size() - 2, 2, ".c") == 0);
            if (c)
                s.inputs.push_back(s.words.size());
            s.words.push_back(word);
        }
    }
    if (given.empty()) {
        std::cerr << USAGE;
        exit(1);
    }
    return s;
}

} // namespace taskqc
