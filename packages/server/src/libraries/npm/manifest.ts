/** What a version's package.json says, as its publisher sent it. */
export type Manifest = Record<string, unknown>;

/** The fields of a version that clients need to install it. Source: npm/registry, package-metadata.md, "abbreviated". */
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

/** What npm keeps of a package as a whole: its tags, and the readme of the latest version. */
export interface NpmState {
  tags: Record<string, string>;
  readme?: string;
}

/** The state of an artifact's column. */
export function stateOf(text: string): NpmState {
  const parsed = JSON.parse(text) as Partial<NpmState>;
  return { ...parsed, tags: parsed.tags ?? {} };
}
