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
