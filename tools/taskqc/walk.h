// What libclang's tree says of the functions that have directives: the constructs, the variables, the jumps.
#ifndef TASKQC_WALK_H
#define TASKQC_WALK_H

#include "marked.h"
#include "text.h"
#include "tree.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace taskqc
{

inline std::string text_of(CXCursor c) { return take(clang_getCursorSpelling(c)); }

class Walker
{
  public:
    Walker(const Text &source, const Scan &scanned, const Marked &copy, bool for_openmp, Tree &into)
        : scan(scanned), marked(copy), openmp(for_openmp), tree(into)
    {
        main = clang_getFile(tree.unit, source.name.c_str());
    }

    void walk();
    std::vector<Text::Naming> namings(const Text &text) const;
    bool in_main(CXCursor c, size_t *at = nullptr) const;
    bool in_main(CXSourceLocation location, size_t *at = nullptr) const;

    std::vector<std::pair<const Item *, const Clause *>> not_a_local;
    std::vector<const Directive *> misplaced; // libclang finds no statement behind them

  private:
    const Scan &scan;
    const Marked &marked;
    bool openmp;
    Tree &tree;
    CXFile main;
    std::vector<Expansion> expansions; // in the copy
    Function *f = nullptr;
    size_t function_at = 0, function_end = 0; // in the copy

    struct State {
        Construct *scope = nullptr;
        bool may_break = true, may_continue = true; // inside of the innermost construct of ours, or in none
        Construct *of_switch = nullptr;             // where the innermost switch stands
    };
    struct Jump {
        std::string label;
        size_t at;
        Construct *scope;
        bool by_address = false;
    };
    std::vector<Jump> jumps;
    std::map<std::string, Construct *> labels;

    std::vector<std::unique_ptr<Construct>> loose; // what is left to the compiler
    bool in_clause = false;

    static void each(CXCursor c, const std::function<void(CXCursor)> &fn);
    static std::vector<CXCursor> children(CXCursor c);
    std::pair<size_t, size_t> extent(CXCursor c) const;
    size_t start(CXCursor c) const;
    void problem(size_t at_in_source, const std::string &what);
    size_t place(CXCursor c) const;
    void at_top(CXCursor c);
    void nameless(CXCursor c);
    void outermost_expansions();
    void one_function(CXCursor c);
    void check_jumps();
    static Construct *task_around(Construct *c);
    static Construct *ours_around(Construct *c);
    size_t behind_attributes(size_t at) const;
    size_t statement_end(CXCursor c) const;
    void visit(CXCursor c, State state);
    bool label(CXCursor c, const State &state);
    void construct(const Marked::Piece &piece, CXCursor condition, CXCursor body, const State &state);
    void find_queue(Construct *c, Construct *ours);
    void other(const Directive &d, Construct *ours);
    void clause_names(const Marked::Piece &piece, CXCursor condition, Construct *c, const State &state);
    void check_expressions(const Marked::Piece &piece, CXCursor call, const Construct &c);
    bool here(CXCursor c, const State &state);
    bool is_local(CXCursor decl) const;
    bool known(CXCursor decl) const;
    Variable *variable(CXCursor decl);
    void use(CXCursor c, const State &state);
    void function_name(CXCursor c, const State &state);
    void use_type(CXCursor decl, const State &state);
};

} // namespace taskqc

#endif
