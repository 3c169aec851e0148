import { type CatalogLimits, CatalogError, type FoundPackage } from "./types.ts";

/**
 * What reading one image has used up, over all its layers and all readers. Each part is counted before it is kept or
 * unpacked further; whoever exceeds a limit ends with a CatalogError that names it.
 */
export class ReadingBudget {
  readonly limits: CatalogLimits;
  #bytes = 0;
  #entries = 0;
  #packages = 0;
  #characters = 0;

  constructor(limits: CatalogLimits) {
    this.limits = limits;
  }

  /** Bytes that were unpacked, of a layer or of an archive in it. */
  unpack(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.limits.bytes)
      throw new CatalogError(`the image unpacks to more than ${this.limits.bytes} bytes`);
  }

  /** An entry of a layer or of an archive in it. */
  enter(): void {
    this.#entries += 1;
    if (this.#entries > this.limits.entries)
      throw new CatalogError(`the image has more than ${this.limits.entries} entries`);
  }

  /** A package, and how much text is kept for it, in characters. */
  find(characters: number): void {
    this.#packages += 1;
    if (this.#packages > this.limits.packages)
      throw new CatalogError(`the image has more than ${this.limits.packages} packages`);
    this.hold(characters);
  }

  /** Text that is kept until the image was read, in characters. */
  hold(characters: number): void {
    this.#characters += characters;
    if (this.#characters > this.limits.characters)
      throw new CatalogError(
        `names, versions and paths of its packages have more than ${this.limits.characters} characters`,
      );
  }
}

/**
 * The longest names of packages and of their sources, places inside of an archive, and other texts that real packages
 * have, in characters. Longer names are too long for an index.
 */
const MAX_NAME = 256;
const MAX_INNER = 4_096;
const MAX_FIELD = 512;
const MAX_CLUES = 12_000;
const MAX_LENGTHS: Partial<Record<string, number>> = {
  name: MAX_NAME,
  sourceName: MAX_NAME,
  inner: MAX_INNER,
  clues: MAX_CLUES,
};

/** The packages of one file: a reader adds them one by one, and each counts. */
export class FoundPackages {
  readonly list: FoundPackage[] = [];
  readonly budget: ReadingBudget;
  readonly #pathLength: number;
  #leftOut = 0;

  /** `path`: of the file, which is kept for each package. */
  constructor(budget: ReadingBudget, path: string) {
    this.budget = budget;
    this.#pathLength = path.length;
  }

  /** How many were left out, since they have texts that no real package has. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Counts a package that has no name or no version, or one that none can have. */
  leaveOut(): void {
    this.#leftOut += 1;
    this.budget.find(0);
  }

  add(found: FoundPackage): void {
    const kept = detached(found);
    // What is left out counts as well: an image has not many of these.
    if (kept === undefined) return this.leaveOut();
    this.budget.find(charactersOf(kept) + this.#pathLength);
    this.list.push(kept);
  }
}

/** Counts packages that a file holds through a link to another one. */
export function countLinked(budget: ReadingBudget, path: string, packages: readonly FoundPackage[]): void {
  for (const each of packages) budget.find(charactersOf(each) + path.length);
}

function charactersOf(found: FoundPackage): number {
  let count = 0;
  for (const value of Object.values(found) as string[]) count += value.length;
  return count;
}

/**
 * The package with texts of its own: parts of a text keep all of it in memory. Undefined when a text is longer than
 * that of any package, or has a zero, which no database takes; a license is cut instead.
 */
function detached(found: FoundPackage): FoundPackage | undefined {
  const own: Record<string, string> = {};
  for (const [field, value] of Object.entries(found) as [string, string][]) {
    if (field === "licence") own[field] = copyOf(value.slice(0, MAX_FIELD).replaceAll("\0", ""));
    else if (value.length > (MAX_LENGTHS[field] ?? MAX_FIELD) || value.includes("\0")) return undefined;
    else own[field] = copyOf(value);
  }
  return own as unknown as FoundPackage;
}

/** Shorter parts of a text are copies already. */
const MIN_PART = 13;

function copyOf(text: string): string {
  return text.length < MIN_PART ? text : Buffer.from(text, "utf8").toString("utf8");
}
