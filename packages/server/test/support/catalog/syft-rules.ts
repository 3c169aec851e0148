import { fromBufferPromise } from "yauzl";
import { type Manifest, manifestOf } from "../../../../security/src/security/catalog/readers/java-manifest.ts";
import { fromPom, fromProperties } from "../../../../security/src/security/catalog/readers/java-pom.ts";

/** The fields of a manifest that may have the group, in the order in which they are asked. */
const GROUP_FIELDS = [
  "group-id",
  "bundle-symbolicname",
  "extension-name",
  "specification-vendor",
  "implementation-vendor",
  "implementation-vendor-id",
  "implementation-title",
  "bundle-activator",
  "automatic-module-name",
  "main-class",
  "package",
];
const VERSION_FIELDS = ["implementation-version", "specification-version", "plugin-version", "bundle-version"];

/**
 * `group:artifact:version` of an archive by the rules that Syft documents: where it has the properties, or else the
 * document, of one project of Maven, that; otherwise artifact and version by the name of the file, the version else by
 * the manifest, and the group by a list of names of artifacts, else by the first field of the manifest that begins like
 * a domain, else the artifact's own name. `groups`: that list. Its rules for names that no archive of Maven
 * has are left out. Source: Syft 1.44.0, java/archive_parser.go, package_url.go and cpegenerate/java.go.
 */
export async function syftsCoordinates(
  archive: Buffer,
  file: string,
  groups: ReadonlyMap<string, string>,
): Promise<string> {
  const { manifest, properties, poms } = await textsOf(archive);
  const [only] = properties.length > 0 ? properties : poms;
  const isOne = (properties.length > 0 ? properties : poms).length === 1;
  const stem = file.slice(file.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
  const [, inFile = stem, version = ""] =
    /^([A-Za-z][\w.]*(?:-[A-Za-z][\w.]*)*)-(\d.*)$/.exec(stem.slice(0, 200)) ?? [];
  const own = isOne ? only : [...properties, ...poms].find(({ name }) => name === inFile);
  if (own !== undefined) return `${own.namespace}:${own.name}:${own.version}`;
  const stated = VERSION_FIELDS.map((field) => manifest.get(field) ?? "").find((each) => each !== "");
  return `${groups.get(inFile) ?? groupIn(manifest) ?? inFile}:${inFile}:${version || (stated ?? "")}`;
}

function groupIn(manifest: Manifest): string | undefined {
  const values = GROUP_FIELDS.map((field) => manifest.get(field)?.split(";", 1)[0]?.trim() ?? "");
  return values.find((value) => /^(?:com|org|net|io|be)\.[\w.-]+$/.test(value));
}

interface Texts {
  manifest: Manifest;
  properties: { namespace: string; name: string; version: string }[];
  poms: { namespace: string; name: string; version: string }[];
}

async function textsOf(archive: Buffer): Promise<Texts> {
  const zip = await fromBufferPromise(archive, { lazyEntries: true });
  const texts: Texts = { manifest: new Map(), properties: [], poms: [] };
  for await (const entry of zip.eachEntry()) {
    const isManifest = entry.fileName === "META-INF/MANIFEST.MF";
    const [, kind] = /^META-INF\/maven\/[^/]+\/[^/]+\/pom\.(properties|xml)$/.exec(entry.fileName) ?? [];
    if (!isManifest && kind === undefined) continue;
    const parts: Buffer[] = [];
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const found = kind === undefined ? undefined : kind === "xml" ? fromPom(text) : fromProperties(text);
    if (isManifest) texts.manifest = manifestOf(text);
    else if (found !== undefined) texts[kind === "xml" ? "poms" : "properties"].push(found);
  }
  return texts;
}
