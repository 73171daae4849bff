#include "translate.h"
#include "emit.h"
#include "text.h"
#include "tree.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

namespace fs = std::filesystem;
using std::string;

namespace taskqc
{

namespace
{

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
};

} // namespace

int translate(const Settings &settings, const fs::path &folder, const string &name, string &result)
{
    return Translator(settings, folder).translate(name, result);
}

} // namespace taskqc
