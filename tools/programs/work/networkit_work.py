"""NetworKit: communities, ranks, betweenness and components of a generated graph."""

import time

import networkit as nk

nk.setNumberOfThreads(2)
nk.setSeed(4, True)
graph = nk.Graph(1000)
for i in range(1000):
    for step in (1, 7, 61 + i % 5):
        graph.addEdge(i, (i * step + 11 * step) % 1000, checkMultiEdge=True)
graph.removeSelfLoops()
start = time.perf_counter()
rank = nk.centrality.PageRank(graph, tol=1e-12).run().scores()
between = nk.centrality.Betweenness(graph).run().scores()
core = nk.centrality.CoreDecomposition(graph).run().scores()
parts = nk.components.ParallelConnectedComponents(graph).run().getPartition().numberOfSubsets()
groups = nk.community.PLM(graph, refine=True, par="none").run().getPartition()
modular = nk.community.Modularity().getQuality(groups, graph)
labels = nk.community.PLP(graph).run().getPartition().numberOfSubsets()
print("time", time.perf_counter() - start)
print("result threads_more_than_one", int(nk.getMaxNumberOfThreads() > 1))
print("result edges", graph.numberOfEdges())
print("result rank", sum(i % 7 * v for i, v in enumerate(rank)))
print("result between", sum(between))
print("result core", sum(core))
print("result parts", parts)
print("result communities", int(modular > 0.3), int(labels > 0))
