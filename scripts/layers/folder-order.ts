import type { Import } from "../check-layers.ts";

/** What imports what in one folder: of each of its files and folders, which others it imports, and by which import. */
type FolderGraph = Map<string, Map<string, Import>>;

/** The imports of a tree by the folder that holds both sides, as imports between its own files and folders. */
function graphsOf(imports: readonly Import[]): Map<string, FolderGraph> {
  const graphs = new Map<string, FolderGraph>();
  for (const each of imports) {
    const [from, to] = [each.from.split("/"), each.to.split("/")];
    let depth = 0;
    while (depth < from.length - 1 && depth < to.length - 1 && from[depth] === to[depth]) depth += 1;
    const [source = "", target = ""] = [from[depth], to[depth]];
    if (source === target || to[0] === "..") continue;
    const folder = from.slice(0, depth).join("/");
    const graph = graphs.get(folder) ?? new Map<string, Map<string, Import>>();
    graphs.set(folder, graph);
    const targets = graph.get(source) ?? new Map<string, Import>();
    graph.set(source, targets);
    if (!targets.has(target)) targets.set(target, each);
  }
  return graphs;
}

/** The imports of a circle among the files and folders of one folder; undefined when they have an order. */
function circleIn(graph: FolderGraph): Import[] | undefined {
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[], path: readonly Import[]): Import[] | undefined => {
    const begin = trail.indexOf(name);
    if (begin >= 0) return path.slice(begin);
    if (done.has(name)) return undefined;
    for (const [target, each] of graph.get(name) ?? []) {
      const found = visit(target, [...trail, name], [...path, each]);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of graph.keys()) {
    const found = visit(name, [], []);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The folders whose files and folders have no order, types included: some of them import each other. One line for each
 * folder, with the imports of one circle.
 */
export function orderProblems(imports: readonly Import[]): string[] {
  return [...graphsOf(imports)].flatMap(([folder, graph]) => {
    const found = circleIn(graph);
    if (found === undefined) return [];
    const lines = found.map(({ from, to }) => `${from} imports ${to}`);
    return [`${folder === "" ? "src" : folder} has no order: ${lines.join(", ")}`];
  });
}
