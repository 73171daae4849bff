// The copy of the source with the markers that tree.h speaks of, and the way back.
#ifndef TASKQC_MARKED_H
#define TASKQC_MARKED_H

#include "text.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace taskqc
{

struct Marked {
    struct Piece { // of the copy that is not the source's
        size_t at, end;
        const Directive *directive;
        std::vector<std::tuple<size_t, size_t, const Item *>> items; // [at, end) of each
    };
    std::string all;
    std::vector<Piece> pieces;
    const Text &text;

    Marked(const Text &source, const Scan &scan) : text(source)
    {
        size_t from = 0;
        for (unsigned k = 0; k < scan.directives.size(); k++) {
            const Directive &d = scan.directives[k];
            all.append(text.all, from, d.at - from);
            mark(d, k);
            from = d.end;
        }
        all.append(text.all, from);
    }

    void mark(const Directive &d, unsigned number)
    {
        Piece piece{all.size(), 0, &d, {}};
        if (d.kind == Kind::flush || d.kind == Kind::other_alone) {
            all += "_tq_here(" + std::to_string(number) + ");";
        } else {
            all += "_tq_" + std::to_string(number) + ": while (_tq_list(0";
            for (const Clause &c : d.clauses)
                for (const Item &item : c.items) {
                    if (c.name == "default")
                        continue;
                    bool expression = c.name == "if" || c.name == "num_threads";
                    all += expression ? ", (" : ", sizeof(";
                    size_t at = all.size();
                    all += item.text;
                    piece.items.push_back({at, all.size(), &item});
                    all += ")";
                }
            all += "))";
        }
        all.append(static_cast<size_t>(std::count(text.all.begin() + d.at, text.all.begin() + d.end, '\n')), '\n');
        piece.end = all.size();
        pieces.push_back(piece);
    }

    // The place in the source; inside of a marker: the clause's, or the directive's.
    size_t back(size_t at) const
    {
        size_t source = at;
        for (const Piece &p : pieces) {
            if (at < p.at)
                break;
            if (at < p.end) {
                for (auto &[from, to, item] : p.items)
                    if (at >= from && at <= to)
                        return item->at;
                return p.directive->name_at;
            }
            source = p.directive->end + (at - p.end);
        }
        return source;
    }

    const Piece *piece(size_t at) const
    {
        for (const Piece &p : pieces)
            if (at >= p.at && at < p.end)
                return &p;
        return nullptr;
    }
};

} // namespace taskqc

#endif
