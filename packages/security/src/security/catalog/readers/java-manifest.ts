/** What the main section of a manifest says, by its fields in lower case; the first of a field counts. */
export type Manifest = ReadonlyMap<string, string>;

/** The main section of a manifest. Source: the JAR file specification. */
export function manifestOf(text: string): Manifest {
  // A line that begins with a blank goes on with the one before it. The main section ends with an empty line.
  const main = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n").split("\n\n")[0]?.replaceAll("\n ", "") ?? "";
  const values = new Map<string, string>();
  for (const line of main.split("\n")) {
    const cut = line.indexOf(":");
    const key = line.slice(0, Math.max(0, cut)).toLowerCase();
    const value = line.slice(cut + 1).trim();
    if (cut > 0 && value !== "" && !values.has(key)) values.set(key, value);
  }
  return values;
}

/** Fields that may name the archive, the likeliest first. */
const NAMES = [
  "bundle-symbolicname",
  "automatic-module-name",
  "implementation-vendor-id",
  "implementation-title",
  "specification-title",
  "extension-name",
  "bundle-name",
];
const MAX_NAME = 256;

/**
 * What the fields say that is a name, such as `com.h2database` or `spring-core`, each once, in the order of the fields;
 * titles in words are none.
 */
export function namesIn(manifest: Manifest): string[] {
  const names = NAMES.map((field) => nameIn(manifest, field)).filter((name) => name !== "");
  return [...new Set(names)];
}

/** What a field says if it is a name, and empty otherwise. */
export function nameIn(manifest: Manifest, field: string): string {
  const value = manifest.get(field)?.split(";", 1)[0]?.trim() ?? "";
  return value.length <= MAX_NAME && /^[\w.-]+$/.test(value) ? value : "";
}

/** The versions that the manifest states of the archive itself, not of what it implements. */
export function versionsIn(manifest: Manifest): string[] {
  const versions = ["implementation-version", "bundle-version"].map((field) => manifest.get(field) ?? "");
  return [...new Set(versions.filter((version) => version.length <= MAX_NAME && /^[\w.+-]+$/.test(version)))];
}

/** The license that a bundle states; empty where it does not. */
export function licenceIn(manifest: Manifest): string {
  return manifest.get("bundle-license") ?? "";
}

/** Whether the archive is a part of Java itself, which has no coordinates. */
export function isOfJava(manifest: Manifest): boolean {
  return (
    manifest.get("implementation-title") === "Java Runtime Environment" &&
    manifest.get("specification-title") === "Java Platform API Specification"
  );
}
