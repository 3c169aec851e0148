import { type Database, select } from "@moorage/kernel/store";
import { CATALOG_STATE } from "../catalog/rows.ts";
import { IS_SIGNED_AS_ASKED } from "./layers.ts";
import { bomLink, refsIn } from "../vex/bom-links.ts";

/** A statement whose target may be a BOM-Link, and whether it decides nothing. */
interface Linking {
  target: string;
  isClaim: boolean;
}

interface Found {
  serial: string;
  ref: string;
  purl: string;
  trusted: number;
}

const ROWS = 200;

/**
 * The purls of the components that BOM-Links mean, by the SBOMs that are attached to the image in the repo. What
 * decides is resolved by documents alone that somebody attached who may write advisories. Undefined for a link to
 * nothing that is attached, or that documents of the same serial number resolve differently.
 */
export async function resolveLinks(
  db: Database,
  { repo, subjects }: { repo: string; subjects: readonly string[] },
  statements: readonly Linking[],
): Promise<(statement: Linking) => string | undefined> {
  const links = [...new Set(statements.map(({ target }) => target))].filter((target) => bomLink(target) !== undefined);
  const refs = [...new Set(links.flatMap(refsIn))];
  const found = new Map<string, Found[]>();
  for (let at = 0; at < refs.length; at += ROWS) {
    const some = refs.slice(at, at + ROWS);
    const marks = (values: readonly unknown[]): string => values.map(() => "?").join(", ");
    const rows = await select<Found>(
      db,
      `select lower(d.document_id) as serial, r.ref, r.purl, a.trusted from attachments as a
       join attached_readings as o on o.subject = a.subject and o.manifest = a.manifest and o.state = ${CATALOG_STATE.done}
       join attached_documents as d on d.subject = a.subject and d.manifest = a.manifest and d.packages > 0 and ${IS_SIGNED_AS_ASKED}
       join attached_refs as r on r.subject = d.subject and r.manifest = d.manifest and r.n = d.n
       where a.repo = ? and a.subject in (${marks(subjects)}) and a.until_time is null and r.ref in (${marks(some)})`,
      [repo, ...subjects, ...some],
    );
    for (const row of rows) {
      const key = `${row.serial} ${row.ref}`;
      found.set(key, [...(found.get(key) ?? []), row]);
    }
  }
  return ({ target, isClaim }) => {
    const link = bomLink(target);
    if (link === undefined) return target;
    const meant = refsIn(target).flatMap((ref) => found.get(`urn:uuid:${link.serialNumber} ${ref}`) ?? []);
    const purls = new Set(meant.filter(({ trusted }) => isClaim || trusted === 1).map(({ purl }) => purl));
    return purls.size === 1 ? [...purls][0] : undefined;
  };
}
