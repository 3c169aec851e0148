import { Capability, GroupSchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { Code, MoorageError } from "@moorage/kernel/errors";

// The names of organizations are the beginning of image paths. One that an organization had before is kept from others
// for a while: whoever pulls by the old path must not get somebody else's images.

/** How long a freed name is kept, in milliseconds. */
const KEPT_MS = 30 * 86_400_000;

/**
 * Throws ALREADY_EXISTS if another organization has the name, or had it until less than 30 days ago. `own`: the
 * organization that is to have it, empty for a new one; it may take back the names that it freed. Unless the caller
 * sees the organization that has the name, the error is the same in both cases.
 */
export async function requireNameFree(call: Call, name: string, own = ""): Promise<void> {
  const { tx, nowMs } = call;
  const holder = await tx
    .selectFrom("groups")
    .select("uid")
    .where("parent", "=", "")
    .where("name", "=", name)
    .where("uid", "!=", own)
    .executeTakeFirst();
  // What the caller sees is reported as every other name that is taken.
  if (holder !== undefined && (await call.may(Capability.CAP_IAM_GROUPS_LIST, holder.uid))) return;
  const freed = await tx
    .selectFrom("freed_names")
    .select("uid")
    .where("name", "=", name)
    .where("uid", "!=", own)
    .where("free_time", ">", nowMs - KEPT_MS)
    .executeTakeFirst();
  if (holder === undefined && freed === undefined) return;
  throw new MoorageError(
    Code.AlreadyExists,
    `Group name cannot be had: it is taken, or was until less than 30 days ago: ${name}`,
    { resource: { type: GroupSchema.typeName, name } },
  );
}

/** Keeps a name that the organization had from others, and forgets those that were kept for long enough. */
export async function keepFreedName({ tx, nowMs }: Call, name: string, uid: string): Promise<void> {
  await tx
    .deleteFrom("freed_names")
    .where("free_time", "<=", nowMs - KEPT_MS)
    .execute();
  await tx
    .insertInto("freed_names")
    .values({ name, uid, free_time: nowMs })
    .onConflict((on) => on.column("name").doUpdateSet({ uid, free_time: nowMs }))
    .execute();
}
