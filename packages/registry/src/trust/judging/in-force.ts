import { ancestorsOf, parentOf } from "@moorage/kernel/lib/uid";
import { type Database, select } from "@moorage/kernel/store";
import { compilePolicy, type PolicyRow } from "./compile.ts";
import type { NamedSigner } from "./facts.ts";
import type { CompiledPolicy, Exemption } from "./types.ts";

/** What images of a repo are judged by, beside what is known of them. */
export interface InForce {
  /** The policies of its groups, the outermost group's first. */
  policies: readonly CompiledPolicy[];
  /** The signers that they name. */
  signers: readonly NamedSigner[];
  /** The name of the image with all its groups. */
  path: string;
}

interface ExemptionRow {
  parent: string;
  digest: string;
  tag: string;
  expire_time: number;
}

/** The policies of the groups above a repo, with its exemptions from them that have not ended. */
export async function policiesOf(tx: Database, repo: string, nowMs: number): Promise<InForce> {
  const groups = ancestorsOf(repo);
  const names = await groupNames(tx, groups);
  const path = [...namesTo(groups, names), await repoName(tx, repo)].join("/");
  const rows = await select<PolicyRow & { parent: string }>(
    tx,
    `select uid, parent, name, mode, actions, repo_pattern, tag_pattern, each_platform, rules, since, hold_tags, document_signers from signature_policies
     where parent in (${marks(groups)}) order by length(parent), parent, name`,
    groups,
  );
  if (rows.length === 0) return { policies: [], signers: [], path };
  const uids = rows.map(({ uid }) => uid);
  const exemptions = await select<ExemptionRow>(
    tx,
    `select parent, digest, tag, expire_time from signature_exemptions where parent in (${marks(uids)}) and repo = ? and expire_time > ? order by parent, expire_time desc`,
    [...uids, repo, nowMs],
  );
  const policies = rows.map((row) => {
    const own = exemptions.filter(({ parent }) => parent === row.uid);
    const group = namesTo([...ancestorsOf(row.parent), row.parent], names).join("/");
    return compilePolicy(
      row,
      group,
      own.map((each) => exemptionIn(each, repo)),
    );
  });
  return { policies, path, signers: await signersIn(tx, signersNamed(policies)) };
}

/** A policy that is not stored, as if it was in force in the group of the repo. */
export async function draftInForce(
  tx: Database,
  { row, group, repo }: { row: PolicyRow; group: string; repo: string },
): Promise<InForce> {
  const groups = ancestorsOf(repo);
  const names = await groupNames(tx, groups);
  const path = [...namesTo(groups, names), await repoName(tx, repo)].join("/");
  const policy = compilePolicy(row, namesTo([...ancestorsOf(group), group], names).join("/"), []);
  return { policies: [policy], path, signers: await signersIn(tx, signersNamed([policy])) };
}

function exemptionIn({ digest, tag, expire_time }: ExemptionRow, repo: string): Exemption {
  return { repo, digest, tag, expireMs: Number(expire_time) };
}

function signersNamed(policies: readonly CompiledPolicy[]): string[] {
  return [...new Set(policies.flatMap(({ rules }) => rules.flatMap(({ signers }) => signers)))];
}

/** The signers with these uids. */
export async function signersIn(tx: Database, uids: readonly string[]): Promise<NamedSigner[]> {
  if (uids.length === 0) return [];
  const rows = await select<{ uid: string; name: string; version: string; create_time: number; keyless: number }>(
    tx,
    `select uid, name, version, create_time, case when keyless is null and x509 is null then 0 else 1 end as keyless from signers where uid in (${marks(uids)})`,
    uids,
  );
  return rows.map(({ create_time, keyless, ...row }) => ({
    ...row,
    createMs: Number(create_time),
    isKeyless: Number(keyless) === 1,
  }));
}

async function groupNames(tx: Database, uids: readonly string[]): Promise<Map<string, string>> {
  const rows = await select<{ uid: string; name: string }>(
    tx,
    `select uid, name from groups where uid in (${marks(uids)})`,
    uids,
  );
  return new Map(rows.map(({ uid, name }) => [uid, name]));
}

/** The names of these groups, the outermost first. */
function namesTo(groups: readonly string[], names: ReadonlyMap<string, string>): string[] {
  return groups.toSorted((one, other) => one.length - other.length).flatMap((uid) => names.get(uid) ?? []);
}

async function repoName(tx: Database, repo: string): Promise<string> {
  const [row] = await select<{ name: string }>(tx, "select name from repos where uid = ? and parent = ?", [
    repo,
    parentOf(repo),
  ]);
  return row?.name ?? "";
}

function marks(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}
