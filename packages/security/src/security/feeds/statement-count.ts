import { createTurns } from "@moorage/kernel/lib/turns";
import { type Database, select } from "@moorage/kernel/store";
import { parsedPurl } from "@moorage/kernel/lib/purls";
import { namedPackages } from "../packages/by-name.ts";
import { imageNameIn, MAX_DOCUMENT_CHARS, productKeyOf, statementsIn, VEX_FORMATS } from "../vex/trust.ts";
import { isAbout } from "../vex/applies.ts";
import { storable, storableIds } from "../vex/storable.ts";
import type { VexStatement } from "../vex/types.ts";

/** A statement of an import that is about nothing here. */
export interface UnmatchedStatement {
  record: string;
  ids: string[];
  status: string;
  /** As the document names it. */
  product: string;
  /** In words. */
  reason: string;
}

/** The most that are kept; all are counted. */
const MAX_KEPT = 1_000;
const MAX_NAMED = 500;
const ROWS = 300;

const NAMES_NOTHING = "it names no package and no image by a package URL";
const NAMES_NO_VULNERABILITY = "it names no vulnerability by an id";
const NO_IMAGE = "no repo has the name of the image";
const NO_PACKAGE = "no image here holds such a package";
const TOO_LARGE = `nothing of a document of more than ${MAX_DOCUMENT_CHARS} characters counts`;

/** Counts the statements of VEX documents that an import reads, and those about nothing that is stored here. */
export class StatementCount {
  total = 0;
  unmatched = 0;
  readonly kept: UnmatchedStatement[] = [];
  readonly #db: Database;
  readonly #format: string;
  readonly #turn = createTurns();

  constructor(db: Database, format: string) {
    this.#db = db;
    this.#format = format;
  }

  /** Counts what these records say. */
  async add(records: readonly { id: string; body: string }[]): Promise<void> {
    if (!VEX_FORMATS.includes(this.#format)) return;
    for (const { id, body } of records) {
      if (body.length > MAX_DOCUMENT_CHARS) {
        this.total += 1;
        this.#note(id, { ids: [], status: "under_investigation", product: "", component: "" }, TOO_LARGE);
        continue;
      }
      const statements = statementsIn(this.#format, body);
      this.total += statements.length;
      const isHeld = await this.#held(statements.map(targetOf).filter((target) => target !== undefined));
      for (const each of statements) {
        const target = targetOf(each);
        if (storableIds(each.ids).length === 0) this.#note(id, each, NAMES_NO_VULNERABILITY);
        else if (target === undefined) this.#note(id, each, NAMES_NOTHING);
        else if (!isHeld(target)) this.#note(id, each, imageOf(target) === undefined ? NO_PACKAGE : NO_IMAGE);
        await this.#turn();
      }
    }
  }

  #note(record: string, said: Pick<VexStatement, "ids" | "status" | "product" | "component">, reason: string): void {
    this.unmatched += 1;
    if (this.kept.length >= MAX_KEPT) return;
    const product = storable([said.component, said.product].filter(Boolean).join(" in ").slice(0, MAX_NAMED));
    this.kept.push({ record, ids: storableIds(said.ids), status: said.status, product, reason });
  }

  /** Which of the purls are of a package, or of an image, that is stored here. */
  async #held(purls: readonly string[]): Promise<(purl: string) => boolean> {
    const all = [...new Set(purls)];
    const images = await this.#repos(all.flatMap((purl) => imageOf(purl) ?? []));
    const packages = all.filter((purl) => imageOf(purl) === undefined);
    const named = await namedPackages(this.#db, packages, { turn: this.#turn });
    const held = new Set<string>();
    for (const purl of all) {
      const image = imageOf(purl);
      const isThere = image === undefined ? named(purl).some((each) => isAbout(purl, each)) : images.has(image);
      if (isThere) held.add(purl);
      await this.#turn();
    }
    return (purl) => held.has(purl);
  }

  /** Those of the names, in lower case, that a repo has. */
  async #repos(names: readonly string[]): Promise<ReadonlySet<string>> {
    const all = [...new Set(names)];
    const found = new Set<string>();
    for (let at = 0; at < all.length; at += ROWS) {
      const some = all.slice(at, at + ROWS);
      const rows = await select<{ name: string }>(
        this.#db,
        `select distinct lower(name) as name from repos where lower(name) in (${some.map(() => "?").join(", ")})`,
        some,
      );
      for (const { name } of rows) found.add(name);
      await this.#turn();
    }
    return found;
  }
}

/** The purl of what the statement is about: an image, or a package. Undefined for what is neither. */
function targetOf({ product, component }: VexStatement): string | undefined {
  const named = product || component;
  if (parsedPurl(named) === undefined) return undefined;
  if (imageOf(named) !== undefined || component === "") return named;
  return parsedPurl(component) === undefined ? undefined : component;
}

/** The name of the image that a purl means; undefined for a package. */
function imageOf(purl: string): string | undefined {
  return imageNameIn(productKeyOf(purl) ?? "");
}
