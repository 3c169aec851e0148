import type { Awaitable } from "@moorage/kernel/lib/awaitable";
import { type Database, statement } from "@moorage/kernel/store";
import { isRepositoryName } from "../digests.ts";

/** A group whose repositories are listed, or a single repo, and the names that lead to it. */
export interface Root {
  uid: string;
  isRepo: boolean;
  path: string[];
}

interface Child {
  name: string;
  uid: string;
}

// The groups and repos of a parent come from an index in the order of their names. A group below which there are no
// repos is passed over; but there may be many of them.
const selectRepos = statement<Child>("select name, uid from repos where parent = ? and name > ? order by name limit ?");
const selectGroups = statement<Child & { n: number | null }>(
  `select g.name, g.uid, c.n from groups as g left join counters as c on c.kind = 'repos' and c.ancestor = g.uid
    where g.parent = ? and g.name >= ? order by g.name limit ?`,
);
/** The most groups that one page looks at, beyond which it ends early. */
const MAX_GROUPS = 2000;
const SLICE = 100;

/**
 * The paths of at most `count` repos below the roots, after the path `after`, which need not exist. `next` is the path
 * after which the next page begins; undefined when there is nothing more. It reads no more than a page's worth of
 * rows, whatever there is before and behind it.
 */
export async function listCatalog(
  tx: Database,
  roots: readonly Root[],
  after: readonly string[],
  count: number,
): Promise<{ names: string[]; next: string | undefined }> {
  const walk = new Walk(tx, count);
  for (const { uid, isRepo, path } of roots) {
    const order = compareSegments(path, after);
    const isAround = path.length <= after.length && path.every((name, at) => name === after[at]);
    if (order <= 0 && !isAround) continue;
    if (
      isRepo ? order > 0 && !walk.add(path) : !(await walk.below(uid, path, isAround ? after.slice(path.length) : []))
    )
      break;
  }
  return { names: walk.names, next: walk.next };
}

/** Compares paths by their segments, a path before those below it; each segment by its bytes. */
export function compareSegments(one: readonly string[], other: readonly string[]): number {
  for (let at = 0; at < Math.min(one.length, other.length); at += 1) {
    const [a = "", b = ""] = [one[at], other[at]];
    if (a !== b) return a < b ? -1 : 1;
  }
  return one.length - other.length;
}

class Walk {
  readonly names: string[] = [];
  next: string | undefined;
  readonly #tx: Database;
  readonly #count: number;
  #groups = 0;

  constructor(tx: Database, count: number) {
    this.#tx = tx;
    this.#count = count;
  }

  /** Adds a repo. False when the page is full: then it begins the next one. */
  add(path: readonly string[]): boolean {
    if (this.names.length === this.#count) {
      this.next = this.names.at(-1);
      return false;
    }
    this.names.push(path.join("/"));
    return true;
  }

  /** Adds the repos below a group, those after the relative path `after`. False when the page has ended. */
  async below(parent: string, path: readonly string[], after: readonly string[]): Promise<boolean> {
    const [first = "", ...rest] = after;
    const wanted = Math.min(this.#count - this.names.length + 1, SLICE);
    let repos = await this.#reposAfter(parent, first, wanted);
    let groups = await this.#groupsFrom(parent, first);
    while (repos.length > 0 || groups.length > 0) {
      const [repo, group] = [repos[0], groups[0]];
      // A repo and a group may share a name; the repo's path is the shorter one.
      if (repo !== undefined && (group === undefined || repo.name <= group.name)) {
        if (!this.add([...path, repo.name])) return false;
        repos.shift();
        if (repos.length === 0) repos = await this.#reposAfter(parent, repo.name, wanted);
      } else if (group !== undefined) {
        const inner = [...path, group.name];
        if ((this.#groups += 1) > MAX_GROUPS) {
          this.next = inner.join("/");
          return false;
        }
        // Other names of groups are in no image path.
        const isReachable = (group.n ?? 0) > 0 && isRepositoryName(group.name);
        if (isReachable && !(await this.below(group.uid, inner, group.name === first ? rest : []))) return false;
        groups.shift();
        if (groups.length === 0) {
          const { name } = group;
          groups = (await this.#groupsFrom(parent, name)).filter((each) => each.name !== name);
        }
      }
    }
    return true;
  }

  #reposAfter(parent: string, name: string, limit: number): Awaitable<Child[]> {
    return selectRepos(this.#tx, parent, name, limit);
  }

  #groupsFrom(parent: string, name: string): Awaitable<(Child & { n: number | null })[]> {
    return selectGroups(this.#tx, parent, name, SLICE);
  }
}
