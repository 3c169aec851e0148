import type { Call } from "@moorage/kernel/core/call";
import { type Database, type Row, select } from "@moorage/kernel/store";
import type { StatedCause } from "../causes/statement-causes.ts";
import { imageNameIn, productKeysOf } from "../vex/trust.ts";
import { statedPackage } from "../vex/applies.ts";
import { affectedBy } from "../packages/candidates.ts";
import { type FindingCause, notePackageChanges } from "../causes/causes.ts";
import type { ImageName } from "../images/images.ts";
import { marks } from "../marks.ts";

// Rows per statement, below the parameter limit of every engine.
const ROWS = 300;

/** The next images that a statement of a feed may be about; those of packages become causes of their own. */
export async function statedImages(
  call: Pick<Call, "tx" | "nowMs">,
  { subject, position }: FindingCause,
  limit: number,
): Promise<{ images: ImageName[]; digests: number; position?: string }> {
  const { tx } = call;
  const { key, ids } = JSON.parse(subject) as StatedCause;
  const name = imageNameIn(key);
  if (name === undefined) {
    const packages = await packagesUnder(tx, key, await affectedBy(tx, ids));
    await notePackageChanges(call, packages);
    return { images: [], digests: packages.length };
  }
  const [repo, digest] = position === "" ? ["", ""] : (JSON.parse(position) as [string, string]);
  const images = await select<ImageName>(
    tx,
    `select m.repo, m.digest from repos as r join manifests as m on m.repo = r.uid where r.name = ? and (m.repo, m.digest) > (?, ?)
     order by m.repo, m.digest limit ?`,
    [name, repo, digest, limit],
  );
  const last = images.length < limit ? undefined : images.at(-1);
  return {
    images,
    digests: images.length,
    ...(last !== undefined && { position: JSON.stringify([last.repo, last.digest]) }),
  };
}

type StatedRow = Pick<Row<"packages">, "id" | "purl" | "source_name" | "source_version">;

/** Those of the packages that statements with the key are about. */
async function packagesUnder(tx: Database, key: string, packages: ReadonlySet<string>): Promise<string[]> {
  const all = [...packages];
  const found: string[] = [];
  for (let at = 0; at < all.length; at += ROWS) {
    const some = all.slice(at, at + ROWS);
    const rows = await select<StatedRow>(
      tx,
      `select id, purl, source_name, source_version from packages where id in (${marks(some)})`,
      some,
    );
    found.push(...rows.filter((row) => productKeysOf(statedPackage(row)).includes(key)).map(({ id }) => id));
  }
  return found;
}
