import { organizationOf } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";

// The VEX documents that an installation itself attaches to images; see exports/. They repeat what was said elsewhere.

/** The type of the referrers, and of the document in them. */
export const OPENVEX = "application/openvex+json";

/** The annotation of such a referrer: the uid of the repo for which it was made. A copy of it elsewhere has it, too. */
export const OWN_VEX_REPO = "dev.moorage.vex.repo";

/** Those that this installation has not made itself, of whichever repo they are a copy. `annotations`: as JSON. */
export async function withoutOwn<T extends { annotations: string }>(
  tx: Database,
  referrers: readonly T[],
): Promise<T[]> {
  const madeFor = referrers.map(({ annotations }) => repoOfOwnVex(annotations));
  const named = [...new Set(madeFor.flatMap((repo) => (repo === undefined ? [] : [organizationOf(repo)])))];
  if (named.length === 0) return [...referrers];
  const rows = await tx.selectFrom("groups").select("uid").where("uid", "in", named).execute();
  const here = new Set(rows.map(({ uid }) => uid));
  return referrers.filter((_, at) => !here.has(organizationOf(madeFor[at] ?? "")));
}

/** For which repo the referrer was made; undefined when it is not a server's own. */
export function repoOfOwnVex(annotations: string): string | undefined {
  if (!annotations.includes(OWN_VEX_REPO)) return undefined;
  const repo = (JSON.parse(annotations) as Record<string, string>)[OWN_VEX_REPO];
  return repo === "" ? undefined : repo;
}
