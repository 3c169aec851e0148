import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { fromBufferPromise, openPromise, type ZipFile } from "yauzl";
import { type HeldFile, TempFolderError } from "../held-file.ts";
import type { FoundPackages } from "../budget.ts";
import { CatalogError, type FoundPackage, type Reading } from "../types.ts";
import type { FileReader } from "../reader.ts";
import { type ArchiveClues, ClassFolders, cluesOf, isAnyOwn, statedCoordinates } from "./java-clues.ts";
import { builtVersion, stemOf } from "./java-file-name.ts";
import { isOfJava, licenceIn, type Manifest, manifestOf, namesIn, versionsIn } from "./java-manifest.ts";
import { type Coordinates, fromPom, fromProperties } from "./java-pom.ts";
import { withoutScript } from "./zip-start.ts";

const ARCHIVE = /\.(?:jar|war|ear|sar|par|rar|jpi|hpi|nar|kar)$/i;
const MANIFEST = "META-INF/MANIFEST.MF";
const MAVEN = /(?:^|\/)META-INF\/maven\/[^/]+\/[^/]+\/pom\.(?:properties|xml)$/;

/** An archive inside of an archive inside of an archive, that deep. */
const MAX_DEPTH = 8;
const MAX_ENTRIES = 200_000;

/** Together, of all archives inside of one and all that is read of them. */
const MAX_UNPACKED_BYTES = 4 * 1024 ** 3;
const MAX_TEXT_BYTES = 1024 * 1024;
const HASHED_BYTES = 1024 * 1024;

/** What was read of one file and what is in it; both count for the image, too. */
interface Budget {
  entries: number;
  bytes: number;
  packages: FoundPackages;
}

/** What an archive holds that says what it is. */
interface Contents {
  manifest: Manifest;
  /** What Maven wrote, by group and artifact. */
  poms: Map<string, Coordinates>;
  classes: ClassFolders;
  isAnyArchive: boolean;
}

/**
 * Java archives, and those inside of them, also behind a script. Source: the JAR file specification, Maven Archiver.
 */
export const javaReader: FileReader = {
  name: "java",
  maxBytes: 2 * 1024 ** 3,
  wants: (path) => ARCHIVE.test(path),
  accepts: (head) => ["PK", "#!", "MZ"].includes(head.toString("latin1", 0, 2)),
  async read(file, packages, path) {
    const reading: Reading = {};
    await readArchive(file, path, "", 0, { entries: 0, bytes: 0, packages }, reading);
    return reading;
  },
};

/** Adds what the archive holds. `inner`: its path in the outermost, empty for that itself. */
async function readArchive(
  file: HeldFile,
  path: string,
  inner: string,
  depth: number,
  budget: Budget,
  reading: Reading,
): Promise<void> {
  const contents: Contents = { manifest: new Map(), poms: new Map(), classes: new ClassFolders(), isAnyArchive: false };
  let tooLarge: string | undefined;
  const add = (found: FoundPackage): void => budget.packages.add(inner === "" ? found : { ...found, inner });
  const body = withoutScript(file);
  let isWhole = false;
  try {
    for await (const [zip, entry] of entriesOf(body)) {
      budget.entries += 1;
      budget.packages.budget.enter();
      if (budget.entries > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`);
      const name = entry.fileName;
      contents.classes.see(name);
      const isText = name === MANIFEST || MAVEN.test(name);
      if (!isText && !ARCHIVE.test(name)) continue;
      if (isText && entry.uncompressedSize > MAX_TEXT_BYTES) {
        tooLarge = name;
        continue;
      }
      if (!isText) contents.isAnyArchive = true;
      if (!isText && depth >= MAX_DEPTH) throw new Error(`archives lie in it more than ${MAX_DEPTH} deep`);
      const content = await extract(zip, entry, file.another(), budget);
      try {
        const place = inner === "" ? name : `${inner}!/${name}`;
        if (!isText) await readArchive(content, name, place, depth + 1, budget, reading);
        else if (name === MANIFEST) contents.manifest = manifestOf(content.text());
        else addPom(contents.poms, name, content.text());
      } finally {
        content.release();
      }
    }
    if (contents.poms.size === 0 && tooLarge !== undefined) throw new Error(`${tooLarge.slice(0, 100)} is too large`);
    isWhole = true;
  } catch (error) {
    if (error instanceof CatalogError || error instanceof TempFolderError) throw error;
    const place = inner === "" ? "" : `${inner}: `;
    reading.unread ??= `${place.slice(-200)}${(error as Error).message}`.slice(0, 300);
  } finally {
    if (body !== file) body.release();
  }
  // What could not be read as a whole is named as that.
  for (const found of packagesOf(path, contents)) add(isWhole ? withSum(found, file) : { ...found, clues: "" });
}

async function* entriesOf(file: HeldFile): AsyncGenerator<[ZipFile, Parameters<ZipFile["openReadStreamPromise"]>[0]]> {
  const options = { lazyEntries: true, autoClose: false };
  const zip = await (file.size <= 8 * 1024 * 1024
    ? fromBufferPromise(file.whole(), options)
    : openPromise(file.path(), options));
  try {
    for await (const entry of zip.eachEntry()) yield [zip, entry];
  } finally {
    zip.close();
  }
}

async function extract(
  zip: ZipFile,
  entry: Parameters<ZipFile["openReadStreamPromise"]>[0],
  to: HeldFile,
  budget: Budget,
): Promise<HeldFile> {
  try {
    const stream: Readable = await zip.openReadStreamPromise(entry);
    for await (const chunk of stream) {
      budget.bytes += (chunk as Buffer).length;
      budget.packages.budget.unpack((chunk as Buffer).length);
      if (budget.bytes > MAX_UNPACKED_BYTES) throw new Error(`it unpacks to more than ${MAX_UNPACKED_BYTES} bytes`);
      to.write(chunk as Buffer);
    }
    return to;
  } catch (error) {
    to.release();
    throw error;
  }
}

function addPom(poms: Map<string, Coordinates>, name: string, text: string): void {
  const isProperties = name.endsWith(".properties");
  const found = isProperties ? fromProperties(text) : fromPom(text);
  if (found === undefined) return;
  const key = `${found.namespace}:${found.name}`;
  // The properties have what was built; the document may have what was written.
  if (isProperties || !poms.has(key)) poms.set(key, found);
}

/** What the archive is and what was packed into it. What is not identified has no group, or no version either. */
function packagesOf(path: string, contents: Contents): FoundPackage[] {
  const { manifest, classes, isAnyArchive } = contents;
  const poms = [...contents.poms.values()];
  const stem = stemOf(path);
  const packed = poms.map((each): FoundPackage => ({ type: "maven", ...each, version: builtVersion(stem, each) }));
  if (isAnyOwn(poms, path, manifest)) return packed;
  const names = namesIn(manifest);
  const licence = licenceIn(manifest);
  const [version = ""] = versionsIn(manifest);
  if (isOfJava(manifest)) return [...packed, { type: "generic", name: stem, version }];
  const stated = statedCoordinates(path, manifest, classes);
  if (stated !== undefined) return [...packed, { type: "maven", ...stated, licence }];
  // What has no code and says nothing of itself only holds others.
  if (classes.classes === 0 && (isAnyArchive || (names.length === 0 && version === ""))) return packed;
  const clues = cluesOf(path, manifest, classes);
  const inFile = clues.candidates.find(([artifact]) => stem.startsWith(`${artifact}-`));
  const name = inFile?.[0] ?? names[0] ?? stem;
  return [...packed, { type: "generic", name, version: inFile?.[1] ?? version, licence, clues: JSON.stringify(clues) }];
}

/** With the sum of the archive if that is not identified. */
function withSum(found: FoundPackage, file: HeldFile): FoundPackage {
  if (found.clues === undefined) return found;
  const clues = JSON.parse(found.clues) as ArchiveClues;
  return { ...found, clues: JSON.stringify({ ...clues, sha1: sha1Of(file) }) };
}

/** The SHA-1 of the whole file, by which lists of artifacts name them. */
function sha1Of(file: HeldFile): string {
  const hash = createHash("sha1");
  for (let at = 0; at < file.size; at += HASHED_BYTES) hash.update(file.bytes(at, HASHED_BYTES));
  return hash.digest("hex");
}
