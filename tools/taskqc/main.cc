// psthreads-taskqc: a C compiler for programs with the workqueueing directives; or, with --translate, only their
// translator.
//
// Each C file that has directives is translated into a temporary folder and compiled from there; everything else goes
// to the compiler as it is given. docs/taskqc.md says what the directives mean.
#include "emit.h"
#include "text.h"
#include "tree.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;
using std::string;
using Strings = std::vector<string>;

namespace
{

const char USAGE[] =
    R"(usage: psthreads-taskqc [--openmp] [--cc=COMPILER] OPTIONS-OF-THE-COMPILER... FILE...
       psthreads-taskqc [--openmp] --translate [-o OUT.c] [-I... -D...] FILE.c

Compiles C with `#pragma omp parallel taskq`, `taskq` and `task` (also `#pragma intel omp`): by libpsthreads, or by
OpenMP tasks.
  --translate    writes the translated C to OUT.c (standard output) and compiles nothing
  --openmp       tasks of OpenMP in place of libpsthreads' threads; adds -fopenmp
  --cc=COMPILER  the C compiler (default: $PSTHREADS_TASKQC_CC, else cc)
)";

// --- what goes away at the end, also by a signal ---

char remove_on_signal[4096]; // a folder of ours, with files one folder deep; or ""
char unfinished[4096];       // a file that is being written; or ""

extern "C" void on_signal(int number)
{
    if (unfinished[0])
        unlink(unfinished);
    if (remove_on_signal[0]) {
        // only exec and _exit are safe afterwards, and exec is what is wanted; fork would wait for malloc's lock, which
        // the interrupted thread may hold
        pid_t child = _Fork();
        if (child == 0) {
            execl("/bin/rm", "rm", "-rf", remove_on_signal, static_cast<char *>(nullptr));
            _exit(1);
        }
        waitpid(child, nullptr, 0);
    }
    signal(number, SIG_DFL);
    raise(number);
}

struct Folder {
    fs::path path;
    Folder()
    {
        string name = (fs::temp_directory_path() / "taskqc-XXXXXX").string();
        if (!mkdtemp(name.data())) {
            std::cerr << "psthreads-taskqc: " << name << ": " << strerror(errno) << "\n";
            exit(1);
        }
        path = name;
        snprintf(remove_on_signal, sizeof remove_on_signal, "%s", name.c_str());
    }
    ~Folder()
    {
        std::error_code ignored;
        fs::remove_all(path, ignored);
        remove_on_signal[0] = '\0';
    }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
};

// --- the compiler ---

int run(const Strings &command, bool quiet = false)
{
    pid_t child = fork();
    if (child == 0) {
        std::vector<char *> arguments;
        for (const string &word : command)
            arguments.push_back(const_cast<char *>(word.c_str()));
        arguments.push_back(nullptr);
        if (quiet && !freopen("/dev/null", "w", stderr))
            _exit(127);
        execvp(arguments[0], arguments.data());
        fprintf(stderr, "psthreads-taskqc: %s: %s\n", arguments[0], strerror(errno));
        _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool read_file(const fs::path &path, string &all)
{
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return false;
    std::ostringstream text;
    text << in.rdbuf();
    all = text.str();
    return !in.bad();
}

bool write_file(const fs::path &path, const string &all)
{
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << all;
    out.close();
    return static_cast<bool>(out);
}

struct Settings {
    bool openmp = false, translate = false, stop_at_objects = false, only_dependences = false;
    string compiler = "cc", out;
    Strings words;              // the compiler's, in order
    std::vector<size_t> inputs; // which of them are C files
    Strings preprocessor;       // the options that matter to it
    string dependences;         // the file of -MF, or what -MD makes of -o
    bool wants_dependences = false;
};

// Options whose argument is the next word.
const std::set<string> WITH_ARGUMENT = {"-o",
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
const std::set<string> FOR_LIBCLANG = {"-I",       "-D",      "-U",         "-include", "-imacros",
                                       "-isystem", "-iquote", "-idirafter", "-isysroot"};

bool starts_with(const string &s, const char *with) { return s.compare(0, strlen(with), with) == 0; }

// What libclang understands of the compiler's options.
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

// --- translation ---

struct Message {
    size_t at;
    string text;
};

void show(const Text &text, const char *what, std::vector<Problem> problems)
{
    std::sort(problems.begin(), problems.end(),
              [](const Problem &a, const Problem &b) { return a.at != b.at ? a.at < b.at : a.what < b.what; });
    string last;
    for (const Problem &p : problems) {
        string line = text.shown_name(p.at) + ":" + std::to_string(text.shown_line(p.at)) + ":" +
                      std::to_string(text.column(p.at)) + ": " + what + ": " + p.what + "\n";
        if (line != last)
            std::cerr << line;
        last = line;
    }
}

class Translator
{
    static const int MOST_ROUNDS = 8; // macros that define macros' uses, and so on

  public:
    Translator(const Settings &with, const fs::path &in) : settings(with), folder(in) {}

    // 0: no directives; 1: translated; -1: a mistake, which was said.
    int translate(const string &name, string &result)
    {
        string all;
        if (!read_file(name, all)) {
            std::cerr << "psthreads-taskqc: " << name << ": " << strerror(errno) << "\n";
            return -1;
        }
        // a mark for UTF-8 would have to be the first there is
        auto text = std::make_shared<Text>(name, starts_with(all, "\xef\xbb\xbf") ? all.substr(3) : all);
        for (int round = 0;; round++) {
            Scan found = scan(*text);
            bool any = std::any_of(found.directives.begin(), found.directives.end(),
                                   [](const Directive &d) { return d.ours(); });
            Stray stray = strays(*text, found);
            if (stray == Stray::mistake)
                return -1;
            if (!any && found.problems.empty() && stray == Stray::none) {
                result = all;
                return 0;
            }
            Tree tree;
            parse(*text, found, for_libclang(settings), settings.openmp, tree);
            if (stray == Stray::macro) {
                if (!expand_directives(text, found, tree))
                    return -1;
                continue;
            }
            if (misread(*text, found, tree) || !lost(*text, found, tree))
                return -1;
            if (!tree.doubts.empty()) {
                bool mistakes = round == 0 && !compiler_accepts(*text);
                const std::vector<Problem> &more = mistakes ? tree.doubts : tree.unread;
                tree.problems.insert(tree.problems.end(), more.begin(), more.end());
            }
            if (!tree.elsewhere.empty() || !tree.problems.empty()) {
                for (const string &line : tree.elsewhere)
                    std::cerr << line << "\n";
                show(*text, "error", tree.problems);
                return -1;
            }
            std::vector<Expansion> expand = must_expand(found, tree, settings.openmp);
            if (!tree.problems.empty()) {
                show(*text, "error", tree.problems);
                return -1;
            }
            if (!expand.empty() && round < MOST_ROUNDS) {
                if (!expand_macros(text, expand))
                    return -1;
                continue;
            }
            string plain = without_conditionals(*text, found, tree);
            if (plain != text->all && round < MOST_ROUNDS) {
                change(text, plain, {});
                continue;
            }
            show(*text, "warning", tree.warnings);
            result = emit(*text, tree, settings.openmp);
            return 1;
        }
    }

  private:
    const Settings &settings;
    const fs::path &folder;

    // Which of the directives the preprocessor leaves in.
    std::set<const Directive *> active(const Text &text, const Scan &found, const std::set<const Directive *> &asked)
    {
        std::set<const Directive *> seen;
        string probe = text.all, out;
        for (auto d = found.directives.rbegin(); d != found.directives.rend(); ++d)
            if (asked.count(&*d)) {
                auto begin = text.all.begin();
                auto lines = std::count(begin + static_cast<long>(d->at), begin + static_cast<long>(d->end), '\n');
                probe.replace(d->at, d->end - d->at,
                              " " + mark(*d, found) + " " + string(static_cast<size_t>(lines), '\n'));
            }
        if (asked.empty() || !preprocess(text, probe, out))
            return seen;
        for (const Directive *d : asked)
            if (find_word(out, mark(*d, found), 0) != string::npos)
                seen.insert(d);
        return seen;
    }
    static string mark(const Directive &d, const Scan &found)
    {
        return "_tq_seen_" + std::to_string(&d - found.directives.data());
    }

    // Mistakes in the directives' own words, where the preprocessor leaves them in.
    bool misread(const Text &text, const Scan &found, const Tree &tree)
    {
        std::set<const Directive *> with_problems, here;
        auto of = [&](const Problem &p) {
            const Directive *last = nullptr;
            for (const Directive &d : found.directives)
                if (d.at <= p.at)
                    last = &d;
            return last;
        };
        for (const Problem &p : found.problems)
            with_problems.insert(of(p));
        here = active(text, found, with_problems);
        std::vector<Problem> problems;
        for (const Problem &p : found.problems)
            if (here.count(of(p)) || tree.found.count(of(p)))
                problems.push_back(p);
        show(text, "error", problems);
        return !problems.empty();
    }

    // Directives of ours that the preprocessor leaves in and libclang has found in no function.
    bool lost(const Text &text, const Scan &found, const Tree &tree)
    {
        std::set<const Directive *> missing;
        for (const Directive &d : found.directives)
            if (d.ours() && !tree.found.count(&d))
                missing.insert(&d);
        std::vector<Problem> problems;
        for (const Directive *d : active(text, found, missing))
            problems.push_back({d->name_at, "'" + d->words + "' must stand before a statement, in a function"});
        show(text, "error", problems);
        return problems.empty();
    }

    // Whether the source is C to the compiler, which does not know the directives. libclang does not know all of GCC's
    // C, nor what GCC's
    // headers make of a macro.
    bool compiler_accepts(const Text &text)
    {
        Strings command = {settings.compiler, "-fsyntax-only", "-w"};
        command.insert(command.end(), settings.preprocessor.begin(), settings.preprocessor.end());
        command.insert(command.end(), {"-x", "c", text.name});
        return run(command, true) == 0;
    }

    bool preprocess(const Text &text, const string &source, string &out, bool quiet = false)
    {
        fs::path in = folder / "expand.c", to = folder / "expand.i";
        string quoted;
        for (char c : text.name)
            quoted += c == '"' || c == '\\' ? string("\\") + c : string(1, c);
        if (!write_file(in, "#line 1 \"" + quoted + "\"\n" + source)) {
            std::cerr << "psthreads-taskqc: " << in.string() << ": " << strerror(errno) << "\n";
            return false;
        }
        Strings command = {settings.compiler, "-E", "-w", "-iquote", directory(text.name)};
        command.insert(command.end(), settings.preprocessor.begin(), settings.preprocessor.end());
        if (settings.openmp)
            command.push_back("-fopenmp");
        command.insert(command.end(), {"-I", include_folder(), "-x", "c", "-o", to.string(), in.string()});
        return run(command, quiet) == 0 && read_file(to, out);
    }

    static string directory(const string &name)
    {
        string folder = fs::path(name).parent_path().string();
        return folder.empty() ? "." : folder;
    }

    static void change(std::shared_ptr<Text> &text, const string &all, std::vector<Text::Change> changes)
    {
        text = std::make_shared<Text>(text, all, std::move(changes));
    }

    // What the preprocessor makes of each in the list, lines of #pragma as _Pragma. False: it was told why not.
    bool expansions_of(const Text &text, const std::vector<Expansion> &list, std::vector<string> &all)
    {
        string probe, out;
        size_t from = 0, number = 0;
        for (const Expansion &e : list) {
            string inside = " _tq_b_" + std::to_string(number) + " " + text.all.substr(e.at, e.end - e.at) + " _tq_e_" +
                            std::to_string(number) + " ";
            if (e.directive) { // the preprocessor looks into no pragma: before it
                size_t at = e.directive->at;
                if (from <= at) {
                    probe += text.all.substr(from, at - from);
                    from = at;
                }
                inside = "\n" + one_line(inside, false) + "\n#line " + std::to_string(text.shown_line(at)) + "\n";
                probe += inside;
            } else {
                probe += text.all.substr(from, e.at - from) + inside;
                from = e.end;
            }
            number++;
        }
        probe += text.all.substr(from);
        if (!preprocess(text, probe, out))
            return false;
        size_t at = 0;
        for (number = 0; number < list.size(); number++) {
            string first = "_tq_b_" + std::to_string(number), end = "_tq_e_" + std::to_string(number);
            at = find_word(out, first, at);
            size_t to = at == string::npos ? at : find_word(out, end, at);
            if (to == string::npos) {
                show(text, "error", {{list[number].at, "the preprocessor does not reach this macro"}});
                return false;
            }
            all.push_back(one_line(out.substr(at + first.size(), to - at - first.size()), true));
        }
        return true;
    }

    // Each macro call in the list becomes what it stands for, in as many lines.
    bool expand_macros(std::shared_ptr<Text> &text, const std::vector<Expansion> &list)
    {
        std::vector<string> made;
        std::vector<Text::Change> changes;
        string result;
        size_t from = 0;
        if (!expansions_of(*text, list, made))
            return false;
        for (size_t k = 0; k < list.size(); k++) {
            const Expansion &e = list[k];
            auto begin = text->all.begin();
            auto lines = static_cast<size_t>(
                std::count(begin + static_cast<long>(e.at), begin + static_cast<long>(e.end), '\n'));
            result += text->all.substr(from, e.at - from);
            size_t at = result.size();
            result += e.directive && e.directive->in_string ? escaped(made[k]) : made[k];
            for (; lines; lines--)
                result += e.directive ? "\\\n" : "\n";
            changes.push_back({at, result.size(), e.at, e.end});
            from = e.end;
        }
        change(text, result + text->all.substr(from), changes);
        return true;
    }

    // The macros that make directives of ours become those.
    bool expand_directives(std::shared_ptr<Text> &text, const Scan &found, const Tree &tree)
    {
        std::vector<Expansion> list, wanted;
        std::vector<string> made;
        for (const Expansion &e : tree.expansions)
            if (std::none_of(found.lines.begin(), found.lines.end(),
                             [&](const Range &line) { return e.at >= line.at && e.at < line.end; }))
                list.push_back(e);
        if (!expansions_of(*text, list, made))
            return false;
        for (size_t k = 0; k < list.size(); k++) {
            Scan inside = scan(Text(text->name, made[k]));
            if (!inside.directives.empty())
                wanted.push_back(list[k]);
        }
        if (!wanted.empty())
            return expand_macros(text, wanted);
        std::cerr << stray_place << ": error: a directive that comes from a macro in a way that cannot be followed\n";
        return false;
    }

    static size_t find_word(const string &s, const string &word, size_t from)
    {
        for (size_t at = s.find(word, from); at != string::npos; at = s.find(word, at + 1))
            if ((at == 0 || !is_name_char(s[at - 1])) &&
                (at + word.size() == s.size() || !is_name_char(s[at + word.size()])))
                return at;
        return string::npos;
    }

    static string escaped(const string &s)
    {
        string all;
        for (char c : s)
            all += c == '"' || c == '\\' ? string("\\") + c : string(1, c);
        return all;
    }

    // Without the preprocessor's own lines; those of pragmas as operators.
    static string one_line(const string &s, bool pragmas)
    {
        std::istringstream in(s);
        string line, all;
        while (std::getline(in, line)) {
            size_t hash = line.find_first_not_of(" \t");
            if (pragmas && hash != string::npos && line.compare(hash, 7, "#pragma") == 0)
                line = "_Pragma(\"" + escaped(line.substr(line.find_first_not_of(" \t", hash + 7))) + "\")";
            else if (!line.empty() && line.back() == '\\')
                line.pop_back();
            if (line.empty() || line[0] != '#')
                all += (all.empty() ? "" : " ") + line;
        }
        size_t from = all.find_first_not_of(' '), to = all.find_last_not_of(' ');
        return from == string::npos ? "" : all.substr(from, to - from + 1);
    }

    // Directives of ours that do not stand in the text.
    enum class Stray { none, macro, mistake };
    string stray_place; // of the last one from a macro

    // A directive of ours in an included file would be passed over in silence: it is a mistake. One that a macro of the
    // text's makes is to be expanded. Others of OpenMP's, and `omp task`, are ours only where a queue may be around.
    Stray strays(const Text &text, const Scan &found)
    {
        string probe = text.all, out;
        bool queues = false;
        for (const Directive &d : found.directives) {
            queues = queues || d.queue();
            for (size_t at = d.at; at < d.end; at++)
                if (probe[at] != '\n' && probe[at] != '\\')
                    probe[at] = ' ';
        }
        if (!preprocess(text, probe, out, true))
            return Stray::none; // the compiler will say why
        struct Found {
            string words, place;
            bool included, ours;
        };
        std::vector<Found> all;
        std::istringstream lines(out);
        string line, file = text.name;
        size_t number = 0;
        long included = 0, braces = 0, braces_outside = 0;
        while (std::getline(lines, line)) {
            number++;
            if (starts_with(line, "# ") && line.size() > 2 && isdigit(static_cast<unsigned char>(line[2]))) {
                number = std::stoul(line.substr(2)) - 1;
                size_t a = line.find('"'), b = line.rfind('"');
                if (a != string::npos && b > a)
                    file = line.substr(a + 1, b - a - 1);
                bool enters = b != string::npos && line.compare(b + 1, 2, " 1") == 0,
                     returns = b != string::npos && line.compare(b + 1, 2, " 2") == 0;
                included += enters ? 1 : returns ? -1 : 0;
                if (enters && included == 1)
                    braces_outside = braces;
                continue;
            }
            size_t hash = line.find_first_not_of(" \t");
            if (hash == string::npos || line.compare(hash, 7, "#pragma") != 0) {
                braces += braces_in(line);
                continue;
            }
            for (const Directive &d : scan(Text(file, line)).directives) {
                bool ours = d.queue() || (d.kind == Kind::task && (d.intel || d.clause("captureprivate")));
                bool matters = !settings.openmp || d.ours() || d.kind == Kind::ordered;
                queues = queues || d.queue();
                if (ours || (matters && (included <= 0 || braces_outside > 0)))
                    all.push_back({d.words, file + ":" + std::to_string(number) + ":" + std::to_string(hash + 1),
                                   included > 0, ours});
            }
        }
        Stray result = Stray::none;
        for (const Found &f : all) {
            if (!f.ours && !queues)
                continue;
            if (f.included)
                std::cerr << f.place << ": error: '" << f.words
                          << "' comes from an included file: a directive must stand in the file that is compiled\n";
            else
                stray_place = f.place;
            result = f.included || result == Stray::mistake ? Stray::mistake : Stray::macro;
        }
        return result;
    }

    static long braces_in(const string &line)
    {
        long open = 0;
        for (size_t at = 0; at < line.size();) {
            if (line[at] == '"' || line[at] == '\'') {
                at = behind_literal(line, at);
                continue;
            }
            open += line[at] == '{' || line.compare(at, 2, "<%") == 0;
            open -= line[at] == '}' || line.compare(at, 2, "%>") == 0;
            at++;
        }
        return open;
    }

  public:
    static string include_folder();
};

fs::path own_place()
{
    std::error_code error;
    fs::path self = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path("/usr/local/bin/psthreads-taskqc") : self;
}

string Translator::include_folder() { return (own_place().parent_path().parent_path() / "include").string(); }

string library_folder()
{
    fs::path prefix = own_place().parent_path().parent_path();
    for (const char *folder : {"lib", PS_LIBDIR, "lib64"})
        if (fs::exists(prefix / folder / "libpsthreads.so") || fs::exists(prefix / folder / "libpsthreads.a"))
            return (prefix / folder).string();
    return (prefix / "lib").string();
}

// --- the command line ---

[[noreturn]] void wrong(const string &what)
{
    std::cerr << "psthreads-taskqc: " << what << "\n";
    exit(1);
}

// The words of a file, as the compiler reads them: blanks between, quotes around.
void words_of(const string &name, Strings &words)
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

// As make has it.
string for_make(const string &name)
{
    string all;
    for (char c : name)
        all += c == ' ' || c == '#' ? string("\\") + c : c == '$' ? "$$" : string(1, c);
    return all;
}

// The compiler names the temporary file in the dependences: make wants the source. Where the dependences go depends on
// the compiler: every file that it may have written is looked at.
void mend_dependences(const Settings &s, const std::vector<std::pair<string, string>> &temporary)
{
    std::set<string> names;
    if (!s.dependences.empty())
        names.insert(s.dependences);
    for (auto &[file, source] : temporary) {
        fs::path base = fs::path(source).filename().replace_extension(".d"), out = s.out;
        names.insert(base.string());
        names.insert((fs::path("a-") += base).string()); // linked into a.out
        if (!s.out.empty()) {
            names.insert(fs::path(out).replace_extension(".d").string());
            names.insert((fs::path(out).replace_extension("") += fs::path("-") += base).string());
            names.insert((out.parent_path() / base).string());
        }
    }
    for (const string &name : names) {
        string all, was;
        if (!read_file(name, all))
            continue;
        was = all;
        for (auto &[file, source] : temporary)
            for (size_t at = 0; (at = all.find(for_make(file), at)) != string::npos; at += for_make(source).size())
                all.replace(at, for_make(file).size(), for_make(source));
        if (all != was)
            write_file(name, all);
    }
}

int only_translate(const Settings &s)
{
    if (s.inputs.size() != 1)
        wrong("--translate needs one C file, and " + std::to_string(s.inputs.size()) + " are given");
    string result;
    Folder folder;
    if (Translator(s, folder.path).translate(s.words[s.inputs[0]], result) < 0)
        return 1;
    if (s.out.empty() || s.out == "-") {
        std::cout << result << std::flush;
        if (!std::cout) {
            std::cerr << "psthreads-taskqc: standard output: " << strerror(errno) << "\n";
            return 1;
        }
        return 0;
    }
    std::error_code none;
    if (fs::exists(s.out, none) && !fs::is_regular_file(s.out, none)) { // a device, a pipe: no file takes its place
        if (write_file(s.out, result))
            return 0;
        std::cerr << "psthreads-taskqc: " << s.out << ": " << strerror(errno) << "\n";
        return 1;
    }
    fs::path out = fs::canonical(s.out, none); // a link stays one
    if (none)
        out = s.out;
    string unready = out.string() + ".part";
    snprintf(unfinished, sizeof unfinished, "%s", unready.c_str());
    if (!write_file(unready, result) || rename(unready.c_str(), out.c_str()) != 0) {
        std::cerr << "psthreads-taskqc: " << s.out << ": " << strerror(errno) << "\n";
        unlink(unready.c_str());
        return 1;
    }
    unfinished[0] = '\0';
    return 0;
}

int compile(Settings s)
{
    Folder folder;
    Strings command = {s.compiler};
    std::vector<std::pair<string, string>> temporary;
    std::vector<std::pair<size_t, string>> replaced;
    bool failed = false;
    for (size_t k = 0; k < s.inputs.size() && !s.only_dependences; k++) {
        const string &name = s.words[s.inputs[k]];
        string result;
        int done = Translator(s, folder.path).translate(name, result);
        failed = failed || done < 0;
        if (done <= 0)
            continue;
        fs::path place = folder.path / std::to_string(k);
        fs::create_directory(place);
        place /= fs::path(name).filename();
        if (!write_file(place, result)) {
            std::cerr << "psthreads-taskqc: " << place.string() << ": " << strerror(errno) << "\n";
            return 1;
        }
        replaced.push_back({s.inputs[k], place.string()});
        temporary.push_back({place.string(), name});
    }
    if (failed)
        return 1;
    for (auto &[at, place] : replaced) {
        string from = fs::path(s.words[at]).parent_path().string();
        command.push_back("-iquote");
        command.push_back(from.empty() ? "." : from);
        s.words[at] = place;
    }
    command.insert(command.end(), s.words.begin(), s.words.end());
    if (s.openmp)
        command.push_back("-fopenmp");
    else
        command.insert(command.end(), {"-I", Translator::include_folder()});
    bool links = !s.stop_at_objects && !s.only_dependences &&
                 std::any_of(s.words.begin(), s.words.end(), [](const string &w) { return !w.empty() && w[0] != '-'; });
    if (links && !s.openmp) {
        string library = library_folder();
        command.insert(command.end(), {"-L" + library, "-Wl,-rpath," + library, "-lpsthreads", "-pthread"});
    }
    int status = run(command);
    if (s.wants_dependences && !temporary.empty())
        mend_dependences(s, temporary);
    return status;
}

} // namespace

int main(int argc, char **argv)
{
    for (int number : {SIGINT, SIGTERM, SIGHUP})
        signal(number, on_signal);
    Settings s = read_command(argc, argv);
    return s.translate ? only_translate(s) : compile(std::move(s));
}
