/** What a tree needs to know of a group. */
export interface Named {
  uid: string;
  name: string;
}

/** A group where it stands in the tree. */
export interface Node<Group extends Named> {
  group: Group;
  /** Names from the topmost group that the person sees: `acme/team`. */
  path: string;
  children: Node<Group>[];
}

/** The uid of what is above; empty at the root. A uid begins with that of its parent. */
export function parentOf(uid: string): string {
  return uid.slice(0, Math.max(uid.lastIndexOf("/"), 0));
}

/** The groups as trees, by name. A group whose parent is not among them stands at the top. */
export function treeOf<Group extends Named>(groups: readonly Group[]): Node<Group>[] {
  const nodes = new Map(groups.map((group) => [group.uid, { group, path: group.name, children: [] } as Node<Group>]));
  const tops: Node<Group>[] = [];
  // Parents have shorter uids than what is below them: their paths are known first.
  for (const node of [...nodes.values()].toSorted((one, other) => one.group.uid.length - other.group.uid.length)) {
    const parent = nodes.get(parentOf(node.group.uid));
    if (parent !== undefined) node.path = `${parent.path}/${node.group.name}`;
    (parent?.children ?? tops).push(node);
  }
  const byName = (one: Node<Group>, other: Node<Group>): number => one.group.name.localeCompare(other.group.name);
  for (const { children } of nodes.values()) children.sort(byName);
  return tops.toSorted(byName);
}

/** All nodes, each before those below it. */
export function flat<Group extends Named>(nodes: readonly Node<Group>[]): Node<Group>[] {
  return nodes.flatMap((node) => [node, ...flat(node.children)]);
}

/** The paths of groups by their uids. */
export function pathsOf(groups: readonly Named[]): ReadonlyMap<string, string> {
  return new Map(flat(treeOf(groups)).map(({ group, path }) => [group.uid, path]));
}
