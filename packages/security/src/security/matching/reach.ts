import { type Affected, isReadable } from "./affected-ranges.ts";
import { packageKey, versionOrder } from "./package-keys.ts";
import { entriesOf } from "./record-affects.ts";

/** What the packages of images can meet of a record. */
export interface Reach {
  /** The ecosystems and releases of its packages, as keys begin: `npm`, `debian:12`. Each once. */
  spaces: string[];
  /** Ecosystems of which no packages are matched, as the record names them. Each once. */
  unserved: string[];
  /** Why all or a part of it matches nothing, in one line; empty when that is not so. */
  problem: string;
}

const MAX_NAME_LENGTH = 100;

/**
 * What a record of a format with packages can match: see MATCHED_FORMATS. `body` is what the format's reader stored. A
 * record has a problem when no package of it is looked up, and when versions of one say nothing here, so that a package
 * which it affects is not found.
 */
export function reachOf(format: string, body: string): Reach {
  const spaces = new Set<string>();
  const unserved = new Set<string>();
  let problem = "";
  for (const { of, affected } of entriesOf(format, body)) {
    const key = packageKey(of);
    const order = key === undefined ? undefined : versionOrder(key);
    if (key === undefined || order === undefined) {
      unserved.add((of.ecosystem || "no ecosystem").slice(0, MAX_NAME_LENGTH));
      continue;
    }
    spaces.add(key.slice(0, key.indexOf("/")));
    const name = key.slice(0, MAX_NAME_LENGTH);
    if (rangesOf(affected).some((range) => !isReadable(order, range)))
      problem ||= `a range of ${name} has a version that cannot be read: all that may lie in it counts as affected`;
    // Other formats say with such an entry that the package is not affected.
    else if (format === "osv" && rangesOf(affected).length === 0 && (affected.versions ?? []).length === 0)
      problem ||= `no version of ${name} is named`;
  }
  if (spaces.size === 0)
    problem =
      unserved.size === 0 ? "names no package" : `packages of ${[...unserved].slice(0, 3).join(", ")} are not matched`;
  return { spaces: [...spaces], unserved: [...unserved], problem };
}

function rangesOf({ ranges }: Affected) {
  return (ranges ?? []).filter(({ type }) => type === "SEMVER" || type === "ECOSYSTEM");
}
