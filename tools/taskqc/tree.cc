#include "tree.h"
#include "marked.h"
#include "share.h"
#include "walk.h"

#include <algorithm>

using std::string;
using taskqc::Marked;
using taskqc::Walker;

Tree::~Tree()
{
    if (unit)
        clang_disposeTranslationUnit(unit);
    if (index)
        clang_disposeIndex(index);
}

string take(CXString s)
{
    const char *text = clang_getCString(s);
    string copy = text ? text : "";
    clang_disposeString(s);
    return copy;
}

bool Variable::array() const { return !decays && is_array(type); }

bool Variable::variably_modified() const
{
    return decays && is_array(type) ? is_variably_modified(clang_getArrayElementType(clang_getCanonicalType(type)))
                                    : is_variably_modified(type);
}

const Capture *Construct::capture(const Variable *v) const
{
    for (const Capture &c : captures)
        if (c.variable == v)
            return &c;
    return nullptr;
}

const Shadow *Construct::shadow(const Variable *v) const
{
    for (const Shadow &s : shadows)
        if (s.variable == v)
            return &s;
    return nullptr;
}

bool is_array(CXType type)
{
    CXType t = clang_getCanonicalType(type);
    return t.kind == CXType_ConstantArray || t.kind == CXType_IncompleteArray || t.kind == CXType_VariableArray;
}

bool is_variably_modified(CXType type)
{
    CXType t = clang_getCanonicalType(type);
    switch (t.kind) {
    case CXType_VariableArray:
        return true;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
        return is_variably_modified(clang_getArrayElementType(t));
    case CXType_Pointer:
        return is_variably_modified(clang_getPointeeType(t));
    case CXType_FunctionProto:
    case CXType_FunctionNoProto:
        return is_variably_modified(clang_getResultType(t));
    default:
        return false;
    }
}

LocalType *local_type(Function &f, CXCursor declaration)
{
    for (auto &t : f.types)
        if (clang_equalCursors(t->cursor, declaration))
            return t.get();
    return nullptr;
}

namespace
{

const char HEADER[] = "/taskqc/markers.h";
const char DECLARATIONS[] = "int _tq_list(int, ...);\nvoid _tq_here(int);\n";

void diagnostics(const Text &text, const Marked &marked, Tree &tree, const Walker &walker)
{
    std::vector<Problem> errors;
    for (unsigned k = 0; k < clang_getNumDiagnostics(tree.unit); k++) {
        CXDiagnostic d = clang_getDiagnostic(tree.unit, k);
        CXDiagnosticSeverity severity = clang_getDiagnosticSeverity(d);
        string what = take(clang_getDiagnosticSpelling(d));
        size_t at = 0;
        bool here = walker.in_main(clang_getDiagnosticLocation(d), &at),
             absent = what.find("file not found") != string::npos;
        if (severity >= CXDiagnostic_Error && here) {
            const Marked::Piece *piece = marked.piece(at);
            size_t source = marked.back(at);
            bool matters = absent || (piece && piece->directive->ours());
            // elsewhere the compiler, which knows more of its own C than libclang does, has the word
            for (auto &f : tree.functions)
                matters = matters || (source >= f->at && source < f->end);
            bool sure = absent || piece || what.find("function definition is not allowed") != string::npos;
            if (matters)
                (sure ? tree.problems : errors).push_back({source, what});
        } else if (severity >= CXDiagnostic_Error && absent) {
            tree.elsewhere.push_back(
                take(clang_formatDiagnostic(d, CXDiagnostic_DisplaySourceLocation | CXDiagnostic_DisplayColumn)));
        }
        clang_disposeDiagnostic(d);
    }
    // No statement behind a directive: because there is none, or because what is there is wrong by itself.
    for (const Directive *d : walker.misplaced) {
        size_t behind = skip_blank(text.all, d->end);
        bool none = errors.empty() || std::any_of(errors.begin(), errors.end(), [&](const Problem &p) {
                        return p.at == behind && p.what.compare(0, 8, "expected") == 0;
                    });
        if (!none) {
            tree.unread.push_back({d->name_at, "libclang cannot read the statement behind '" + d->words + "'"});
            continue;
        }
        tree.problems.push_back({d->name_at, "'" + d->words + "' must stand before a statement"});
        errors.clear();
    }
    tree.doubts = errors;
}

} // namespace

void parse(Text &text, const Scan &scan, const std::vector<string> &options, bool openmp, Tree &tree)
{
    Marked marked(text, scan);
    std::vector<const char *> arguments = {"-x", "c", "-std=gnu17", "-w", "-ferror-limit=0", "-include", HEADER};
    for (const string &o : options)
        arguments.push_back(o.c_str());
    CXUnsavedFile files[] = {{HEADER, DECLARATIONS, sizeof DECLARATIONS - 1},
                             {text.name.c_str(), marked.all.c_str(), marked.all.size()}};
    tree.index = clang_createIndex(0, 0);
    CXErrorCode code = clang_parseTranslationUnit2(
        tree.index, text.name.c_str(), arguments.data(), static_cast<int>(arguments.size()), files, 2,
        CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing, &tree.unit);
    if (code != CXError_Success) {
        tree.elsewhere.push_back(text.name + ": libclang cannot parse it (error " + std::to_string(code) + ")");
        return;
    }
    Walker walker(text, scan, marked, openmp, tree);
    walker.walk();
    text.namings = walker.namings(text);
    diagnostics(text, marked, tree, walker);
    if (tree.problems.empty() && tree.doubts.empty())
        for (auto [item, clause] : walker.not_a_local)
            tree.problems.push_back(
                {item->at, "'" + item->text + "' is no variable, which '" + clause->name + "' needs"});
    for (auto &f : tree.functions)
        taskqc::share(text, *f, tree);
}
