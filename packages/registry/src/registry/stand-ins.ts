import type { PreconditionViolation } from "@moorage/kernel/errors";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, select } from "@moorage/kernel/store";

/** The upstream of the innermost group, among these at and above the uid of a group or repo, that stands for one. */
export async function standInAbove(tx: Database, uid: string): Promise<Row<"registry_upstreams"> | undefined> {
  const places = [...ancestorsOf(uid), uid];
  const [row] = await select<Row<"registry_upstreams">>(
    tx,
    `select * from registry_upstreams where parent in (${places.map(() => "?").join(", ")}) order by length(parent) desc limit 1`,
    places,
  );
  return row;
}

/** Whether a repo came from another registry, of which a group above it stands for one. */
export async function isFromUpstream(tx: Database, repo: string): Promise<boolean> {
  return (await select(tx, "select 1 from upstream_repos where repo = ?", [repo])).length > 0;
}

/** The violation of moving tags of a repo whose tags are those of a registry, as its upstream has it. */
export function standsForRegistry(repo: string, registry: string): PreconditionViolation {
  return {
    type: "STANDS_FOR_REGISTRY",
    subject: repo,
    description: `the tags of the repo are those of ${registry.replace(/^https?:\/\//, "")}, which a group stands for: move them there`,
  };
}
