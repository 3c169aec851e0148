import { type Database, statement } from "@moorage/kernel/store";

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

/** What there is to do, by kinds. */
export interface MatchingWork {
  /** A feed is being imported: its changes are emitted together, when it has ended. */
  importing: boolean;
  /** A feed may decide about other products than before. */
  restated: boolean;
  /** Java archives were not looked at again since records changed. */
  archives: boolean;
  /** Packages were not compared with the records yet. */
  packages: boolean;
  /** Records that changed were not compared with the packages yet. */
  changes: boolean;
  /** It is not known yet which images something is about. */
  causes: boolean;
  /** The findings of images are to be compared with what was emitted of them. */
  checks: boolean;
}

/** An import that has not ended after this time has perhaps been killed, in milliseconds. */
const LONGEST_IMPORT_MS = 900_000;

const changedSince = (part: MatchingPart): string =>
  `select 1 from feed_records where change > coalesce((select value from matching where name = '${part}'), 0) limit 1`;
const selectWork = statement<Record<keyof MatchingWork, number | null>>(
  `select
     (select 1 from feeds where run <> '' and attempt_time > ? limit 1) as importing,
     (select 1 from feeds where restate <> '' limit 1) as restated,
     (${changedSince("archives")}) as archives,
     (select 1 from packages where matched is null limit 1) as packages,
     (${changedSince("changes")}) as changes,
     (select 1 from finding_causes limit 1) as causes,
     (select 1 from finding_checks limit 1) as checks`,
);

/** One statement, which finds at most one row of each kind. */
export async function matchingWork(db: Database, nowMs: number): Promise<MatchingWork> {
  const [row] = await selectWork(db, nowMs - LONGEST_IMPORT_MS);
  const has = (part: keyof MatchingWork): boolean => Number(row?.[part] ?? 0) > 0;
  return {
    importing: has("importing"),
    restated: has("restated"),
    archives: has("archives"),
    packages: has("packages"),
    changes: has("changes"),
    causes: has("causes"),
    checks: has("checks"),
  };
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
