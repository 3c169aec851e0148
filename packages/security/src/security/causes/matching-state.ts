import type { Database } from "@moorage/kernel/store";

/** How far one of the parts of matching has come: see the table `matching`. */
export interface MatchingState {
  value: number;
  position: string;
}

type MatchingPart = "archives" | "changes" | "documents" | "packages" | "statements";

export async function readState(tx: Database, name: MatchingPart): Promise<MatchingState> {
  const row = await tx.selectFrom("matching").select(["value", "position"]).where("name", "=", name).executeTakeFirst();
  return row ?? { value: 0, position: "" };
}

export async function writeState(tx: Database, name: MatchingPart, state: MatchingState): Promise<void> {
  await tx
    .insertInto("matching")
    .values({ name, ...state })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ ...state }))
    .execute();
}

/** How much work there is. */
export interface MatchingBacklog {
  /** Packages that were not compared with the records yet. */
  packages: number;
  /** Records that changed and were not compared with the packages yet. */
  records: number;
}

/** More are not counted. */
const MAX_COUNTED = 100_000;

/** Whether there is work. Reads a few rows. */
export async function isAnyWaiting(db: Database): Promise<boolean> {
  const values = [await readState(db, "changes"), await readState(db, "archives")].map(({ value }) => value);
  const record = db
    .selectFrom("feed_records")
    .select("change")
    .where("change", ">", Math.min(...values))
    .limit(1);
  const some = db.selectFrom("packages").select("id").where("matched", "is", null).limit(1);
  const feed = db.selectFrom("feeds").select("name").where("restate", "<>", "").limit(1);
  for (const each of [record, some, feed]) if ((await each.executeTakeFirst()) !== undefined) return true;
  return false;
}

export async function matchingBacklog(db: Database): Promise<MatchingBacklog> {
  const { value } = await readState(db, "changes");
  const count = async (name: "packages" | "records"): Promise<number> => {
    const rows = db
      .selectFrom((from) =>
        name === "packages"
          ? from.selectFrom("packages").select("id").where("matched", "is", null).limit(MAX_COUNTED).as("w")
          : from.selectFrom("feed_records").select("id").where("change", ">", value).limit(MAX_COUNTED).as("w"),
      )
      .select(({ fn }) => fn.countAll<number | string>().as("n"));
    return Number((await rows.executeTakeFirst())?.n ?? 0);
  };
  return { packages: await count("packages"), records: await count("records") };
}
