import type { Call } from "@moorage/kernel/core/call";
import { type Database, embeddedOf, select } from "@moorage/kernel/store";
import { marks } from "../marks.ts";
import { countedSources, type ImageAsOf } from "./image-packages.ts";

/** What is counted before it is read, so that a call says by `weigh` how much it is. */
type Weighing = Pick<Call, "tx" | "weigh">;

/** Looking whether a package has findings takes a fifth of what reading it does, and a finding as long as four. */
const PACKAGES_A_ROW = 5;
const ROWS_A_FINDING = 4;

/** More are not counted. */
const MOST_FINDINGS = 1_000;

/** Among more packages than these, all of the image are counted. */
const MOST_NAMED = 400;
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

/**
 * Weighs the reading of the findings of an image, or of some packages of it, but not of what is attached to it: that is
 * weighed by what reads it. Returns the sources that count, for the reading itself.
 */
export async function weighFindings(
  call: Weighing,
  image: ImageAsOf & { packages?: readonly string[]; sources?: readonly string[] },
): Promise<readonly string[]> {
  const { tx } = call;
  const sources = image.sources ?? (await countedSources(tx, image));
  if (sources.length === 0) return sources;
  const places = await placesOf(tx, image.digest, sources);
  const { packages = [] } = image;
  const isSome = image.packages !== undefined && packages.length <= MOST_NAMED;
  call.weigh((isSome ? Math.min(places, packages.length) : places) / PACKAGES_A_ROW);
  const among = isSome ? packages : undefined;
  const findings = among?.length === 0 ? 0 : await countFindings(tx, image.digest, sources, among);
  call.weigh(findings * ROWS_A_FINDING);
  return sources;
}

/**
 * Counts the findings of an image's packages, up to a limit. PostgreSQL would rather read a small table of findings
 * whole than look up the packages, which costs more with each image that there is: `offset 0` has it look up each one.
 */
async function countFindings(
  tx: Database,
  digest: string,
  sources: readonly string[],
  among: readonly string[] | undefined,
): Promise<number> {
  const some = among === undefined ? "" : ` and i.package in (${marks(among)})`;
  const packages = `select i.package from image_packages as i where i.digest = ? and i.source in (${marks(sources)})${some}`;
  const found =
    embeddedOf(tx) === undefined
      ? `(${packages} group by i.package offset 0) as p cross join lateral (select 1 from package_findings as f where f.package = p.package offset 0) as one`
      : `package_findings as f where f.package in (${packages})`;
  const rows = await select<{ n: number | string }>(
    tx,
    `select count(*) as n from (select 1 from ${found} limit ${MOST_FINDINGS}) as found`,
    [digest, ...sources, ...(among ?? [])],
  );
  return Number(rows[0]?.n ?? 0);
}

/** Weighs a text of so many bytes, such as JSON that is about to be parsed. */
export function weighBytes(call: Pick<Call, "weigh">, bytes: number): void {
  call.weigh(bytes / BYTES_A_ROW);
}
