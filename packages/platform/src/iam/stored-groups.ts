import { hash } from "node:crypto";
import type { Call } from "@moorage/kernel/core/call";
import { after, type Awaitable } from "@moorage/kernel/lib/awaitable";
import { createLru } from "@moorage/kernel/lib/lru";
import { type Database, statement } from "@moorage/kernel/store";

/** A person's groups as tokens and sessions carry them. */
export interface CarriedGroups {
  groups: string[];
  /** Set when the groups are too many for a token: the uid of the row that has all of them. */
  set?: string;
}

// What a token carries must be small enough for every proxy.
const MAX_TOKEN_GROUPS = 200;
const MAX_TOKEN_BYTES = 3_000;
const MAX_STORED_BYTES = 256 * 1024;
const MAX_SETS = 10;

/**
 * What the tokens of a sign-in carry of its groups, and how many fit nowhere: as many as fit into a token, and, where
 * that is not all, a row with all of them, which is good until the provider's token ends. `mapped`: those that a
 * mapping names today, which come first.
 */
export async function carryGroups(
  call: Call,
  { identity, provider, untilMs }: { identity: string; provider: string; untilMs: number },
  groups: readonly string[],
  mapped: ReadonlySet<string>,
): Promise<{ carried: CarriedGroups; tooMany: number }> {
  const ordered = [...groups.filter((one) => mapped.has(one)), ...groups.filter((one) => !mapped.has(one))];
  const small = withinBytes(ordered.slice(0, MAX_TOKEN_GROUPS), MAX_TOKEN_BYTES);
  if (small.length === ordered.length) return { carried: { groups: small }, tooMany: 0 };
  const stored = withinBytes(ordered, MAX_STORED_BYTES);
  const text = JSON.stringify(stored);
  const uid = hash("sha256", JSON.stringify([identity, provider, text]), "hex").slice(0, 40);
  await call.tx
    .deleteFrom("sign_in_groups")
    .where("identity", "=", identity)
    .where("expire_time", "<=", call.nowMs)
    .execute();
  const known = await call.tx
    .selectFrom("sign_in_groups")
    .select("expire_time")
    .where("uid", "=", uid)
    .executeTakeFirst();
  if (known === undefined) {
    await removeExcess(call, identity);
    await call.tx
      .insertInto("sign_in_groups")
      .values({ uid, identity, provider, external_groups: text, expire_time: untilMs })
      .execute();
  } else if (known.expire_time < untilMs)
    await call.tx.updateTable("sign_in_groups").set({ expire_time: untilMs }).where("uid", "=", uid).execute();
  return { carried: { groups: small, set: uid }, tooMany: ordered.length - stored.length };
}

function withinBytes(groups: readonly string[], maxBytes: number): string[] {
  let bytes = 0;
  const end = groups.findIndex((group) => (bytes += Buffer.byteLength(JSON.stringify(group)) + 1) > maxBytes);
  return groups.slice(0, end < 0 ? groups.length : end);
}

// Tokens with other groups are from other sign-ins, of which the oldest go.
async function removeExcess({ tx }: Call, identity: string): Promise<void> {
  const rows = await tx
    .selectFrom("sign_in_groups")
    .select("uid")
    .where("identity", "=", identity)
    .orderBy("expire_time", "desc")
    .orderBy("uid")
    .execute();
  const excess = rows.slice(MAX_SETS - 1).map(({ uid }) => uid);
  if (excess.length > 0) await tx.deleteFrom("sign_in_groups").where("uid", "in", excess).execute();
}

const select = statement<{ external_groups: string }>(
  "select external_groups from sign_in_groups where uid = ? and identity = ? and provider = ?",
  ["text", "text", "text"],
);
const MAX_CACHED_LENGTH = 2 ** 23;
const parsed = createLru<string, { text: string; groups: string[] }>(MAX_CACHED_LENGTH, ({ text }) => text.length);

/** The groups that the caller's sign-in stated; those in its token when the row with all of them is gone. */
export function statedGroups(
  db: Database,
  identity: string,
  { provider, groups, set }: { provider: string; groups: string[]; set?: string },
): Awaitable<string[]> {
  if (set === undefined) return groups;
  return after(select(db, set, identity, provider), ([row]) => {
    if (row === undefined) return groups;
    const known = parsed.get(set);
    // The uid is made of the groups: the same one has the same.
    if (known !== undefined) return known.groups;
    const fresh = { text: row.external_groups, groups: JSON.parse(row.external_groups) as string[] };
    parsed.set(set, fresh);
    return fresh.groups;
  });
}
