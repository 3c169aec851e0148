import type { Readable } from "node:stream";
import { fromBufferPromise, openPromise, type ZipFile } from "yauzl";
import { type HeldFile, TempFolderError } from "../held-file.ts";
import type { FoundPackages } from "../budget.ts";
import { CatalogError, type FileReader, type FoundPackage, type Reading } from "../types.ts";
import { linesOf } from "./lines.ts";

const ARCHIVE = /\.(?:jar|war|ear|sar|par|rar|jpi|hpi|nar|kar)$/i;
const PROPERTIES = /^META-INF\/maven\/[^/]+\/[^/]+\/pom\.properties$/;
/** An archive inside of an archive inside of an archive, that deep. */
const MAX_DEPTH = 8;
const MAX_ENTRIES = 200_000;
/** Together, of all archives inside of one and all that is read of them. */
const MAX_UNPACKED_BYTES = 4 * 1024 ** 3;
const MAX_TEXT_BYTES = 1024 * 1024;

/** What was read of one file and what is in it; both count for the image, too. */
interface Budget {
  entries: number;
  bytes: number;
  packages: FoundPackages;
}

/** Java archives, and those inside of them. Source: the JAR file specification, Maven Archiver. */
export const javaReader: FileReader = {
  name: "java",
  maxBytes: 2 * 1024 ** 3,
  wants: (path) => ARCHIVE.test(path),
  accepts: (head) => head.subarray(0, 2).equals(Buffer.from("PK")),
  async read(file, packages) {
    const reading: Reading = {};
    await readArchive(file, "", 0, { entries: 0, bytes: 0, packages }, reading);
    return reading;
  },
};

/** Adds what the archive holds. `inner`: its path in the outermost, empty for that itself. */
async function readArchive(
  file: HeldFile,
  inner: string,
  depth: number,
  budget: Budget,
  reading: Reading,
): Promise<void> {
  let zip: ZipFile | undefined;
  let manifest = "";
  let isAny = false;
  let tooLarge: string | undefined;
  const addAll = (found: readonly FoundPackage[]): void => {
    isAny ||= found.length > 0;
    for (const each of found) budget.packages.add(inner === "" ? each : { ...each, inner });
  };
  try {
    const options = { lazyEntries: true, autoClose: false };
    zip = await (file.size <= 8 * 1024 * 1024
      ? fromBufferPromise(file.whole(), options)
      : openPromise(file.path(), options));
    for await (const entry of zip.eachEntry()) {
      budget.entries += 1;
      budget.packages.budget.enter();
      if (budget.entries > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`);
      const name = entry.fileName;
      const isText = name === "META-INF/MANIFEST.MF" || PROPERTIES.test(name);
      if (!isText && !ARCHIVE.test(name)) continue;
      if (isText && entry.uncompressedSize > MAX_TEXT_BYTES) {
        tooLarge = name;
        continue;
      }
      if (!isText && depth >= MAX_DEPTH) throw new Error(`archives lie in it more than ${MAX_DEPTH} deep`);
      const content = await extract(zip, entry, file.another(), budget);
      try {
        if (!isText) await readArchive(content, inner === "" ? name : `${inner}!/${name}`, depth + 1, budget, reading);
        else if (name === "META-INF/MANIFEST.MF") manifest = content.text();
        else addAll(fromProperties(content.text()));
      } finally {
        content.release();
      }
    }
    if (!isAny) addAll(fromManifest(manifest));
    if (!isAny && tooLarge !== undefined) throw new Error(`${tooLarge.slice(0, 100)} is too large`);
  } catch (error) {
    if (error instanceof CatalogError || error instanceof TempFolderError) throw error;
    if (!isAny) addAll(fromManifest(manifest));
    const place = inner === "" ? "" : `${inner}: `;
    reading.unread ??= `${place.slice(-200)}${(error as Error).message}`.slice(0, 300);
  } finally {
    zip?.close();
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

function fromProperties(text: string): FoundPackage[] {
  const values = new Map<string, string>();
  for (const line of linesOf(text)) {
    const [, key, value] = /^\s*(groupId|artifactId|version)\s*[=:]\s*(\S+)\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) values.set(key, value);
  }
  const [namespace, name, version] = [values.get("groupId"), values.get("artifactId"), values.get("version")];
  if (!namespace || !name || !version || `${namespace}${name}${version}`.includes("${")) return [];
  return [{ type: "maven", namespace, name, version }];
}

/** What the manifest names is a Maven artifact only when it states the group; otherwise nothing says which one. */
function fromManifest(text: string): FoundPackage[] {
  // A line that begins with a blank goes on with the one before it. The main section ends with an empty line.
  const main = text.replaceAll("\r", "").split("\n\n")[0]?.replaceAll("\n ", "") ?? "";
  const value = (...keys: string[]): string => {
    for (const key of keys) {
      const found = new RegExp(`^${key}: *(.+)$`, "im").exec(main)?.[1]?.trim();
      if (found) return found;
    }
    return "";
  };
  const name = value("Implementation-Title", "Bundle-SymbolicName", "Automatic-Module-Name").split(";")[0] ?? "";
  const version = value("Implementation-Version", "Bundle-Version");
  const namespace = value("Implementation-Vendor-Id");
  const licence = value("Bundle-License");
  if (!/^[\w.-]+$/.test(name) || !/^[\w.+-]+$/.test(version)) return [];
  return [
    /^[\w.-]+$/.test(namespace)
      ? { type: "maven", namespace, name, version, licence }
      : { type: "generic", name, version, licence },
  ];
}
