#include "out.h"

#include <algorithm>

using std::string;
using std::to_string;

namespace taskqc
{

namespace
{

string quoted(const string &name)
{
    string q = "\"";
    for (char c : name)
        q += c == '"' || c == '\\' ? string("\\") + c : string(1, c);
    return q + "\"";
}

} // namespace

void Out::append(const Out &other)
{
    start_line();
    all += other.all;
    line = other.line;
}

// [from, to) of the source.
void Out::source(size_t from, size_t to)
{
    if (!line) { // the rest of a line whose beginning was replaced
        size_t rest = from;
        while (rest < to && (text.all[rest] == ' ' || text.all[rest] == '\t'))
            rest++;
        if (rest < to && text.all[rest] == '\n')
            from = rest + 1;
    }
    if (from >= to)
        return;
    place(from);
    size_t at = from;
    for (auto tag = tags.lower_bound(from); tag != tags.end() && tag->first < to; ++tag) {
        all.append(text.all, at, tag->first - at);
        all += tag->second;
        at = tag->first;
    }
    all.append(text.all, at, to - at);
    line += static_cast<size_t>(
        std::count(text.all.begin() + static_cast<long>(from), text.all.begin() + static_cast<long>(to), '\n'));
}
// In place of something in the source's current line.
void Out::instead(size_t at, const string &what)
{
    place(at);
    all += what;
}
// Lines of our own; the compiler finds their mistakes where `at` is.
void Out::own(size_t at, const string &lines, size_t indented_as)
{
    if (lines.empty())
        return;
    start_line();
    all += line_directive(at);
    bool indented = indented_as != string::npos;
    size_t first = indented ? text.starts[text.line(indented_as) - 1] : 0, end = first;
    while (indented && end < text.all.size() && (text.all[end] == ' ' || text.all[end] == '\t'))
        end++;
    bool start = true;
    for (char c : lines) {
        if (start && indented && c != '#' && c != '\n')
            all.append(text.all, first, end - first);
        all += c;
        start = c == '\n';
    }
    start_line();
    line = 0;
}
void Out::start_line()
{
    if (!all.empty() && all.back() != '\n')
        all += '\n', line = line ? line + 1 : 0;
}

string Out::line_directive(size_t at) const
{
    return "#line " + to_string(text.shown_line(at)) + " " + quoted(text.shown_name(at)) + "\n";
}

void Out::place(size_t at)
{
    size_t want = text.line(at);
    if (line == want)
        return;
    if (!all.empty() && all.back() != '\n')
        all += '\n';
    all += line_directive(at);
    // the blanks before it, so that columns stay where they are
    for (size_t k = text.starts[want - 1]; k < at && (text.all[k] == ' ' || text.all[k] == '\t'); k++)
        all += text.all[k];
    line = want;
}

} // namespace taskqc
