#include "text.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

using std::string;

Text::Text(string n, string a) : name(std::move(n)), all(std::move(a))
{
    starts.push_back(0);
    for (size_t i = 0; i < all.size(); i++)
        if (all[i] == '\n')
            starts.push_back(i + 1);
}

Text::Text(std::shared_ptr<const Text> b, string a, std::vector<Change> c) : Text(b->name, std::move(a))
{
    before = std::move(b);
    changes = std::move(c);
}

size_t Text::line(size_t at) const { return std::upper_bound(starts.begin(), starts.end(), at) - starts.begin(); }

size_t Text::column(size_t at) const
{
    if (!before)
        return at - starts[line(at) - 1] + 1;
    size_t was = at;
    for (const Change &c : changes) {
        if (at < c.at)
            break;
        was = at < c.end ? c.was_at : c.was_end + (at - c.end);
    }
    return before->column(was);
}

const Text::Naming *Text::naming(size_t at_line) const
{
    const Naming *last = nullptr;
    for (const Naming &n : namings)
        if (n.from <= at_line)
            last = &n;
    return last;
}

string Text::shown_name(size_t at) const
{
    const Naming *n = naming(line(at));
    return n ? n->name : name;
}

size_t Text::shown_line(size_t at) const
{
    const Naming *n = naming(line(at));
    return n ? n->line + (line(at) - n->from) : line(at);
}

const Clause *Directive::clause(const string &n) const
{
    for (const Clause &c : clauses)
        if (c.name == n)
            return &c;
    return nullptr;
}

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

static bool is_name_start(char c) { return is_name_char(c) && !std::isdigit(static_cast<unsigned char>(c)); }

// Behind a comment, a line's continuation or a blank that begins at `i`; i itself where none does. Ends of lines are
// blanks if `lines`.
static size_t behind_blank(const string &s, size_t i, bool lines)
{
    if (i >= s.size())
        return i;
    if (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\f' || s[i] == '\v' || (lines && s[i] == '\n'))
        return i + 1;
    if (s[i] == '\\' && s.compare(i, 2, "\\\n") == 0)
        return i + 2;
    if (s[i] == '\\' && s.compare(i, 3, "\\\r\n") == 0)
        return i + 3;
    if (s.compare(i, 2, "/*") == 0) {
        size_t end = s.find("*/", i + 2);
        return end == string::npos ? s.size() : end + 2;
    }
    if (s.compare(i, 2, "//") == 0) {
        while (i < s.size() && s[i] != '\n')
            i += s[i] == '\\' && i + 1 < s.size() ? 2 : 1;
        return std::min(i, s.size());
    }
    return i;
}

static size_t skip(const string &s, size_t i, bool lines)
{
    for (size_t next; (next = behind_blank(s, i, lines)) != i; i = next)
        continue;
    return i;
}

size_t skip_blank(const string &s, size_t at) { return skip(s, at, true); }

size_t behind_literal(const string &s, size_t i)
{
    char quote = s[i++];
    while (i < s.size() && s[i] != quote && s[i] != '\n')
        i += s[i] == '\\' && i + 1 < s.size() ? 2 : 1;
    return std::min(i + (i < s.size() && s[i] == quote), s.size());
}

// The end of the logical line that goes on at `i`.
static size_t end_of_line(const string &s, size_t i)
{
    while (i < s.size() && s[i] != '\n') {
        size_t next = behind_blank(s, i, false);
        if (next == i)
            next = s[i] == '"' || s[i] == '\'' ? behind_literal(s, i) : i + 1;
        i = next;
    }
    return i;
}

namespace
{

struct Token {
    string text;
    size_t at, end;
};

// What stands in a pragma, word by word; strings and numbers are tokens as they come.
std::vector<Token> tokens(const string &s, size_t from, size_t to, size_t shift)
{
    std::vector<Token> all;
    for (size_t i = skip(s, from, true); i < to; i = skip(s, i, true)) {
        size_t end = i + 1;
        if (is_name_char(s[i]))
            while (end < to && is_name_char(s[end]))
                end++;
        else if (s[i] == '"' || s[i] == '\'')
            end = behind_literal(s, i);
        else if (i + 1 < to && (s.compare(i, 2, "&&") == 0 || s.compare(i, 2, "||") == 0))
            end = i + 2;
        all.push_back({s.substr(i, end - i), i + shift, end + shift});
        i = end;
    }
    return all;
}

struct Reader {
    const std::vector<Token> &all;
    std::vector<Problem> &problems;
    size_t line_end;
    size_t i = 0;

    bool done() const { return i >= all.size(); }
    bool is(const char *what) const { return !done() && all[i].text == what; }
    size_t at() const { return done() ? line_end : all[i].at; }
    bool problem(const string &what) { return problem(what, at()); }
    bool problem(const string &what, size_t where)
    {
        problems.push_back({where, what});
        return false;
    }
};

const std::set<string> REDUCTIONS = {"+", "*", "-", "&", "|", "^", "&&", "||", "min", "max"};

// Which clauses a directive may have; behind the name: how what is in parentheses is read.
enum class Reads { nothing, list, reduction, expression, sharing };
using Clauses = std::map<string, Reads>;

const Clauses &clauses_of(Kind kind)
{
    static const Clauses queue = {{"private", Reads::list},     {"firstprivate", Reads::list},
                                  {"lastprivate", Reads::list}, {"reduction", Reads::reduction},
                                  {"ordered", Reads::nothing},  {"nowait", Reads::nothing},
                                  {"shared", Reads::list}};
    static const Clauses parallel = {
        {"private", Reads::list},        {"firstprivate", Reads::list},      {"lastprivate", Reads::list},
        {"reduction", Reads::reduction}, {"ordered", Reads::nothing},        {"shared", Reads::list},
        {"default", Reads::sharing},     {"num_threads", Reads::expression}, {"if", Reads::expression}};
    static const Clauses task = {{"private", Reads::list},
                                 {"captureprivate", Reads::list},
                                 {"firstprivate", Reads::list},
                                 {"shared", Reads::list}};
    return kind == Kind::task ? task : kind == Kind::taskq ? queue : parallel;
}

string names_of(const Clauses &clauses)
{
    string names;
    for (const auto &[name, reads] : clauses)
        names += (names.empty() ? "" : ", ") + name;
    return names;
}

// Up to the parenthesis that closes; the reader stands behind the one that opens.
bool read_expression(Reader &r, Clause &clause)
{
    size_t first = r.i, depth = 0;
    for (; !r.done(); r.i++) {
        if (r.is("(") || r.is("["))
            depth++;
        else if (r.is("]") || (r.is(")") && depth))
            depth--;
        else if (r.is(")"))
            break;
    }
    if (r.done())
        return r.problem("the parenthesis of '" + clause.name + "' is not closed", clause.at);
    if (first == r.i)
        return r.problem("'" + clause.name + "' needs an expression in its parentheses");
    string words;
    for (size_t k = first; k < r.i; k++)
        words += (k > first && r.all[k].at != r.all[k - 1].end ? " " : "") + r.all[k].text;
    clause.items.push_back({words, r.all[first].at, r.all[r.i - 1].end});
    r.i++;
    return true;
}

bool read_list(Reader &r, Clause &clause)
{
    for (;; r.i++) {
        if (r.done() || !is_name_start(r.all[r.i].text[0]))
            return r.problem("'" + clause.name + "' needs names of variables" +
                             (r.done() ? "" : ", not '" + r.all[r.i].text + "'"));
        clause.items.push_back({r.all[r.i].text, r.all[r.i].at, r.all[r.i].end});
        r.i++;
        if (r.is(")"))
            break;
        if (!r.is(","))
            return r.problem("',' or ')' must follow '" + clause.items.back().text + "' in '" + clause.name + "'");
    }
    r.i++;
    return true;
}

bool read_clause(Reader &r, Directive &d)
{
    const Clauses &known = clauses_of(d.kind);
    Clause clause{r.all[r.i].text, r.at(), "", {}};
    auto found = known.find(clause.name);
    if (found == known.end()) {
        if (d.kind == Kind::parallel_taskq && clause.name == "nowait")
            return r.problem("'parallel taskq' cannot be nowait: a parallel region ends with all of its work");
        return r.problem("'" + d.words + "' has no clause '" + clause.name + "'; it has " + names_of(known));
    }
    r.i++;
    Reads reads = found->second;
    bool once = reads != Reads::list && reads != Reads::reduction;
    if (once && d.clause(clause.name))
        return r.problem("'" + clause.name + "' stands twice", clause.at);
    if (reads != Reads::nothing) {
        if (!r.is("("))
            return r.problem("'(' must follow '" + clause.name + "'");
        r.i++;
    }
    if (reads == Reads::reduction) {
        if (r.done() || !REDUCTIONS.count(r.all[r.i].text))
            return r.problem("a reduction is one of + * - & | ^ && || min max" +
                             (r.done() ? "" : ", not '" + r.all[r.i].text + "'"));
        clause.op = r.all[r.i++].text;
        if (!r.is(":"))
            return r.problem("':' must follow the operator of a reduction");
        r.i++;
    }
    bool fine = true;
    if (reads == Reads::list || reads == Reads::reduction) {
        fine = read_list(r, clause);
    } else if (reads == Reads::expression || reads == Reads::sharing) {
        fine = read_expression(r, clause);
        if (fine && reads == Reads::sharing && clause.items[0].text != "shared" && clause.items[0].text != "none")
            return r.problem("default is shared or none, not '" + clause.items[0].text + "'", clause.items[0].at);
    }
    d.clauses.push_back(clause);
    return fine;
}

// A variable may be named by one data clause of a directive.
void check_named_once(const Directive &d, std::vector<Problem> &problems)
{
    std::map<string, string> named;
    for (const Clause &c : d.clauses)
        for (const Item &item : c.items) {
            if (c.name == "if" || c.name == "num_threads" || c.name == "default")
                continue;
            auto [at, fresh] = named.insert({item.text, c.name});
            bool both = (c.name == "lastprivate" && at->second == "firstprivate") ||
                        (c.name == "firstprivate" && at->second == "lastprivate");
            if (!fresh && !(both && d.queue()))
                problems.push_back({item.at, "'" + item.text + "' is named by '" + at->second + "' already"});
        }
}

const std::set<string> WITH_STATEMENT = {"parallel", "for",  "sections", "section", "single",    "master",
                                         "masked",   "simd", "loop",     "scope",   "taskgroup", "taskloop"};
const std::set<string> ALONE = {"barrier", "taskwait", "taskyield", "cancel", "cancellation"};

// words[0] is what follows omp.
void read_directive(const std::vector<Token> &words, size_t first, bool intel, bool in_string, size_t at, size_t end,
                    Scan &out)
{
    Directive d{Kind::other, "", "", intel, at, end, first < words.size() ? words[first].at : end, in_string, {}};
    auto word = [&](size_t k) { return first + k < words.size() ? words[first + k].text : string(); };
    size_t num_words = 1;
    bool parallel = word(0) == "parallel";
    if (word(parallel).compare(0, 5, "taskq") == 0 ? word(parallel) != "taskq" : parallel && word(1) == "task") {
        out.problems.push_back({d.name_at, "there is no '" + string(parallel ? "parallel " : "") + word(parallel) +
                                               "'; there are 'parallel taskq', 'taskq' and 'task'"});
        d.words = word(0);
        out.directives.push_back(d);
        return;
    }
    if (parallel && word(1) == "taskq") {
        d.kind = Kind::parallel_taskq;
        num_words = 2;
    } else if (word(0) == "taskq") {
        d.kind = Kind::taskq;
    } else if (word(0) == "task") {
        d.kind = Kind::task;
    } else if (intel) {
        out.problems.push_back({d.name_at, "'intel omp' is followed by 'parallel taskq', 'taskq' or 'task'" +
                                               (word(0).empty() ? "" : ", not by '" + word(0) + "'")});
        d.words = word(0);
        out.directives.push_back(d);
        return;
    } else if (word(0) == "ordered") {
        bool alone = word(1) == "depend" || word(1) == "doacross";
        d.kind = word(1).empty() ? Kind::ordered : alone ? Kind::other_alone : Kind::other;
    } else if (word(0) == "critical") {
        d.kind = Kind::critical;
    } else if (word(0) == "atomic") {
        d.kind = Kind::atomic;
    } else if (word(0) == "flush") {
        d.kind = Kind::flush;
    } else if (ALONE.count(word(0))) {
        d.kind = Kind::other_alone;
    } else if (!WITH_STATEMENT.count(word(0))) {
        return;
    }
    for (size_t k = 0; k < num_words; k++)
        d.words += (k ? " " : "") + word(k);
    for (size_t k = first + num_words; k < words.size(); k++)
        d.rest += (k > first + num_words ? " " : "") + words[k].text;
    if (d.ours()) {
        Reader r{words, out.problems, end, first + num_words};
        while (!r.done()) {
            if (r.is(",") && r.i > first + num_words) {
                r.i++;
                if (r.done() && !r.problem("a clause must follow ','"))
                    break;
                continue;
            }
            if (!read_clause(r, d))
                break;
        }
        check_named_once(d, out.problems);
    } else if (d.kind == Kind::critical && !word(1).empty()) {
        if (word(1) != "(" || word(3) != ")" || !is_name_start(word(2).empty() ? '0' : word(2)[0]))
            d.rest = "?"; // the compiler says what is wrong
        else
            d.rest = word(2);
    }
    out.directives.push_back(d);
}

// The text of a pragma behind the word pragma: [from, to) of s, which stands `shift` before its place in the file.
void read_pragma(const string &s, size_t from, size_t to, size_t shift, bool in_string, size_t at, size_t end,
                 Scan &out)
{
    std::vector<Token> words = tokens(s, from, to, shift);
    auto is = [&](size_t k, const char *what) { return k < words.size() && words[k].text == what; };
    // older manuals spell it intel_omp_taskq
    if (!words.empty() && words[0].text.compare(0, 10, "intel_omp_") == 0) {
        Token rest{words[0].text.substr(10), words[0].at + 10, words[0].end};
        size_t bar = rest.text.find("_taskq");
        std::vector<Token> split = {words[0]};
        if (bar != string::npos) {
            split.push_back({rest.text.substr(0, bar), rest.at, rest.at + bar});
            split.push_back({"taskq", rest.at + bar + 1, rest.end});
        } else {
            split.push_back(rest);
        }
        split.insert(split.end(), words.begin() + 1, words.end());
        read_directive(split, 1, true, in_string, at, end, out);
    } else if (is(0, "omp")) {
        read_directive(words, 1, false, in_string, at, end, out);
    } else if (is(0, "intel") && is(1, "omp")) {
        read_directive(words, 2, true, in_string, at, end, out);
    }
}

} // namespace

Scan scan(const Text &text)
{
    const string &s = text.all;
    Scan out;
    out.boundaries.push_back(0);
    int depth = 0, parentheses = 0;
    bool line_start = true;
    std::vector<std::pair<int, int>> branches; // what was open where each #if began: its branches all begin so
    std::vector<Conditional> unclosed;
    for (size_t i = 0; i < s.size();) {
        size_t next = behind_blank(s, i, false);
        if (next != i) {
            i = next;
        } else if (s[i] == '\n') {
            line_start = true;
            i++;
        } else if ((s[i] == '#' || s.compare(i, 2, "%:") == 0) && line_start) {
            size_t end = end_of_line(s, i), word = skip(s, i + (s[i] == '#' ? 1 : 2), false), word_end = word;
            while (word_end < end && is_name_char(s[word_end]))
                word_end++;
            string name = s.substr(word, word_end - word);
            size_t trimmed = end;
            while (trimmed > i && s[trimmed - 1] == '\r')
                trimmed--;
            out.lines.push_back({i, end});
            if (name == "pragma") {
                read_pragma(s, word_end, trimmed, 0, false, i, trimmed, out);
            } else if (name == "define" || name == "undef") {
                out.defines.push_back(i);
            } else if (name.compare(0, 2, "if") == 0) {
                branches.push_back({depth, parentheses});
                unclosed.push_back({{{i, trimmed}}});
            } else if (name.compare(0, 2, "el") == 0 && !branches.empty()) {
                std::tie(depth, parentheses) = branches.back();
                unclosed.back().lines.push_back({i, trimmed});
            } else if (name == "endif" && !branches.empty()) {
                branches.pop_back();
                unclosed.back().lines.push_back({i, trimmed});
                out.conditionals.push_back(unclosed.back());
                unclosed.pop_back();
            }
            if (depth == 0 && parentheses == 0)
                out.boundaries.push_back(end);
            i = end;
        } else if (s[i] == '"' || s[i] == '\'') {
            line_start = false;
            i = behind_literal(s, i);
        } else if (is_name_char(s[i])) {
            line_start = false;
            size_t end = i;
            while (end < s.size() && is_name_char(s[end]))
                end++;
            if (s.compare(i, end - i, "_Pragma") == 0) {
                size_t open = skip(s, end, true),
                       quote = open < s.size() && s[open] == '(' ? skip(s, open + 1, true) : s.size();
                if (quote < s.size() && s[quote] == '"') {
                    size_t close = behind_literal(s, quote), behind = skip(s, close, true);
                    if (behind < s.size() && s[behind] == ')') {
                        string unescaped; // columns behind an escape are a few too small
                        for (size_t k = quote + 1; k + 1 < close; k++)
                            unescaped += s[k] == '\\' && k + 2 < close ? s[++k] : s[k];
                        read_pragma(unescaped, 0, unescaped.size(), quote + 1, true, i, behind + 1, out);
                        end = behind + 1;
                    }
                }
            }
            i = end;
        } else {
            line_start = false;
            bool two = s.compare(i, 2, "<%") == 0 || s.compare(i, 2, "%>") == 0; // digraphs
            bool opens = s[i] == '{' || s.compare(i, 2, "<%") == 0, closes = s[i] == '}' || (two && !opens);
            depth += opens ? 1 : closes ? -1 : 0;
            parentheses += s[i] == '(' ? 1 : s[i] == ')' ? -1 : 0;
            bool ends = s[i] == ';' || closes;
            i += two ? 2 : 1;
            if (depth == 0 && parentheses == 0 && ends)
                out.boundaries.push_back(i);
        }
    }
    return out;
}
