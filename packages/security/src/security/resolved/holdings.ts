import type { Call } from "@moorage/kernel/core/call";
import { Code, invalidArgument, MoorageError } from "@moorage/kernel/errors";
import { parsedPurl, purlWithoutVersion } from "@moorage/kernel/lib/purls";
import { createTurns } from "@moorage/kernel/lib/turns";
import { type Row, statement } from "@moorage/kernel/store";
import { REGISTRY_BY_PURL_TYPE } from "../matching/ecosystems.ts";
import { sourcesFor } from "../images/holdings.ts";

/** A package that images hold. */
export interface HeldPackage extends Omit<Row<"packages">, "matched"> {
  /** The purl without version and qualifiers. */
  base: string;
}

/** An image of which it is known what it holds. `key`: where its packages stand. */
export interface HeldImage {
  key: string;
  architecture: string;
}

/** Where a package lies. */
export interface Occurrence {
  /** The key of the image. */
  image: string;
  path: string;
}

type PackageRow = Omit<Row<"packages">, "matched">;

/** The most images whose packages are read for one answer, and the most packages of all of them. */
const MAX_IMAGES = 4_000;
const MAX_PACKAGES = 400_000;
const SLICE = 5_000;

const selectSlice = statement<PackageRow & { path: string }>(
  `select p.id, p.ecosystem, p.source_name, p.source_version, p.purl, p.name, p.version, p.licence, i.path
    from image_packages as i join packages as p on p.id = i.package
    where i.digest = ? and i.source = ? and i.n >= ? and i.n < ? order by i.n`,
  ["text", "text", "bigint", "bigint"],
);

/** The packages of images, read once for an answer. */
export class Held {
  /** By their ids. */
  readonly packages = new Map<string, HeldPackage>();
  /** Where each package lies, by its id. */
  readonly places = new Map<string, Occurrence[]>();
  /** The packages of each image, by its key. */
  readonly images = new Map<string, Set<string>>();
  readonly #call: Pick<Call, "tx" | "requireCaller">;
  readonly #digests = new Map<string, HeldImage[] | undefined>();
  readonly #named = new Map<string, Set<HeldPackage>>();
  readonly #turn = createTurns();
  #left = MAX_PACKAGES;

  constructor(call: Pick<Call, "tx" | "requireCaller">) {
    this.#call = call;
  }

  /**
   * The images of a digest in a repo: itself, or those of an index. Undefined when it is not known what all of them
   * hold. Throws INVALID_ARGUMENT on `image_refs` when there are too many to look at.
   */
  async imagesOf(repo: string, digest: string): Promise<readonly HeldImage[] | undefined> {
    const name = `${repo} ${digest}`;
    if (this.#digests.has(name)) return this.#digests.get(name);
    const found = await this.#known(repo, digest);
    const images: HeldImage[] = [];
    for (const of of Map.groupBy(found ?? [], ({ image }) => image.digest).values()) {
      const [{ image } = { image: { digest, architecture: "" } }] = of;
      const sources = of.map(({ source }) => source.source);
      const key = [image.digest, ...sources].join(" ");
      images.push({ key, architecture: image.architecture });
      if (this.images.has(key)) continue;
      this.images.set(key, new Set());
      if (this.images.size > MAX_IMAGES) throw tooMany(`${MAX_IMAGES} images`);
      for (const source of sources) await this.#read(key, image.digest, source);
    }
    const known = images.length === 0 ? undefined : images;
    this.#digests.set(name, known);
    return known;
  }

  /** The packages of this name or of this source. `type`: of which type of purl; any when undefined. */
  named(type: string | undefined, name: string): ReadonlySet<HeldPackage> {
    return this.#named.get(nameKey(type, name)) ?? NONE;
  }

  async #known(repo: string, digest: string) {
    try {
      return await sourcesFor(this.#call.tx, { repo, digest, architecture: "", source: "" });
    } catch (error) {
      // It is not stored, waits to be read, could not be read, or is an index of too many images.
      if (error instanceof MoorageError && UNKNOWN.has(error.code)) return undefined;
      throw error;
    }
  }

  async #read(key: string, digest: string, source: string): Promise<void> {
    const ids = this.images.get(key) ?? new Set<string>();
    for (let n = 0; ; n += SLICE) {
      const rows = await selectSlice(this.#call.tx, digest, source, n, n + SLICE);
      this.#left -= rows.length;
      if (this.#left < 0) throw tooMany(`${MAX_PACKAGES} packages`);
      for (const row of rows) {
        ids.add(row.id);
        const { path, ...held } = row;
        this.#placesOf(held).push({ image: key, path });
      }
      await this.#turn();
      this.#call.requireCaller();
      if (rows.length < SLICE) return;
    }
  }

  /** Where the package lies, to be added to. */
  #placesOf(row: PackageRow): Occurrence[] {
    const known = this.places.get(row.id);
    if (known !== undefined) return known;
    const { type = "" } = parsedPurl(row.purl) ?? {};
    const held = { ...row, base: purlWithoutVersion(row.purl) };
    this.packages.set(row.id, held);
    const isOfLanguage = REGISTRY_BY_PURL_TYPE.has(type);
    for (const name of isOfLanguage ? [row.name] : [row.name, row.source_name])
      for (const key of [nameKey(type, name), nameKey(undefined, name)]) {
        const others = this.#named.get(key) ?? new Set();
        this.#named.set(key, others.add(held));
      }
    const places: Occurrence[] = [];
    this.places.set(row.id, places);
    return places;
  }
}

const NONE: ReadonlySet<HeldPackage> = new Set();
const UNKNOWN: ReadonlySet<Code> = new Set([Code.NotFound, Code.FailedPrecondition, Code.InvalidArgument]);

/** Packages of a language are the same however their registry lets their name be written. */
function nameKey(type: string | undefined, name: string): string {
  const registry = type === undefined ? undefined : REGISTRY_BY_PURL_TYPE.get(type);
  return `${type ?? "*"} ${registry?.normalize(name) ?? name}`;
}

function tooMany(what: string): Error {
  const description = `the tags had more than ${what} on these days: ask for fewer of them`;
  return invalidArgument({ field: "image_refs", description });
}
