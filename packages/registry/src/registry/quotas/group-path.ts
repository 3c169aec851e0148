import { ancestorsOf } from "@moorage/kernel/lib/uid";
import type { Database } from "@moorage/kernel/store";

/** The path of a group by the current names, as `acme/team`. */
export async function groupPath(db: Database, group: string): Promise<string> {
  const uids = [...ancestorsOf(group), group];
  const rows = await db.selectFrom("groups").select(["uid", "name"]).where("uid", "in", uids).execute();
  const names = new Map(rows.map(({ uid, name }) => [uid, name]));
  return uids.map((uid) => names.get(uid) ?? uid.slice(-16)).join("/");
}
