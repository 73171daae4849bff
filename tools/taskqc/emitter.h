// The parts of emit (emit.h): the text around, queues, the tasks of both kinds, and types.
#ifndef TASKQC_EMITTER_H
#define TASKQC_EMITTER_H

#include "out.h"
#include "text.h"
#include "tree.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace taskqc
{

// The task sees the variable by a pointer of its name.
bool by_pointer(const Capture &c);
// How `v` is spelled in the text of `scope`, once that text stands in its task's function.
std::string name_in(const Variable *v, const Construct *scope);
bool is_function(CXType t);

class Emitter
{
  public:
    Emitter(const Text &source, const Tree &of, bool for_openmp) : text(source), tree(of), openmp(for_openmp) {}

    std::string run();
    std::string once();

    std::vector<size_t> boundaries;

  private:
    const Text &text;
    const Tree &tree;
    bool openmp;
    const Function *current = nullptr;
    std::string declared, behind; // before and behind the current function
    std::set<std::string> criticals;
    std::map<size_t, std::string> tags; // of the file's types that have none, where they are inserted
    std::vector<std::string> names_used;

    struct Types {          // of one task's struct and function
        bool local = false; // some type is the function's own
        std::vector<LocalType *> needed;
        std::vector<std::string> bounds; // expressions of the current variable's lengths, where the task is made
        std::string prefix;              // names of the lengths in the task's function
        bool in_prototype = false;
    };

    size_t before_function(const Function &f) const;
    std::string prologue(const Function &f, bool first);
    static std::string critical_name(const Construct &c);
    void range(Out &out, size_t from, size_t to, const Construct *scope);
    void construct(Out &out, const Construct &c);
    void around(Out &out, const Construct &c, const std::string &before, const std::string &after);

    // queues, and tasks of OpenMP
    static std::string pointer(const Construct &queue, const Variable *v);
    static std::string queue_name(const Construct &c);
    static std::string start_value(const Construct &queue, const Variable *v);
    const Construct *tasks_go_to(const Construct &c) const;
    static bool waits(const Construct &c);
    static std::string identity(const std::string &op, const std::string &start);
    static std::string combine(const std::string &into, const std::string &op, const std::string &value);
    void queue(Out &out, const Construct &c);
    static std::string condition_of(const Construct &c);
    std::string begin(const Construct &c, const std::string &indent) const;
    std::string expression(const Construct &c, const Clause &clause) const;
    std::string clause_text(const Construct &c, const char *name) const;
    std::string shadow(const Construct &c, const Shadow &s, const std::string &indent);
    void openmp_task(Out &out, const Construct &c);

    // types
    static std::string qualifiers(CXType t);
    std::string declare(CXType t, const std::string &inner, Types &types, const std::string &value);
    std::string declare(const Variable *v, const std::string &inner, Types &types, const std::string &value);
    static bool is_typedef(CXType t);
    static std::string qualifiers_once(CXType outer, CXType inner);
    std::string specifier(CXType t, Types &types);
    static bool anonymous(const LocalType &t);
    static std::string keyword(const LocalType &t);
    static std::string tag(const LocalType &t);
    void need(LocalType *t, Types &types);
    std::string type_text(Types &types);

    // tasks of the library
    void task(Out &out, const Construct &c);
    bool names_itself(const Construct &c) const;
    bool has_nowait(const Construct &c) const;
    bool goes_here(const Construct &c, const Construct &task) const;
    std::string task_queue_end(const Construct &c) const;
    static std::string with_queue(const std::string &body, const Construct &c);
    static bool is_inside(const Construct *c, const Construct *of);
    void variable_typedef(const Construct &c, const LocalType &t, Types &types, std::string &at_file, std::string &here,
                          std::string &set, std::string &inside);
    void put(Out &out, const Construct &c, const std::string &name, const std::string &structure, bool empty,
             bool local, const std::string &here, const std::string &set, const std::string &after);
};

} // namespace taskqc

#endif
