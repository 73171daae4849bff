// What of the source is replaced before emit: macro calls, and conditions of the preprocessor.
#include "emit.h"
#include "emitter.h"

#include <algorithm>
#include <functional>
#include <memory>

using std::string;
using taskqc::name_in;

std::vector<Expansion> must_expand(const Scan &scan, Tree &tree, bool openmp)
{
    std::vector<Expansion> wanted = tree.items;
    auto add_once = [&](const Expansion &e) {
        if (std::none_of(wanted.begin(), wanted.end(), [&](const Expansion &w) { return w.at == e.at; }))
            wanted.push_back(e);
    };
    auto of_preprocessor = [&](size_t at) {
        return std::any_of(scan.lines.begin(), scan.lines.end(),
                           [&](const Range &line) { return at >= line.at && at < line.end; });
    };
    auto add = [&](size_t at) {
        for (const Expansion &e : tree.expansions)
            if (at >= e.at && at < e.end && !of_preprocessor(e.at)) {
                add_once(e);
                return true;
            }
        return false;
    };
    for (auto &f : tree.functions) {
        if (openmp) // names stay what they are
            break;
        for (const Use &u : f->uses) {
            const Directive *in = nullptr;
            for (const Directive &d : scan.directives)
                if (u.at >= d.at && u.at < d.end)
                    in = &d;
            if (name_in(u.variable, u.scope) == u.variable->name)
                continue;
            if (in && u.item && !u.spelled)
                add_once({u.item->at, u.item->end, in});
            else if (!in && !add(u.at) && !u.spelled)
                tree.problems.push_back({u.at, "cannot see where '" + u.variable->name + "' is written"});
        }
        bool defines = std::any_of(scan.defines.begin(), scan.defines.end(),
                                   [&](size_t at) { return at >= f->at && at < f->end; });
        std::function<void(const Construct &)> all = [&](const Construct &c) {
            if (c.task())
                for (const Expansion &e : tree.expansions)
                    if (e.at >= c.at && e.at < c.end)
                        add(e.at);
            for (auto &child : c.children)
                all(*child);
        };
        if (defines)
            for (auto &c : f->constructs)
                all(*c);
    }
    for (const Expansion &w : wanted)
        for (const Directive &d : scan.directives)
            if (!w.directive && d.at >= w.at && d.at < w.end)
                tree.problems.push_back({d.name_at, "a directive cannot stand among the arguments of a macro"});
    std::sort(wanted.begin(), wanted.end(), [](const Expansion &a, const Expansion &b) { return a.at < b.at; });
    return wanted;
}

string without_conditionals(const Text &text, const Scan &scan, const Tree &tree)
{
    string blanked = text.all;
    auto blank = [&](size_t from, size_t to) {
        for (size_t at = from; at < to; at++)
            if (blanked[at] != '\n' && blanked[at] != '\r')
                blanked[at] = ' ';
    };
    auto is_skipped = [&](size_t at) {
        return std::any_of(tree.skipped.begin(), tree.skipped.end(),
                           [&](const Range &r) { return at >= r.at && at < r.end; });
    };
    std::function<bool(const Conditional &, const Construct &)> crosses = [&](const Conditional &group,
                                                                              const Construct &c) {
        size_t in_all = 0, in_statement = 0;
        for (const Range &line : group.lines) {
            in_all += line.at >= c.directive->at && line.at < c.end;
            in_statement += line.at >= c.at && line.at < c.end;
        }
        if (in_all && in_statement != group.lines.size())
            return true;
        return std::any_of(c.children.begin(), c.children.end(),
                           [&](const std::unique_ptr<Construct> &child) { return crosses(group, *child); });
    };
    for (const Conditional &group : scan.conditionals) {
        bool wanted = false;
        for (auto &f : tree.functions)
            for (auto &c : f->constructs)
                wanted = wanted || crosses(group, *c);
        for (size_t k = 0; wanted && k < group.lines.size(); k++) {
            blank(group.lines[k].at, group.lines[k].end);
            size_t next = k + 1 < group.lines.size() ? group.lines[k + 1].at : 0;
            if (group.lines[k].end < next && is_skipped(group.lines[k].end))
                blank(group.lines[k].end, next);
        }
    }
    return blanked;
}
