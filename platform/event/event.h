// Events of later cycles, and the agents that they happen to: a packet reaches a router, a signal a synchroniser.
#pragma once
#include <cstdint>

namespace mc
{

class Agent;

// The wheel links events. An agent's own type of event adds what the agent needs to know when it happens.
struct Event {
    Event *next = nullptr;
    uint64_t when = 0;
    Agent *agent = nullptr;
};

// What has events of its own beside the cores: synchronisers, DMA engines, the traffic on the network, the cores' side
// of it.
class Agent
{
  public:
    Agent() = default;
    Agent(const Agent &) = delete;
    virtual void happen(Event &e) = 0; // e.when is this cycle; the event is the agent's again

  protected:
    ~Agent() = default;
};

} // namespace mc
