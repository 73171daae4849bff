// What libclang says of the source: which statement a directive stands before, which variables of the function it uses,
// and what of it cannot become a task.
//
// libclang does not put pragmas it does not know into its tree. So a copy of the source is parsed in which each
// directive is a label and a loop that binds to the statement behind it, in the same line:
//     #pragma omp task captureprivate(p)     ->     _tq_7: while (_tq_list(0, sizeof(p)))
// The label says which directive it was, the call resolves the names of the clauses, and nothing else of the source
// moves by a line.
#ifndef TASKQC_TREE_H
#define TASKQC_TREE_H

#include "text.h"

#include <clang-c/Index.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

struct Construct;
struct Function;

struct Variable { // or function, that the enclosing function declares
    std::string name;
    CXCursor cursor;
    CXType type;                // as it is written
    size_t at;                  // of its name; what is declared elsewhere (an included file) has none
    Construct *scope = nullptr; // the innermost construct that it is declared in
    bool is_static = false, is_register = false, is_function = false, is_extern = false;
    bool decays = false;    // a parameter that is written as an array or a function, and is a pointer
    bool is_global = false; // the file's, and named in a clause of the function
    bool is_name = false;   // __func__ and its like

    bool array() const;
    bool variably_modified() const;
};

struct Use {
    size_t at, end; // in the source
    Variable *variable;
    Construct *scope;
    bool spelled;               // false: the name comes from a macro's body
    const Item *item = nullptr; // of the clause that it stands in; `at` is the item's
    size_t within = 0;          // its place in the item's text
};

// A struct, union, enum or typedef that the function declares and a construct uses; or one of the file's without name.
struct LocalType {
    CXCursor cursor;
    size_t at, end;
    Construct *scope;
};

enum class Sharing { shared, captured, private_, reduction };

struct Capture { // a task's own view of a variable from outside of it
    Variable *variable;
    Sharing how;
    bool last = false; // lastprivate of the queue
    bool referenced = true;
    std::string op = {};
};

struct Shadow { // a queue's own copy of a variable
    Variable *variable;
    bool first = false, last = false;
    std::string op = {}; // reduction
};

struct Construct {
    const Directive *directive;
    unsigned number;
    Function *function;
    Construct *parent;
    size_t at, end;             // of the statement
    Construct *queue = nullptr; // task: the one that it is put into
    std::map<const Item *, Variable *> names;
    std::vector<Shadow> shadows;
    std::vector<Capture> captures;
    std::vector<LocalType *> types; // that its text names
    std::vector<std::unique_ptr<Construct>> children;
    bool has_ordered = false; // task: an ordered block inside

    bool task() const { return directive->kind == Kind::task; }
    bool rehomes(const Variable *v) const { return capture(v) || shadow(v); }
    const Capture *capture(const Variable *v) const;
    const Shadow *shadow(const Variable *v) const;
};

struct Function {
    std::string name;
    CXCursor cursor;
    size_t at, end;
    std::vector<std::unique_ptr<Construct>> constructs; // outermost
    std::vector<std::unique_ptr<Variable>> variables;
    std::vector<std::unique_ptr<LocalType>> types;
    std::vector<Use> uses;
};

struct Expansion { // of a macro, outermost; or a clause's item with a macro in it
    size_t at, end;
    const Directive *directive = nullptr; // the item's
};

struct Tree {
    CXIndex index = nullptr;
    CXTranslationUnit unit = nullptr;
    std::vector<std::unique_ptr<Function>> functions; // those with directives of ours
    std::vector<LocalType> nameless;                  // the file's
    std::vector<Expansion> expansions;
    std::vector<Expansion> items; // of clauses, which a macro makes
    std::vector<Range> skipped;   // what the preprocessor leaves out
    std::vector<Problem> problems;
    std::vector<Problem> unread; // directives whose statement libclang does not take for one
    std::vector<Problem> doubts; // what libclang takes for a mistake in the program's own C: the compiler decides
    std::vector<std::string> elsewhere; // messages that name another file
    std::vector<Problem> warnings;
    std::set<const Directive *> found;

    Tree() = default;
    Tree(const Tree &) = delete;
    Tree &operator=(const Tree &) = delete;
    ~Tree();
};

// `openmp`: the code is for an OpenMP compiler, which knows the other directives itself. Notes how #line names the
// text's lines.
void parse(Text &text, const Scan &scan, const std::vector<std::string> &options, bool openmp, Tree &tree);

std::string take(CXString string);
// Whether a type has an array whose length is known when the program runs only.
bool is_variably_modified(CXType type);
bool is_array(CXType type);
// The local type of the function that this type is, or nullptr.
LocalType *local_type(Function &f, CXCursor declaration);

#endif
