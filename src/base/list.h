/* Intrusive circular doubly linked list.
 *
 * The head is a node without a value. A node that is in no list has next == NULL, so ps_list_linked can tell.
 * No locking: the caller holds the lock that guards the list, if several threads use it. */
#ifndef PS_LIST_H
#define PS_LIST_H

#include "compiler.h"

struct ps_list {
    struct ps_list *next, *prev;
};

static inline void ps_list_init(struct ps_list *head) { head->next = head->prev = head; }
static inline bool ps_list_empty(const struct ps_list *head) { return head->next == head; }
static inline bool ps_list_linked(const struct ps_list *node) { return node->next != NULL; }

static inline void ps_list_insert_between(struct ps_list *node, struct ps_list *prev, struct ps_list *next)
{
    node->prev = prev;
    node->next = next;
    prev->next = node;
    next->prev = node;
}
static inline void ps_list_push_front(struct ps_list *head, struct ps_list *node)
{
    ps_list_insert_between(node, head, head->next);
}
static inline void ps_list_push_back(struct ps_list *head, struct ps_list *node)
{
    ps_list_insert_between(node, head->prev, head);
}
static inline void ps_list_remove(struct ps_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->next = NULL;
}
/* Takes all nodes out of the list at once, as a ring without a head, and returns its first node. The list must not be
 * empty. */
static inline struct ps_list *ps_list_take_ring(struct ps_list *head)
{
    struct ps_list *first = head->next;
    first->prev = head->prev;
    head->prev->next = first;
    ps_list_init(head);
    return first;
}
/* Appends all nodes of a ring, whose first node is `first`, to the list. */
static inline void ps_list_push_ring_back(struct ps_list *head, struct ps_list *first)
{
    struct ps_list *last = first->prev;
    first->prev = head->prev;
    head->prev->next = first;
    last->next = head;
    head->prev = last;
}
/* Removes and returns the first node; returns NULL if the list is empty. */
static inline struct ps_list *ps_list_pop_front(struct ps_list *head)
{
    struct ps_list *node = head->next;
    if (node == head)
        return NULL;
    ps_list_remove(node);
    return node;
}

#endif
