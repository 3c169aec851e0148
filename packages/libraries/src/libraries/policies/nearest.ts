import { createLru } from "@moorage/kernel/lib/lru";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, type Row, snapshotCaches, type Statement, statement } from "@moorage/kernel/store";
import { type CompiledPolicy, compilePolicy } from "./compile.ts";

/** The policy that counts in a group. */
interface PolicyInForce {
  policy: CompiledPolicy;
  /** Another one for each content of a policy. */
  hash: string;
}

const MAX_GROUPS = 10_000;
const MAX_POLICIES = 500;
const inForce = snapshotCaches<PolicyInForce | "none">(MAX_GROUPS, ["artifact_policies"]);
const compiled = createLru<string, CompiledPolicy>(MAX_POLICIES);

interface Found {
  uid: string;
  parent: string;
  hash: string;
}

const selectAbove: Statement<Found>[] = [];
const selectByUid = statement<Row<"artifact_policies">>("select * from artifact_policies where uid = ?", ["text"]);

/** The policy of the group, or of the nearest one above it that has one; undefined where none has. */
export async function policyFor(tx: Database, group: string, ecosystem: number): Promise<PolicyInForce | undefined> {
  const found = await inForce(tx).remember(`${group} ${ecosystem}`, () => read(tx, group, ecosystem));
  return found === "none" ? undefined : found;
}

async function read(tx: Database, group: string, ecosystem: number): Promise<PolicyInForce | "none"> {
  const groups = [...ancestorsOf(group), group];
  const select = (selectAbove[groups.length] ??= statement<Found>(
    `select uid, parent, hash from artifact_policies where ecosystem = ? and parent in (${groups.map(() => "?").join(", ")})`,
    ["bigint", ...groups.map(() => "text" as const)],
  ));
  const rows = await select(tx, ecosystem, ...groups);
  const [nearest] = rows.toSorted((one, other) => other.parent.length - one.parent.length);
  if (nearest === undefined) return "none";
  const known = compiled.get(nearest.hash);
  if (known !== undefined) return { policy: known, hash: nearest.hash };
  const [row] = await selectByUid(tx, nearest.uid);
  if (row === undefined) return "none";
  const policy = compilePolicy(row);
  compiled.set(row.hash, policy);
  return { policy, hash: row.hash };
}
