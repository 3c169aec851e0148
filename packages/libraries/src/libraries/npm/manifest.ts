/** What a version's package.json says, as its publisher sent it. */
export type Manifest = Record<string, unknown>;

/** The largest manifest of one version, as JSON without its readme, and the most values in it. */
export const MAX_MANIFEST_BYTES = 1024 * 1024;
const MAX_MANIFEST_VALUES = 20_000;

/** Whether a manifest, as JSON, is larger than any that is needed. */
export function isTooLarge(json: string): boolean {
  if (json.length > MAX_MANIFEST_BYTES) return true;
  // A value takes two characters at least, with the comma behind it.
  if (json.length < 2 * MAX_MANIFEST_VALUES) return false;
  let values = 0;
  let isQuoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const unit = json.charCodeAt(at);
    if (unit === 0x22) isQuoted = !isQuoted;
    else if (isQuoted && unit === 0x5c) at += 1;
    else if (!isQuoted && (unit === 0x2c || unit === 0x5b || unit === 0x7b)) values += 1;
  }
  return values > MAX_MANIFEST_VALUES;
}

/**
 * The fields of a version that clients need to install it. Source: npm/registry, package-metadata.md, "abbreviated".
 */
const ABBREVIATED = [
  "name",
  "version",
  "deprecated",
  "dependencies",
  "optionalDependencies",
  "devDependencies",
  "bundleDependencies",
  "bundledDependencies",
  "peerDependencies",
  "peerDependenciesMeta",
  "acceptDependencies",
  "bin",
  "directories",
  "dist",
  "engines",
  "cpu",
  "os",
  "libc",
  "funding",
  "_hasShrinkwrap",
  "hasInstallScript",
] as const;
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];

/** The fields that an installation needs of a version, and whether it runs scripts. */
export function abbreviated(manifest: Manifest): Manifest {
  const found: Manifest = {};
  for (const name of ABBREVIATED) if (manifest[name] !== undefined) found[name] = manifest[name];
  const { scripts } = manifest;
  if (isRecord(scripts) && INSTALL_SCRIPTS.some((name) => typeof scripts[name] === "string"))
    found["hasInstallScript"] = true;
  return found;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** So many characters of a readme are kept. */
export const MAX_README_CHARS = 65_536;

/** What npm keeps of a package as a whole: its tags, and the readme of the latest version. */
interface NpmState {
  tags: Record<string, string>;
  readme?: string;
}

/** The state of an artifact's column. */
export function stateOf(text: string): NpmState {
  const parsed = JSON.parse(text) as Partial<NpmState>;
  return { ...parsed, tags: parsed.tags ?? {} };
}
