import { resolveRepository } from "@moorage/kernel/core/image-path";
import type { Call } from "@moorage/kernel/core/call";
import type { Row } from "@moorage/kernel/store";
import { groupPath } from "../registry/index.ts";
import { nameAt, registryKey, restOf } from "./registries.ts";

/** What a name means at a mirror host. */
export interface MirroredName {
  /** The path of the image here, as acme/mirrors/hub/library/nginx. */
  path: string;
  /** Networks from which credentials that are not known count as none. */
  anonymousNetworks: readonly string[];
}

/** Of so many upstreams below a group one is found. */
const MAX_UPSTREAMS = 1_000;
const DEFAULT_NS = "docker.io";

/**
 * What a name means at the mirror host of a group: an image below the uppermost group, at it or below it, that stands
 * for the registry `ns`, or for docker.io without one. Undefined where none does. `ns` is compared, and no more.
 */
export async function mirroredName(
  call: Call,
  { group, ns = DEFAULT_NS, name }: { group: string; ns: string | undefined; name: string },
): Promise<MirroredName | undefined> {
  const { group: uid, missing } = await resolveRepository(call, `${group}/x`);
  if (uid === undefined || missing.length !== 1) return undefined;
  const rows = await call.tx
    .selectFrom("registry_upstreams")
    .selectAll()
    .where((where) =>
      // A 0 follows the slash.
      where.or([
        where("parent", "=", uid),
        where.and([where("parent", ">", `${uid}/`), where("parent", "<", `${uid}0`)]),
      ]),
    )
    .limit(MAX_UPSTREAMS)
    .execute();
  const [found] = rows.filter(({ registry }) => registryKey(registry) === registryKey(ns)).toSorted(uppermost);
  if (found === undefined) return undefined;
  const path = `${await groupPath(call.tx, found.parent)}/${restOf(found, nameAt(found, name))}`;
  return { path, anonymousNetworks: JSON.parse(found.anonymous_networks) as string[] };
}

function uppermost(one: Row<"registry_upstreams">, other: Row<"registry_upstreams">): number {
  return one.parent.length - other.parent.length || (one.parent < other.parent ? -1 : 1);
}
