import type { Call } from "../core/call.ts";
import { type Database, select } from "../store/index.ts";
import { countStatements } from "./attached/statements.ts";
import { marks } from "./findings/images.ts";
import { countedSources, type ImageAsOf } from "./findings/image-packages.ts";

/** What is counted before it is read, so that a call says by `weigh` how much it is. */
type Weighing = Pick<Call, "tx" | "weigh">;

/** Looking whether a package has findings takes a fifth of what reading it does, and a finding as long as four. */
const PACKAGES_A_ROW = 5;
const ROWS_A_FINDING = 4;
/** More are not counted. */
const MOST_FINDINGS = 1_000;
const BYTES_A_ROW = 512;

/** In how many places the sources say that the image holds a package; one look into an index for each. */
export async function placesOf(tx: Database, digest: string, sources: readonly string[]): Promise<number> {
  let places = 0;
  for (const source of sources) {
    const rows = await select<{ n: number | string | null }>(
      tx,
      "select max(n) as n from image_packages where digest = ? and source = ?",
      [digest, source],
    );
    const last = rows[0]?.n;
    places += last === null || last === undefined ? 0 : Number(last) + 1;
  }
  return places;
}

/** Weighs the reading of the findings of an image. */
export async function weighFindings(call: Weighing, image: ImageAsOf): Promise<void> {
  const sources = await countedSources(call.tx, image);
  if (sources.length === 0) return;
  call.weigh((await placesOf(call.tx, image.digest, sources)) / PACKAGES_A_ROW);
  const rows = await select<{ n: number | string }>(
    call.tx,
    `select count(*) as n from (select 1 from package_findings as f where f.package in
       (select i.package from image_packages as i where i.digest = ? and i.source in (${marks(sources)})) limit ${MOST_FINDINGS}) as found`,
    [image.digest, ...sources],
  );
  const findings = Number(rows[0]?.n ?? 0);
  call.weigh(findings * ROWS_A_FINDING);
  // What is attached is read only where there is something that it may speak of.
  if (findings > 0) call.weigh(await countStatements(call.tx, image));
}

/** Weighs a text of so many bytes, such as JSON that is about to be parsed. */
export function weighBytes(call: Pick<Call, "weigh">, bytes: number): void {
  call.weigh(bytes / BYTES_A_ROW);
}
